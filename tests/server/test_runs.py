"""Asking for an answer: at once, watched, or later; and everything a request may get wrong."""

import asyncio

import pytest
from bridge_story import ANSWER, MORE, PASSAGES, plan

from suffice.errors import ModelError
from suffice.storage.report_json import loads
from suffice.testing import FixtureSearch, ScriptedModel, make_search_error


class Patient(ScriptedModel):
    """Answers each ask after a while, so that there is time to do something in between."""

    async def __call__(self, prompt):
        await asyncio.sleep(0.2)
        return await super().__call__(prompt)


def story(kind=ScriptedModel, **script):
    return kind({"plan": [plan()], "reflect": [MORE], "draft": [ANSWER], **script})


def test_a_run_answers_with_its_report(service):
    answer = service.run()
    assert answer.status_code == 200
    report = loads(answer.text)
    assert report.status == "answered"
    assert "Frisch" in report.final_answer
    assert answer.headers["x-run"] == report.run
    assert service.job(report.run)["report"] == answer.json()


def test_no_evidence_is_an_answer_too(service):
    answer = service.run("zyx wvu tsr?")
    assert answer.status_code == 200
    assert answer.json()["status"] == "no_evidence"
    assert answer.json()["final_answer"] == ""


def test_a_simple_run_is_only_the_answer(service):
    answer = service.get_client.post(
        "/run-simple", json={"task": "Who designed the Forth Bridge?", "options": {"alpha": 1}}
    )
    assert answer.status_code == 200
    assert set(answer.json()) == set(
        "summary key_findings recommendations risks open_questions sources final_answer raw metadata".split()
    )
    assert "Fowler" in answer.json()["final_answer"]


def test_a_search_finds_passages(service):
    answer = service.get_client.post("/search", json={"task": "waggle dance", "options": {"k": 1, "alpha": 1}})
    assert answer.status_code == 200
    (passage,) = answer.json()["passages"]
    assert "honeybee" in passage["text"]
    assert passage["location"].endswith("bees.txt:1-1")


def test_a_stream_tells_everything_in_order(service):
    body = {"task": "Who decoded the waggle dance?", "options": {"alpha": 1}, "stream": True}
    events = service.events("/run", "POST", json=body)
    kinds = [kind for _, kind, _ in events]
    assert kinds[0] == "started"
    assert kinds[-2:] == ["report", "end"]
    numbers = [int(number) for number, _, _ in events[:-1]]
    assert numbers == sorted(set(numbers))
    assert events[-2][2]["report"]["status"] == "answered"


def test_an_asynchronous_run_is_asked_for_later(service):
    answer = service.run(**{"async": True})
    assert answer.status_code == 202
    job = answer.json()["job_id"]
    assert answer.headers["location"] == f"/jobs/{job}"
    done = service.job(job)
    assert done["status"] == "done"
    assert done["report"]["status"] == "answered"
    assert done["progress"]["rounds"] >= 1
    assert done["error"] is None


def test_a_stream_is_taken_up_behind_the_last_event(service):
    job = service.run(**{"async": True}).json()["job_id"]
    whole = service.events(f"/jobs/{job}/events")
    rest = service.events(f"/jobs/{job}/events", headers={"Last-Event-ID": whole[2][0]})
    assert rest == whole[3:]


def test_a_stream_follows_a_run_that_is_under_way(service):
    service.stage.model, service.stage.search = story(Patient), FixtureSearch(default=PASSAGES)
    job = service.run(**{"async": True}).json()["job_id"]
    events = service.events(f"/jobs/{job}/events")
    assert events[-2][1] == "report"


def test_cancelling_ends_the_spending_and_keeps_what_was_found(service):
    model = story(Patient, reflect=[lambda prompt: MORE.__class__(False, 0.1, ("more",), (f"q {len(prompt.asked)}",))])
    service.stage.model, service.stage.search = model, FixtureSearch(default=PASSAGES)
    job = service.run(**{"async": True, "options": {"stop": "fixed(40)", "max_iters": 40, "max_queries": 100}}).json()[
        "job_id"
    ]
    while len(model.asked) < 3:
        pass
    answer = service.get_client.delete(f"/jobs/{job}")
    assert answer.status_code == 200
    asked = len(model.asked)
    ended = service.job(job)
    assert ended["status"] == "cancelled"
    assert ended["report"]["stop"]["reason"] == "cancelled"
    assert ended["progress"]["rounds"] >= 1
    assert len(model.asked) <= asked + 1
    assert service.get_client.delete(f"/jobs/{job}").json()["status"] == "cancelled"


def test_when_the_model_is_away_the_service_says_so(service):
    gone = ModelError("the model does not answer", retryable=True)
    service.stage.model = story(plan=[gone], reflect=[gone], draft=[gone])
    service.stage.search = FixtureSearch(default=PASSAGES)
    answer = service.run()
    assert answer.status_code == 503
    assert answer.json()["error"]["retryable"] is True
    assert "does not answer" in answer.json()["error"]["message"]


def test_when_the_search_is_away_the_service_says_so(service):
    service.stage.search = FixtureSearch(default=make_search_error())
    answer = service.run()
    assert answer.status_code == 503
    assert answer.json()["error"]["type"] == "unavailable"


