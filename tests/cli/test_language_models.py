"""A language model at the command line: whatever its server does, the run ends with a report that says so."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_llm import SENSIBLE, FakeLlm, Say, role_of, sensible

pytestmark = pytest.mark.usefixtures("no_waiting")
QUESTION = "When was the Forth Bridge opened?"


@pytest.fixture
def ask(suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Asks the question of a server; the exit status and the report."""

    def call(script: Callable | list, *options: str) -> tuple[int, dict, FakeLlm]:
        with FakeLlm(script) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", "1", "--json", *options)
        return ended.status, json.loads(ended.out), server

    return call


def once(fault: Say | str, role: str) -> Callable:
    """The role's first answer is a fault; everything else is fine."""
    left = [fault]

    def answer(body: dict) -> Say | str:
        return left.pop() if left and role_of(body) == role else sensible(body)

    return answer


def test_it_answers_with_the_model_that_is_loaded(ask: Callable) -> None:
    status, report, _ = ask(sensible)
    assert (status, report["status"], report["error_log"]) == (0, "answered", [])
    assert report["usage"]["model"] == "openai:fake-model"
    assert report["usage"]["cost_usd"] == 0
    assert "1890 [1]" in report["final_answer"]
    assert report["key_findings"] == ["It was opened in 1890 [1]."]
    assert report["summary"].startswith("The Forth Bridge was opened in 1890")
    for field in ("calls", "input_tokens", "output_tokens"):
        assert report["usage"][field] == sum(role[field] for role in report["usage"]["by_role"].values()) > 0


@pytest.mark.parametrize("strategy", "reflect saturate predicates outline ircot react memgpt iterretgen".split())
def test_every_strategy_runs_with_a_language_model(ask: Callable, strategy: str) -> None:
    status, report, _ = ask(sensible, "--strategy", strategy, "--max-rounds", "2")
    assert status == 0
    assert "1890" in report["final_answer"]
    assert not [entry for entry in report["error_log"] if entry["kind"] != "Refused"]


FAULTS = {
    "429": Say(status=429),
    "retry-after": Say(status=429, headers={"Retry-After": "0"}),
    "500": Say(status=500),
    "cut": Say('{"queries": [{"query": "forth bridge"}, {"que', finish="length"),
    "empty": Say(choices=False),
    "types": '{"queries": 5, "sufficient": "perhaps", "answer": 5}',
    "reset": Say(SENSIBLE["draft"], reset=True),
    "utf8": Say(raw=b'{"choices": [{"message": {"content": "\xff"}}]}'),
    "slow": Say(delay=30.0),
}
# What stands around an answer; it is put aside.
UNTIDY = {
    "fenced": "```\n{}\n```",
    "prose": "Sure! Here is what you asked for:\n\n{}\n\nI hope this helps.",
    "think": "<think>\nCould it be {{1891}}? No.\n</think>\n\n{}",
}


