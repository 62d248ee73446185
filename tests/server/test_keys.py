"""Who may ask: keys, what each allows, and that nobody sees another's runs."""

import pytest
from http_client import running

from suffice.jobs.keys import Quota


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    with running(tmp_path_factory.mktemp("closed"), open=False) as service:
        yield service


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture
def ann(closed):
    return bearer(closed.worker.keys.create("ann", Quota())[1])


@pytest.fixture
def ben(closed):
    return bearer(closed.worker.keys.create("ben", Quota(active=5, per_minute=2, max_cost=0.5))[1])


BODY = {"task": "Who decoded the waggle dance?", "options": {"alpha": 1}, "async": True}


@pytest.mark.parametrize(
    "given", [{}, bearer("nonsense"), bearer("suffice_00000000_x"), {"Authorization": "Basic YTpi"}]
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/run"), ("POST", "/search"), ("GET", "/jobs"), ("GET", "/jobs/x/events"), ("GET", "/metrics")],
)
def test_without_a_key_there_is_nothing(closed, given, method, path):
    answer = closed.get_client.request(method, path, headers=given, json=BODY if method == "POST" else None)
    assert answer.status_code == 401
    assert answer.json()["error"]["type"] == "unauthorized"
    assert answer.headers["www-authenticate"] == "Bearer"


def test_anybody_may_see_that_it_lives(closed):
    assert closed.get_client.get("/healthz").status_code == 200
    assert closed.get_client.get("/readyz").status_code == 200


def test_everybody_has_their_own_runs(closed, ann, ben):
    job = closed.get_client.post("/run", json=BODY, headers=ann).json()["job_id"]
    assert closed.get_client.get(f"/jobs/{job}", headers=ann).status_code == 200
    for method, path in (("GET", f"/jobs/{job}"), ("GET", f"/jobs/{job}/events"), ("DELETE", f"/jobs/{job}")):
        assert closed.get_client.request(method, path, headers=ben).status_code == 404
    assert closed.get_client.post("/replay", json={"run": job, "stop": ["worth"]}, headers=ben).status_code == 404
    assert closed.get_client.get("/jobs", headers=ben).json()["jobs"] == []


def test_the_same_idempotency_key_of_two_people_is_two_runs(closed, ann, ben):
    first = closed.get_client.post("/run", json=BODY, headers={**ann, "Idempotency-Key": "k"})
    other = closed.get_client.post("/run", json=BODY, headers={**ben, "Idempotency-Key": "k"})
    assert first.json()["job_id"] != other.json()["job_id"]


def test_a_key_allows_so_many_runs_a_minute(closed, ben):
    answers = [closed.get_client.post("/run", json=BODY, headers=ben) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert answers[-1].json()["error"]["retryable"] is True
    assert int(answers[-1].headers["retry-after"]) > 0


def test_a_key_bounds_what_a_run_may_cost(closed, ben):
    job = closed.get_client.post("/run", json={**BODY, "options": {"max_cost_usd": 100}}, headers=ben).json()["job_id"]
    assert '"usd": 0.5' in closed.worker.store.run(job).order


def test_a_revoked_key_is_refused_at_once(closed):
    key, secret = closed.worker.keys.create("carl", Quota())
    assert closed.get_client.get("/jobs", headers=bearer(secret)).status_code == 200
    closed.worker.keys.revoke(key.id)
    assert closed.get_client.get("/jobs", headers=bearer(secret)).status_code == 401


def test_no_secret_is_kept(closed, tmp_path):
    _, secret = closed.worker.keys.create("dora", Quota())
    database = closed.worker.store.engine.url.database
    kept = b"".join(path.read_bytes() for path in __import__("pathlib").Path(database).parent.glob("service.sqlite*"))
    assert secret.encode() not in kept
    assert secret.rpartition("_")[2].encode() not in kept
