from collections.abc import Iterator

import pytest
from http_client import Running, running


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.fixture
def service(started: Running) -> Running:
    started.stage.model = started.stage.search = None
    return started
