"""Invalid, oversized and misdirected requests get one kind of error body; every response has security headers."""

import json

import pytest

INVALID = {
    "no question": ({}, "question is missing"),
    "two questions": ({"question": "x", "task": "x"}, "not both"),
    "an empty question": ({"question": ""}, "the question is empty"),
    "an empty task": ({"task": ""}, "the question is empty"),
    "a list": ([], "JSON object"),
    "no words": ({"question": "?!"}, "empty"),
    "too long a question": ({"question": "x " * 4_000}, "question"),
    "an unknown key": ({"question": "x", "bogus": 1}, "bogus"),
    "an unknown option with known ones": ({"question": "x", "options": {"rounds": 1}}, "max_rounds"),
    "an unknown option": ({"question": "x", "options": {"docs": "/etc"}}, "options.docs"),
    "a limit of zero": ({"question": "x", "options": {"max_rounds": 0}}, "max_rounds"),
    "a limit of zero under an alias": ({"question": "x", "options": {"max_iters": 0}}, "max_iters"),
    "too high a limit": ({"question": "x", "options": {"max_rounds": 10**9}}, "max_rounds"),
    "an unknown tier": ({"question": "x", "complexity_tier": "huge"}, "complexity_tier"),
    "an unknown strategy": ({"question": "x", "options": {"strategy": "nope"}}, "nope"),
    "an unknown skill": ({"question": "/depe x"}, "/deep"),
    "an unknown memory": ({"question": "x", "options": {"memory": "nope"}}, "nope"),
    "an invalid gate": ({"question": "x", "options": {"stop": "worth |"}}, "worth |"),
    "a gate that reads a file": ({"question": "x", "options": {"stop": "worth(file='/etc/passwd')"}}, "file"),
    "a gate that reads a file by position": (
        {"question": "x", "options": {"stop": "worth(0.1, '/etc/passwd')"}},
        "file",
    ),
    "a model that is not offered": ({"question": "x", "options": {"model": "openai:gpt-4"}}, "openai:gpt-4"),
    "an unknown collection": ({"question": "x", "options": {"collections": ["secret"]}}, "secret"),
    "the web without permission": ({"question": "x", "options": {"web": True}}, "options.web"),
    "stream and async": ({"question": "x", "stream": True, "async": True}, "stream"),
}


@pytest.mark.parametrize(("body", "named"), INVALID.values(), ids=INVALID)
def test_invalid_request_names_what_is_wrong(service, body, named):
    response = service.client.post("/run", json=body)
    assert response.status_code == 422, response.text
    error = response.json()["error"]
    assert error["type"] == "invalid_request"
    assert named in error["message"]
    assert error["retryable"] is False


def test_an_unknown_key_is_named_with_those_that_are_wanted(service):
    for path, body in (("/search", {"q": "x"}), ("/replay", {"id": "x"})):
        message = service.client.post(path, json=body).json()["error"]["message"]
        wanted = {"/search": "question, task, options", "/replay": "run, stop, chart"}[path]
        assert message == f"{next(iter(body))}: this key is unknown; the keys are {wanted}"


@pytest.mark.parametrize(
    ("method", "path", "status", "type"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/run", 405, "method_not_allowed"),
        ("GET", "/jobs/nope", 404, "not_found"),
        ("DELETE", "/jobs/nope", 404, "not_found"),
        ("GET", "/jobs/nope/events", 404, "not_found"),
        ("GET", "/jobs/nope/report.html", 404, "not_found"),
        ("GET", "/jobs?cursor=nonsense", 422, "invalid_request"),
        ("GET", "/jobs?limit=0", 422, "invalid_request"),
    ],
)
def test_every_error_has_the_same_body(service, method, path, status, type):
    response = service.client.request(method, path)
    assert response.status_code == status
    assert response.json()["error"]["type"] == type


@pytest.mark.parametrize(
    ("content", "headers", "named"),
    [
        (b"{", {"content-type": "application/json"}, "not valid JSON"),
        (b'{"question": x}', {"content-type": "application/json"}, "character 14"),
        (b'{"question": "x"}', {}, "Content-Type: application/json"),
        (b'{"question": "x"}', {"content-type": "text/plain"}, "Content-Type: application/json"),
        (b"", {"content-type": "application/json"}, "body is missing"),
    ],
)
def test_body_that_is_not_json(service, content, headers, named):
    response = service.client.post("/run", content=content, headers=headers)
    assert response.status_code == 422
    assert named in response.json()["error"]["message"]


def test_oversized_body(service):
    response = service.client.post("/run", content=b"x" * 300_000, headers={"content-type": "application/json"})
    assert response.status_code == 413
    assert response.json()["error"]["type"] == "too_large"


def test_oversized_body_without_a_content_length(service):
    content = iter([b"x" * 100_000] * 4)
    response = service.client.post("/run", content=content, headers={"content-type": "application/json"})
    assert response.status_code == 413


def test_health_metrics_and_openapi(service):
    assert service.client.get("/healthz").json() == {"status": "ok"}
    assert service.client.get("/readyz").json() == {"status": "ok"}
    assert 'suffice_runs{status="done"}' in service.client.get("/metrics").text
    paths = service.client.get("/openapi.json").json()["paths"]
    assert {"/run", "/run-simple", "/search", "/jobs", "/jobs/{job}", "/jobs/{job}/events", "/replay"} <= set(paths)


def test_responses_have_security_headers(service):
    headers = service.client.get("/healthz", headers={"Origin": "https://elsewhere.example"}).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_open_service_answers_only_to_names_of_this_machine(service):
    response = service.client.get("/healthz", headers={"Host": "evil.example"})
    assert response.status_code == 421


def test_the_host_header_decides_no_redirect(service):
    response = service.client.get("/jobs/", follow_redirects=False)
    assert response.status_code == 404
    assert "location" not in response.headers


@pytest.mark.attack("proxied requests without keys")
@pytest.mark.parametrize(
    "header",
    ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via", "CF-Connecting-IP"],
)
def test_open_service_refuses_what_a_proxy_forwards(service, header):
    response = service.client.get("/jobs", headers={header: "for=192.0.2.1"})
    assert response.status_code == 403
    assert "suffice keys create" in response.json()["error"]["message"]


CHAT = {"model": "suffice", "messages": [{"role": "user", "content": "Who decoded the waggle dance?"}]}


@pytest.mark.attack("odd requests")
@pytest.mark.parametrize(
    "change",
    [
        {"model": ""},
        {"model": "suffice:"},
        {"model": "suffice:" + "x" * 190},
        {"model": "suffice:a b\n"},
        {"model": "suffice:\x00"},
        {"model": "suffice:\ud800"},
        {"model": "🐝"},
        {"messages": [{"role": "user", "content": "y" * 100_000}]},
        {"messages": [{"role": "user", "content": "\x00"}]},
        {"messages": [{"role": "user", "content": "\ud800 who?"}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
        {"messages": [{"role": "user", "content": "hm?"}] * 501},
        {"messages": [{"role": "user"}]},
        {"stream": True, "messages": [{"role": "user", "content": "z" * 30_000}]},
        {"stream_options": {"include_usage": "perhaps"}},
        {"n": 0},
    ],
    ids=lambda change: json.dumps(change)[:40],
)
def test_odd_chat_requests_never_fail_inside(service, change):
    text = json.dumps({**CHAT, **change})
    response = service.client.post("/v1/chat/completions", content=text, headers={"content-type": "application/json"})
    assert response.status_code in (200, 422), response.text
    if response.status_code == 422:
        assert set(response.json()["error"]) == {"type", "message", "retryable"}
