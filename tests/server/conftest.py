from collections.abc import Iterator

import pytest
from http_client import RunningService, run_service


@pytest.fixture(scope="module")
def started_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with run_service(tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.fixture
def service(started_service: RunningService) -> RunningService:
    started_service.overrides.model = started_service.overrides.search = None
    return started_service
