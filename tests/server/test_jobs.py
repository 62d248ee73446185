"""``/jobs`` and ``/replay``: follow, list, cancel and replay runs."""

import asyncio
import json

import pytest
from bridge_story import ANSWER, MORE, PASSAGES, plan
from dbos import DBOS
from http_client import wait_until

from suffice.jobs.executor import ActiveRun
from suffice.prompts.planning import PlannedQuery
from suffice.testing import FixtureSearch, ScriptedModel


class SlowModel(ScriptedModel):
    """Answers after a while, so that a test can act during the run."""

    async def __call__(self, prompt):
        await asyncio.sleep(0.2)
        return await super().__call__(prompt)


def make_slow_model(**script):
    return SlowModel({"plan": [plan()], "reflect": [MORE], "draft": [ANSWER], **script})


def test_stream_continues_after_the_last_event(service):
    job = service.run(**{"async": True}).json()["job_id"]
    events = service.read_events(f"/jobs/{job}/events")
    rest = service.read_events(f"/jobs/{job}/events", headers={"Last-Event-ID": events[2][0]})
    assert rest == events[3:]


def test_stream_follows_a_running_run(service):
    service.overrides.model, service.overrides.search = make_slow_model(), FixtureSearch(default=PASSAGES)
    job = service.run(**{"async": True}).json()["job_id"]
    events = service.read_events(f"/jobs/{job}/events")
    assert events[-2][1] == "report"


def test_cancelled_run_stops_spending_and_reports_what_it_found(service):
    def ask_more(prompt):
        return MORE.__class__(False, 0.1, ("more",), (PlannedQuery(f"q {len(prompt.asked)}"),))

    model = make_slow_model(reflect=[ask_more])
    service.overrides.model, service.overrides.search = model, FixtureSearch(default=PASSAGES)
    options = {"stop": "fixed(40)", "max_rounds": 40, "max_queries": 100}
    job = service.run(options=options, **{"async": True}).json()["job_id"]
    wait_until(lambda: len(model.prompts) >= 3, "the run makes no progress")
    assert service.client.delete(f"/jobs/{job}").status_code == 200
    calls = len(model.prompts)
    ended = service.wait_for_job(job)
    assert ended["status"] == "cancelled"
    assert ended["report"]["stop"]["reason"] == "cancelled"
    assert ended["progress"]["rounds"] >= 1
    assert len(model.prompts) <= calls + 1
    assert service.client.delete(f"/jobs/{job}").json()["status"] == "cancelled"


def test_pages_list_every_run_once(service):
    jobs = [service.run(f"Who decoded dance {n}?", **{"async": True}).json()["job_id"] for n in range(3)]
    found, cursor = [], None
    for _ in range(50):
        page = service.client.get("/jobs", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        found += [job["job_id"] for job in page["jobs"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert cursor is None
    assert found[:3] == jobs[::-1]
    assert len(found) == len(set(found))


def test_replay_says_where_another_gate_would_have_stopped(service):
    run = service.run(options={"alpha": 1, "stop": "fixed(2)"}).json()["run"]
    response = service.client.post("/replay", json={"run": run, "stop": ["fixed(1)", "fixed(9)"]})
    assert response.status_code == 200
    first, second = response.json()["gates"]
    assert (first["fired"], first["round"]) == (True, 1)
    assert second["fired"] is False


def test_purged_run_is_deleted_with_its_events_and_journal(service):
    job = service.run().headers["x-run"]
    response = service.client.delete(f"/jobs/{job}?purge")
    assert response.status_code == 200
    assert response.json()["status"] == "done"
    assert service.client.get(f"/jobs/{job}").status_code == 404
    assert service.worker.store.read_events(job, 0) == []
    assert DBOS.get_workflow_status(job) is None


def test_export_has_every_run_with_its_events(service):
    job = service.run().headers["x-run"]
    rows = [json.loads(line) for line in service.client.get("/export").text.splitlines()]
    [row] = [row for row in rows if row["job_id"] == job]
    assert row["report"]["status"] == "answered"
    assert row["request"]["task"] == "Who decoded the waggle dance?"
    assert {"started", "round", "report"} <= {event["type"] for event in row["events"]}


@pytest.mark.attack("cancelled runs")
def test_run_cancelled_before_its_first_step_ends(service):
    """The task is cancelled in the moment of its creation, before any of its code has run."""
    executor = service.worker._executor
    started = executor.store.mark_started

    def cancel_at_once(run_id):
        stored = started(run_id)
        executor.active.setdefault(run_id, ActiveRun()).interrupt()
        return stored

    executor.store.mark_started = cancel_at_once
    try:
        job = service.run(**{"async": True}).json()["job_id"]
        assert service.wait_for_job(job)["status"] == "cancelled"
    finally:
        executor.store.mark_started = started


@pytest.mark.attack("odd requests")
@pytest.mark.parametrize("run", ["%00", "a%00b", "%ED%A0%80", "..%2f..", "%F0%9F%90%9D", "'%3B--", "x" * 65])
def test_odd_run_ids_are_not_found(service, run):
    assert service.client.get(f"/jobs/{run}").status_code in (404, 422)


@pytest.mark.attack("odd requests")
@pytest.mark.parametrize("cursor", ["1_\x00", "nan_a", "1e400_a", "_a", "1_", "1", "x"])
def test_odd_cursors_are_refused(service, cursor):
    assert service.client.get("/jobs", params={"cursor": cursor}).status_code == 422


@pytest.mark.attack("odd requests")
@pytest.mark.parametrize("run", ["\x00", "\ud800", "a"])
def test_odd_run_ids_are_not_replayed(service, run):
    replay = json.dumps({"run": run, "stop": ["fixed(1)"]})
    response = service.client.post("/replay", content=replay, headers={"content-type": "application/json"})
    assert response.status_code in (404, 422)
