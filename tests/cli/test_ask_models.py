"""Language models at the command line: whatever the server does, the run ends with a report that says so."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_llm import SENSIBLE, FakeLlm, Say, role_of, sensible

pytestmark = pytest.mark.usefixtures("no_waiting")
QUESTION = "When was the Forth Bridge opened?"


@pytest.fixture
def ask(suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Ask the question with a scripted server; returns the exit status, the report and the server."""

    def call(script: Callable | list, *options: str) -> tuple[int, dict, FakeLlm]:
        with FakeLlm(script) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            result = suffice("ask", QUESTION, "--docs", docs, "--alpha", "1", "--json", *options)
        return result.status, json.loads(result.out), server

    return call


def once(fault: Say | str, role: str) -> Callable:
    """Return a script in which the role's first answer is a fault and every other answer is good."""
    left = [fault]

    def answer(body: dict) -> Say | str:
        return left.pop() if left and role_of(body) == role else sensible(body)

    return answer


def test_the_loaded_model_answers(ask: Callable) -> None:
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
# Text around an answer, which is removed.
UNTIDY = {
    "fenced": "```\n{}\n```",
    "prose": "Sure! Here is what you asked for:\n\n{}\n\nI hope this helps.",
    "think": "<think>\nCould it be {{1891}}? No.\n</think>\n\n{}",
}


