"""A whole run with servers that behave like Ollama and like a hosted API: nothing is lost, and the context is respected."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_llm import FakeLlm, Say, role_of, sensible

pytestmark = pytest.mark.usefixtures("no_waiting")
QUESTION = "When was the Forth Bridge opened?"
CONTEXT = 6_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """More than the context holds, with the answer in one of the files."""
    (tmp_path / "forth.md").write_text("# Forth Bridge\n\nThe Forth Bridge was opened in 1890.\n")
    for number in range(30):
        lines = (f"The bridge of clerk {number} was painted on day {day} and opened again." for day in range(40))
        (tmp_path / f"log{number}.md").write_text(f"# Log {number}\n\n" + "\n\n".join(lines))
    return tmp_path


def test_a_server_that_thinks_aloud_starts_slowly_and_cuts_prompts_in_silence(
    suffice: Callable, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[float] = []

    def answer(body: dict) -> Say:
        [message] = body["messages"]
        sizes.append(len(message["content"]) / 4 + body["max_tokens"])
        message["content"] = message["content"][
            -4 * CONTEXT :
        ]  # What is cut is not seen; the role is at the beginning.
        thought = '<think>Perhaps {"queries": []}? It may have been 1790.</think>\n'
        return Say(thought + sensible(body), delay=0.5 if len(sizes) == 1 else 0.0)

    routes = {"/api/show": {"parameters": f"num_ctx {CONTEXT}"}}
    with FakeLlm(answer, models=["llama9:70b"], routes=routes) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.origin)
        result = suffice("ask", QUESTION, "--docs", folder, "--model", "ollama:llama9:70b", "--json")
    report = json.loads(result.out)
    assert (result.status, report["status"]) == (0, "answered"), result.err
    assert "opened in 1890" in report["final_answer"]
    assert "1790" not in result.out
    assert max(sizes) <= CONTEXT
    assert not [entry for entry in report["error_log"] if entry["kind"] in ("ModelError", "ModelOutputError")]


def test_a_server_that_is_far_away_and_busy(suffice: Callable, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Counter[str]()

    def answer(body: dict) -> Say:
        prompt = body["messages"][0]["content"]
        refused[prompt] += 1
        if refused[prompt] <= 2:
            return Say("slow down", status=429, headers={"Retry-After": "20"}, delay=0.1)
        return Say(sensible(body), delay=0.2)

    with FakeLlm(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("SUFFICE_CONTEXT", "32000")
        monkeypatch.setenv("SUFFICE_WRITER", "prose")
        result = suffice("ask", QUESTION, "--docs", folder, "--json")
    report = json.loads(result.out)
    assert (result.status, report["status"]) == (0, "answered"), result.err
    assert set(refused.values()) == {3}, "every prompt is answered at the third attempt, and none is given up"
    asked = {role_of(body) for body in server.requests}
    assert {"plan", "draft", "check_draft", "evaluate"} <= asked
    assert report["usage"]["calls"] == len(server.requests), "the refused calls are counted too"
    assert report["metadata"]["review"]["ending"] == "passed"