@pytest.mark.parametrize("role", ["plan", "reflect", "draft"])
@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_loses_a_run_and_each_is_in_the_log(
    ask: Callable, fault: str, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if role == "draft" and fault in ("cut", "types"):
        return  # Free text is never of the wrong type; a cut one has a test of its own.
    if fault == "slow":
        monkeypatch.setenv("SUFFICE_TIMEOUT", "1")
    status, report, _ = ask(once(FAULTS[fault], role), "--strategy", "reflect")
    assert status == 0
    assert "1890 [1]" in report["final_answer"]
    assert role in {entry["where"] for entry in report["error_log"]}


@pytest.mark.parametrize("role", ["plan", "reflect", "draft"])
@pytest.mark.parametrize("around", UNTIDY)
def test_what_stands_around_an_answer_costs_nothing(ask: Callable, around: str, role: str) -> None:
    status, report, server = ask(once(UNTIDY[around].format(SENSIBLE[role]), role), "--strategy", "reflect")
    assert status == 0
    kinds = [(entry["where"], entry["kind"]) for entry in report["error_log"]]
    undetected = (around, role) == ("prose", "draft")  # In a free text nobody can tell a remark from the answer.
    assert kinds == ([] if undetected else [(role, "Tidied")])
    assert "1890 [1]" in report["final_answer"]
    assert not [mark for mark in ("```", "think>", "1891") if mark in report["final_answer"]]
    assert [role_of(body) for body in server.requests].count(role) == report["usage"]["by_role"][role]["calls"] == 1


def test_a_cut_draft_is_said_and_ends_with_a_whole_sentence(ask: Callable) -> None:
    cut = Say("The Forth Bridge was opened in 1890 [1]. It is a canti", finish="length")
    _, report, _ = ask(once(cut, "draft"))
    assert "canti" not in report["final_answer"]
    assert "CutOff" in {entry["kind"] for entry in report["error_log"]}


def test_ten_queries_instead_of_six(ask: Callable) -> None:
    many = json.dumps({"queries": [{"query": f"bridge number {i}"} for i in range(10)]})
    _, report, _ = ask(once(many, "plan"), "--strategy", "reflect")
    assert "TooMany" in {entry["kind"] for entry in report["error_log"]}
    assert len(report["stop"]["rounds"][0]["queries"]) == 6


def test_usage_that_is_not_reported_is_estimated_and_marked(ask: Callable) -> None:
    _, report, _ = ask(lambda body: Say(sensible(body), usage=None))
    assert report["usage"]["estimated_calls"] == report["usage"]["calls"] > 0
    assert report["usage"]["input_tokens"] > 100
    assert [entry["kind"] for entry in report["error_log"]] == ["Uncounted"]


def test_a_model_that_never_answers_ends_with_status_4(ask: Callable) -> None:
    status, report, _ = ask([Say(status=500)])
    assert (status, report["status"]) == (4, "failed")
    assert report["error_log"]


def test_the_draft_is_heard_while_it_is_written(ask: Callable, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    _, _, server = ask(sensible, "--trace", str(trace))
    events = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    pieces = [event["text"] for event in events if event["type"] == "drafting"]
    assert "".join(pieces) == SENSIBLE["draft"]
    assert [body.get("stream") for body in server.requests if role_of(body) == "draft"] == [True]


def test_the_model_of_a_role(ask: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_MODEL_PLANNER", "extractive")
    _, report, server = ask(sensible)
    assert {role_of(body) for body in server.requests} == {"draft", "evaluate"}
    assert report["usage"]["model"] == "openai:fake-model + extractive"


def test_the_next_model_of_a_list(ask: Callable) -> None:
    status, report, _ = ask([Say(status=500)], "--model", "openai:fake-model,extractive")
    assert status == 0
    assert "1890" in report["final_answer"]
    assert any("asking the next model" in entry["message"] for entry in report["error_log"])


def test_offline_is_one_sentence(suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_OFFLINE", "1")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    ended = suffice("ask", QUESTION, "--docs", docs, "--model", "openai:gpt-5-mini")
    assert (ended.status, ended.out) == (2, "")
    assert len(ended.err.strip().splitlines()) == 1
    ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", "1")
    assert ended.status == 0
    assert "OPENAI_API_KEY is not used" in ended.err


def test_the_doctor_names_what_is_loaded(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeLlm(models=["qwen-small", "other"], context=4096) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        ended = suffice("doctor")
        assert ended.status == 0
        assert "openai:qwen-small" in ended.out
        assert "4096 tokens" in ended.out
        monkeypatch.setenv("SUFFICE_MODEL", "openai:absent")
        assert "'absent'; using 'qwen-small'" in suffice("doctor").out
    monkeypatch.setenv("SUFFICE_MODEL", "openai:qwen-small")
    ended = suffice("doctor")
    assert ended.status == 4
    assert "start the server" in ended.out


def test_the_doctor_looks_for_every_model_of_a_list(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("SUFFICE_MODEL", "openai:a,openai:b")
    ended = suffice("doctor")
    assert ended.status == 4
    for name in ("openai:a", "openai:b"):
        [line] = [line for line in ended.out.splitlines() if f" {name}: " in line]
        assert line.startswith("FAIL model")
        assert "start the server" in line
    monkeypatch.setenv("SUFFICE_MODEL", "openai:a,extractive")
    ended = suffice("doctor")
    assert (ended.status, "FAIL model       openai:a" in ended.out) == (0, True)
    monkeypatch.setenv("SUFFICE_MODEL", "extractive")
    monkeypatch.setenv("SUFFICE_MODEL_JUDGE", "openai:c")
    ended = suffice("doctor")
    assert (ended.status, "FAIL model       openai:c" in ended.out) == (4, True)


def test_a_length_that_the_server_does_not_state_is_said(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeLlm(sensible) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", "1", "--json")
        assert ended.err.count("SUFFICE_CONTEXT") == 1
        assert suffice("doctor").out.count("SUFFICE_CONTEXT") == 1
        monkeypatch.setenv("SUFFICE_CONTEXT", "32768")
        assert "SUFFICE_CONTEXT" not in suffice("ask", QUESTION, "--docs", docs, "--alpha", "1", "--json").err


def test_a_bound_on_an_unknown_cost_is_refused(suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    ended = suffice(
        "ask", QUESTION, "--docs", docs, "--alpha", "1", "--model", "openai:no-such-model", "--max-cost", "1"
    )
    assert ended.status == 2
    assert "SUFFICE_PRICES" in ended.err
