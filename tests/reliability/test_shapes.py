"""A few requests of every shape; ``make reliability`` sends many more."""

import pytest
from bridge_story import PASSAGES
from http_client import running

from reliability import shapes
from suffice.server import connection, guard
from suffice.testing import WordSearch


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("shapes")) as service:
        service.stage.search = WordSearch(PASSAGES)
        yield service


def test_the_description_is_kept(service):
    checked = shapes.described(service, 2, phases="fuzzing")
    assert checked.returncode == 0, checked.stdout[-3000:] + checked.stderr[-1000:]


def test_no_broken_request_breaks_the_service(service):
    assert shapes.fuzzed(service, 40) == []


def test_who_dawdles_is_cut_off(service, monkeypatch):
    monkeypatch.setattr(connection, "HEAD_TIMEOUT", 0.3)
    monkeypatch.setattr(guard, "BODY_TIMEOUT", 0.3)
    assert shapes.slow_head(service) > 0.25
    assert shapes.slow_body(service) > 0.25


def test_a_flood_is_not_swallowed(service):
    assert shapes.oversize(service) < 20_000_000