def test_the_same_key_is_the_same_run(service):
    headers = {"Idempotency-Key": "once"}
    body = {"task": "Who decoded the waggle dance?", "options": {"alpha": 1}, "async": True}
    first = service.get_client.post("/run", json=body, headers=headers)
    again = service.get_client.post("/run", json=body, headers=headers)
    assert first.json()["job_id"] == again.json()["job_id"]
    other = service.get_client.post("/run", json={**body, "task": "Something else?"}, headers=headers)
    assert other.status_code == 409


def test_pages_of_runs_are_turned(service):
    ordered = [service.run(f"Who decoded dance {n}?", **{"async": True}).json()["job_id"] for n in range(3)]
    found, cursor = [], None
    while True:
        page = service.get_client.get("/jobs", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        found += [job["job_id"] for job in page["jobs"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert found[:3] == ordered[::-1]
    assert len(found) == len(set(found))


def test_a_replay_says_where_another_gate_would_have_stopped(service):
    run = service.run(options={"alpha": 1, "stop": "fixed(2)"}).json()["run"]
    answer = service.get_client.post("/replay", json={"run": run, "stop": ["fixed(1)", "fixed(9)"]})
    assert answer.status_code == 200
    first, second = answer.json()["gates"]
    assert (first["fired"], first["round"]) == (True, 1)
    assert second["fired"] is False


WRONG = {
    "no task": ({}, "task"),
    "an empty task": ({"task": ""}, "task"),
    "no words": ({"task": "?!"}, "empty"),
    "too long a task": ({"task": "x " * 20_000}, "task"),
    "an unknown key": ({"task": "x", "bogus": 1}, "bogus"),
    "an unknown option": ({"task": "x", "options": {"docs": "/etc"}}, "options.docs"),
    "a bound of nothing": ({"task": "x", "options": {"max_iters": 0}}, "max_iters"),
    "a bound beyond all bounds": ({"task": "x", "options": {"max_iters": 10**9}}, "max_iters"),
    "an unknown tier": ({"task": "x", "complexity_tier": "huge"}, "complexity_tier"),
    "an unknown strategy": ({"task": "x", "options": {"strategy": "nope"}}, "nope"),
    "an unknown memory": ({"task": "x", "options": {"memory": "nope"}}, "nope"),
    "a gate that cannot be read": ({"task": "x", "options": {"stop": "worth |"}}, "Gate"),
    "a gate that reads a file": ({"task": "x", "options": {"stop": "worth(file='/etc/passwd')"}}, "file"),
    "a gate that reads one by position": ({"task": "x", "options": {"stop": "worth(0.1, '/etc/passwd')"}}, "file"),
    "a model that is not offered": ({"task": "x", "options": {"model": "openai:gpt-4"}}, "not offered"),
    "an unknown collection": ({"task": "x", "options": {"collections": ["secret"]}}, "secret"),
    "the web where it is off": ({"task": "x", "options": {"web": True}}, "web"),
    "both ways at once": ({"task": "x", "stream": True, "async": True}, "exclude"),
}


@pytest.mark.parametrize(("body", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_used_is_refused_in_a_sentence(service, body, said):
    answer = service.get_client.post("/run", json=body)
    assert answer.status_code == 422, answer.text
    error = answer.json()["error"]
    assert error["type"] == "invalid_request"
    assert said in error["message"]
    assert error["retryable"] is False


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/run", 405, "method_not_allowed"),
        ("GET", "/jobs/nope", 404, "not_found"),
        ("DELETE", "/jobs/nope", 404, "not_found"),
        ("GET", "/jobs/nope/events", 404, "not_found"),
        ("GET", "/jobs?cursor=nonsense", 422, "invalid_request"),
        ("GET", "/jobs?limit=0", 422, "invalid_request"),
    ],
)
def test_every_failure_has_one_shape(service, method, path, status, kind):
    answer = service.get_client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]["type"] == kind


def test_a_body_that_is_no_json(service):
    answer = service.get_client.post("/run", content=b"{", headers={"content-type": "application/json"})
    assert answer.status_code == 422


def test_a_body_that_is_too_large(service):
    answer = service.get_client.post("/run", content=b"x" * 300_000, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "too_large"


def test_a_large_body_that_does_not_say_so(service):
    answer = service.get_client.post(
        "/run", content=iter([b"x" * 100_000] * 4), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 413


def test_health_metrics_and_description(service):
    assert service.get_client.get("/healthz").json() == {"status": "ok"}
    assert service.get_client.get("/readyz").json() == {"status": "ok"}
    assert 'suffice_runs{status="done"}' in service.get_client.get("/metrics").text
    description = service.get_client.get("/openapi.json").json()
    assert {"/run", "/run-simple", "/search", "/jobs", "/jobs/{job}", "/jobs/{job}/events", "/replay"} <= set(
        description["paths"]
    )


def test_a_browser_is_told_to_do_little(service):
    headers = service.get_client.get("/healthz", headers={"Origin": "https://elsewhere.example"}).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers
