"""API keys: who may use the service, how much, and that clients do not see each other's runs."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from http_client import run_service

from suffice.jobs.api_keys import Quota
from suffice.jobs.requests import parse_request


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    with run_service(tmp_path_factory.mktemp("closed")) as service:
        service.worker.api_keys.create("operator", Quota())
        yield service


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture
def ann(closed):
    return bearer(closed.worker.api_keys.create("ann", Quota())[1])


@pytest.fixture
def ben(closed):
    return bearer(closed.worker.api_keys.create("ben", Quota(active=5, per_minute=2, max_cost=0.5))[1])


BODY = {"question": "Who decoded the waggle dance?", "options": {"alpha": 1}, "async": True}


@pytest.mark.parametrize(
    "headers", [{}, bearer("nonsense"), bearer("suffice_00000000_x"), {"Authorization": "Basic YTpi"}]
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/run"), ("POST", "/search"), ("GET", "/jobs"), ("GET", "/jobs/x/events"), ("GET", "/metrics")],
)
def test_a_key_is_required(closed, headers, method, path):
    response = closed.client.request(method, path, headers=headers, json=BODY if method == "POST" else None)
    assert response.status_code == 401
    assert response.json()["error"]["type"] == "unauthorized"
    assert response.headers["www-authenticate"] == "Bearer"


def test_health_needs_no_key(closed):
    assert closed.client.get("/healthz").status_code == 200
    assert closed.client.get("/readyz").status_code == 200


def test_clients_see_only_their_own_runs(closed, ann, ben):
    job = closed.client.post("/run", json=BODY, headers=ann).json()["job_id"]
    assert closed.client.get(f"/jobs/{job}", headers=ann).status_code == 200
    for method, path in (
        ("GET", f"/jobs/{job}"),
        ("GET", f"/jobs/{job}/events"),
        ("GET", f"/jobs/{job}/report.html"),
        ("DELETE", f"/jobs/{job}"),
    ):
        assert closed.client.request(method, path, headers=ben).status_code == 404
    assert closed.client.post("/replay", json={"run": job, "stop": ["worth"]}, headers=ben).status_code == 404
    assert closed.client.get("/jobs", headers=ben).json()["jobs"] == []


def test_idempotency_keys_belong_to_a_client(closed, ann, ben):
    first = closed.client.post("/run", json=BODY, headers={**ann, "Idempotency-Key": "k"})
    other = closed.client.post("/run", json=BODY, headers={**ben, "Idempotency-Key": "k"})
    assert first.json()["job_id"] != other.json()["job_id"]


def test_concurrent_requests_do_not_exceed_the_quota(closed):
    carl = bearer(closed.worker.api_keys.create("carl", Quota(active=50, per_minute=3))[1])
    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(lambda _: closed.client.post("/run", json=BODY, headers=carl).status_code, range(20)))
    assert sorted(statuses) == [202] * 3 + [429] * 17


def test_runs_per_minute_are_limited(closed, ben):
    responses = [closed.client.post("/run", json=BODY, headers=ben) for _ in range(3)]
    assert [response.status_code for response in responses] == [202, 202, 429]
    assert responses[-1].json()["error"]["retryable"] is True
    assert int(responses[-1].headers["retry-after"]) > 0


def test_cost_of_a_run_is_limited(closed, ben):
    job = closed.client.post("/run", json={**BODY, "options": {"max_cost_usd": 100}}, headers=ben).json()["job_id"]
    assert parse_request(closed.worker.store.get(job).request).options.max_cost_usd == 0.5


def test_revoked_key_is_refused_at_once(closed):
    key, secret = closed.worker.api_keys.create("carl", Quota())
    assert closed.client.get("/jobs", headers=bearer(secret)).status_code == 200
    closed.worker.api_keys.revoke(key.id)
    assert closed.client.get("/jobs", headers=bearer(secret)).status_code == 401


def test_quota_is_read_back(closed):
    quota = Quota(active=5, per_minute=2, max_cost=0.5)
    key, _ = closed.worker.api_keys.create("eve", quota)
    assert key in closed.worker.api_keys.list_keys()


def test_no_secret_is_stored(closed):
    key, secret = closed.worker.api_keys.create("dora", Quota())
    folder = Path(closed.worker.store.engine.url.database).parent
    stored = b"".join(path.read_bytes() for path in folder.glob("service.sqlite*"))
    assert secret.encode() not in stored
    assert secret.partition(f"_{key.id}_")[2].encode() not in stored  # It may have underscores of its own.


@pytest.mark.attack("keys and quotas")
def test_searches_per_minute_are_limited(closed):
    dora = bearer(closed.worker.api_keys.create("dora", Quota(searches_per_minute=2))[1])
    body = {"question": "waggle dance", "options": {"alpha": 1}}
    responses = [closed.client.post("/search", json=body, headers=dora) for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert int(responses[-1].headers["retry-after"]) > 0


@pytest.mark.attack("keys and quotas")
def test_export_and_purge_are_for_ones_own_runs(closed, ann, ben):
    job = closed.client.post("/run", json=BODY, headers=ann).json()["job_id"]
    assert job in closed.client.get("/export", headers=ann).text
    assert job not in closed.client.get("/export", headers=ben).text
    assert closed.client.get("/export").status_code == 401
    assert closed.client.delete(f"/jobs/{job}?purge", headers=ben).status_code == 404


def test_log_and_memory_belong_to_a_key(closed, ann, ben):
    ask = {"task": "Who decoded the waggle dance?"}
    first = closed.client.post("/run", json=ask, headers=ann).json()
    log = [json.loads(line) for line in closed.client.get("/runs.jsonl", headers=ann).text.splitlines()]
    assert log[-1]["run"] == first["run"]
    assert log[-1]["producer"] == "extractive"
    assert {"stop", "queries", "tokens_by_stage", "durations", "evaluator"} <= log[-1].keys()
    assert first["run"] not in closed.client.get("/runs.jsonl", headers=ben).text
    again = closed.client.post("/run", json=ask, headers=ann).json()
    assert again["metadata"]["recalled"] == [first["task"]]
    recall = {"task": f"/recall {first['task']}"}
    assert first["run"] in closed.client.post("/run", json=recall, headers=ann).json()["final_answer"]
    assert closed.client.post("/run", json=ask, headers=ben).json()["metadata"]["recalled"] == []
    for run in (first, again):
        assert closed.client.delete(f"/jobs/{run['run']}?purge", headers=ann).status_code == 200
        assert run["run"] not in closed.client.get("/runs.jsonl", headers=ann).text