@pytest.mark.parametrize("role", ["plan", "reflect", "draft"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_does_not_end_the_run_and_is_logged(
    ask: Callable, fault: str, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if role == "draft" and fault in ("cut", "types"):
        return  # Free text has no type; a cut draft has its own test.
    if fault == "slow":
        monkeypatch.setenv("SUFFICE_TIMEOUT", "1")
    status, report, _ = ask(once(FAULTS[fault], role), "--strategy", "reflect")
    assert status == 0
    assert "1890 [1]" in report["final_answer"]
    assert role in {entry["where"] for entry in report["error_log"]}


@pytest.mark.parametrize("role", ["plan", "reflect", "draft"])
@pytest.mark.parametrize("around", UNTIDY)
def test_text_around_an_answer_is_removed_without_another_call(ask: Callable, around: str, role: str) -> None:
    status, report, server = ask(once(UNTIDY[around].format(SENSIBLE[role]), role), "--strategy", "reflect")
    assert status == 0
    assert report["error_log"] == []
    assert "1890 [1]" in report["final_answer"]
    assert not [mark for mark in ("```", "think>", "1891") if mark in report["final_answer"]]
    assert [role_of(body) for body in server.requests].count(role) == report["usage"]["by_role"][role]["calls"] == 1


def test_a_truncated_draft_is_logged_and_ends_with_a_whole_sentence(ask: Callable) -> None:
    cut = Say("The Forth Bridge was opened in 1890 [1]. It is a canti", finish="length")
    _, report, _ = ask(once(cut, "draft"))
    assert "canti" not in report["final_answer"]
    assert "CutOff" in {entry["kind"] for entry in report["error_log"]}


def test_too_many_queries_are_cut_to_six(ask: Callable) -> None:
    many = json.dumps({"queries": [{"query": f"bridge number {i}"} for i in range(10)]})
    _, report, _ = ask(once(many, "plan"), "--strategy", "reflect")
    assert "TooMany" in {entry["kind"] for entry in report["error_log"]}
    assert len(report["stop"]["rounds"][0]["queries"]) == 6


def test_unreported_usage_is_estimated_and_marked(ask: Callable) -> None:
    _, report, _ = ask(lambda body: Say(sensible(body), usage=None))
    assert report["usage"]["estimated_calls"] == report["usage"]["calls"] > 0
    assert report["usage"]["input_tokens"] > 100


def test_what_was_found_is_shown_when_a_model_never_answers(ask: Callable) -> None:
    status, report, _ = ask([Say(status=500)])
    assert (status, report["status"], report["degraded_mode"]) == (0, "partial", True)
    assert report["error_log"]


@pytest.mark.attack("hostile model servers")
def test_a_model_server_that_fails_is_one_line(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch, no_waiting: None
) -> None:
    with FakeLlm([Say(status=500)]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = suffice("ask", QUESTION, "--docs", docs, "--alpha", "1", "--model", "openai:fake-model")
    assert result.err.count("server error") == 1
    assert "could not be read" not in result.err, "quotations are not reviewed"
    assert "1890" in result.out, "the sources are quoted instead"
    assert len(server.requests) == 3, "after three failures of one call the others are not made"


@pytest.mark.parametrize(
    ("answer", "advice"), [(Say(status=401), "OPENAI_API_KEY"), (Say(status=404), "--model")], ids=["401", "404"]
)
def test_a_model_that_cannot_be_used_ends_the_run_at_once(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch, answer: Say, advice: str
) -> None:
    with FakeLlm([answer]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = suffice("ask", QUESTION, "--docs", docs, "--alpha", "1", "--quiet")
        assert len(server.requests) == 1
    assert result.status == 4
    [line] = [line for line in result.err.splitlines() if "No answer" in line]
    assert advice in line


def test_a_dead_server_is_found_out_before_the_documents_are_read(
    suffice: Callable, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    for options in ([], ["--model", "openai:qwen"], ["--model", "ollama:qwen"]):
        result = suffice("ask", QUESTION, "--docs", docs, "--alpha", "1", *options)
        assert result.status == 4
        [line] = result.err.splitlines()
        assert "start the server" in line
        assert not list(tmp_path.glob("cache/**/*.*"))


def test_a_dead_server_is_no_fault_while_another_model_can_answer(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", "1", "--model", "ollama:qwen,extractive", "--json")
    assert (result.status, json.loads(result.out)["status"]) == (0, "partial"), result.err


def test_found_evidence_is_shown_when_the_key_expires_before_the_draft(ask: Callable) -> None:
    status, report, _ = ask(lambda body: Say(status=401) if role_of(body) == "draft" else sensible(body))
    assert (status, report["status"], report["degraded_mode"]) == (0, "partial", True)
    assert "1890" in report["final_answer"]


def test_a_small_model_writes_a_sentence_above_quotes(ask: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_WRITER", "sentence")
    status, report, server = ask(sensible)
    assert (status, report["status"], report["short_answer"]) == (0, "answered", "1890")
    assert [role_of(body) for body in server.requests] == ["answer"]
    assert report["metadata"]["writer"] == "sentence"
    assert report["metadata"]["model"] == "openai:fake-model"
    assert report["metadata"]["token_count"] == report["usage"]["input_tokens"] + report["usage"]["output_tokens"] > 0
    assert report["metadata"]["timestamp"]


def test_the_draft_is_streamed(ask: Callable, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    _, _, server = ask(sensible, "--trace", str(trace))
    events = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    pieces = [event["text"] for event in events if event["type"] == "drafting"]
    assert "".join(pieces) == SENSIBLE["draft"]
    assert [body.get("stream") for body in server.requests if role_of(body) == "draft"] == [True]


def test_a_role_has_its_own_model(ask: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_MODEL_PLANNER", "extractive")
    _, report, server = ask(sensible)
    assert {role_of(body) for body in server.requests} == {"self_test", "compute", "draft", "check_draft", "evaluate"}
    assert report["usage"]["model"] == "openai:fake-model + extractive"


def test_the_next_model_of_a_list_answers(ask: Callable) -> None:
    status, report, _ = ask([Say(status=500)], "--model", "openai:fake-model,extractive")
    assert status == 0
    assert "1890" in report["final_answer"]
    assert any("next model" in entry["message"] for entry in report["error_log"])


def test_offline_rejects_a_remote_model_in_one_sentence(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUFFICE_OFFLINE", "1")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    result = suffice("ask", QUESTION, "--docs", docs, "--model", "openai:gpt-5-mini")
    assert (result.status, result.out) == (2, "")
    assert len(result.err.strip().splitlines()) == 1
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", "1")
    assert result.status == 0
    assert "OPENAI_API_KEY" in result.err


def test_an_unknown_context_length_is_reported_once(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeLlm(sensible) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = suffice("ask", QUESTION, "--docs", docs, "--alpha", "1", "--json")
        assert result.err.count("SUFFICE_CONTEXT") == 1
        assert suffice("doctor").out.count("SUFFICE_CONTEXT") == 1
        monkeypatch.setenv("SUFFICE_CONTEXT", "32768")
        assert "SUFFICE_CONTEXT" not in suffice("ask", QUESTION, "--docs", docs, "--alpha", "1", "--json").err


def test_a_cost_limit_needs_a_known_price(suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    result = suffice(
        "ask", QUESTION, "--docs", docs, "--alpha", "1", "--model", "openai:no-such-model", "--max-cost", "1"
    )
    assert result.status == 2
    assert "SUFFICE_PRICES" in result.err


def test_dry_run_prints_the_estimate_and_asks_nothing(ask: Callable) -> None:
    status, estimate, server = ask(sensible, "--dry-run")
    assert (status, server.requests) == (0, [])
    assert estimate["calls"]["low"] >= 1
    assert estimate["usd"] == {"low": 0.0, "typical": 0.0, "high": 0.0}, "a model on this machine costs nothing"


def test_dry_run_has_nothing_to_write(suffice: Callable, docs: Path) -> None:
    result = suffice("ask", QUESTION, "--docs", docs, "--dry-run", "--out", "report.md")
    assert result.status == 2
    assert "--dry-run" in result.err


def test_a_model_that_fails_the_self_test_searches_as_long_as_none(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(body: dict) -> Say | str:
        return "I cannot say." if role_of(body) == "self_test" else sensible(body)

    def ask(*options: str) -> str:
        question = "In which city was the man who built the Forth Bridge born?"
        result = suffice("ask", question, "--docs", docs, "--alpha", "1", "--json", *options)
        return json.loads(result.out)["stop"]["gate"]

    with FakeLlm(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        first, second = ask(), ask()
    assert first == second == ask("--model", "extractive")
