"""A few unusual requests of each kind; ``make reliability`` sends many more."""

import pytest
from bridge_story import PASSAGES
from http_client import run_service

from reliability import shapes
from suffice.server import connection, middleware
from suffice.testing import WordSearch


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with run_service(tmp_path_factory.mktemp("shapes")) as service:
        service.overrides.search = WordSearch(PASSAGES)
        yield service


def test_responses_match_the_schema(service):
    checked = shapes.run_schemathesis(service, 2, phases="fuzzing")
    assert checked.returncode == 0, checked.stdout[-3000:] + checked.stderr[-1000:]


def test_broken_requests_get_well_formed_errors(service):
    assert shapes.fuzz(service, 40) == []


def test_schema_names_the_response_to_a_body_that_is_not_text(service):
    paths = service.client.get("/openapi.json").json()["paths"]
    for path in [path for path, methods in paths.items() if "post" in methods]:
        response = service.client.post(path, content=b"V\xc4", headers={"content-type": "application/json"})
        assert str(response.status_code) in paths[path]["post"]["responses"], path


@pytest.mark.parametrize("path", ["/run", "/v1/chat/completions"])
def test_schema_names_the_streamed_response(service, path):
    question = "Who built the Meridian bridge?"
    body = {"messages": [{"role": "user", "content": question}]} if "chat" in path else {"question": question}
    with service.client.stream("POST", path, json={**body, "stream": True}) as response:
        media_type = response.headers["content-type"].partition(";")[0]
    paths = service.client.get("/openapi.json").json()["paths"]
    assert media_type in paths[path]["post"]["responses"]["200"]["content"]


def test_slow_clients_are_cut_off(service, monkeypatch):
    monkeypatch.setattr(connection, "HEAD_TIMEOUT", 0.3)
    monkeypatch.setattr(middleware, "BODY_TIMEOUT", 0.3)
    assert shapes.send_slow_head(service) > 0.25
    assert shapes.send_slow_body(service) > 0.25


def test_oversized_body_is_not_read_to_its_end(service):
    assert shapes.send_oversized_body(service) < 20_000_000
