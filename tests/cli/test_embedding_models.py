"""Other embedding models, as a user turns them on."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_llm import FakeLlm, Say

pytestmark = pytest.mark.usefixtures("no_waiting")
QUESTION = "When was the Forth Bridge opened?"


@pytest.mark.parametrize(
    ("embeddings", "hint"),
    [
        ("nonsense", "minilm"),
        ("anthropic:x", "minilm"),
        ("openai:", "minilm"),
        ("openai:text-embedding-3-small", "OPENAI_API_KEY"),
        ("fastembed:x", "minilm"),
    ],
)
def test_unavailable_embeddings(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch, embeddings: str, hint: str
) -> None:
    monkeypatch.setenv("SUFFICE_EMBEDDINGS", embeddings)
    result = suffice("search", "forth bridge", "--docs", docs)
    assert result.status == 2
    assert hint in result.err
    assert suffice("search", "forth bridge", "--docs", docs, "--alpha", "1").status == 0


def test_offline_sends_no_passage_to_a_server(suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_EMBEDDINGS", "openai:text-embedding-3-small")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://embeddings.example/v1")
    monkeypatch.setenv("SUFFICE_OFFLINE", "1")
    result = suffice("search", "forth bridge", "--docs", docs)
    assert result.status == 2
    assert "SUFFICE_OFFLINE" in result.err


def test_doctor_says_where_passages_are_sent(suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_EMBEDDINGS", "openai:text-embedding-3-small")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://embeddings.example/v1")
    result = suffice("doctor")
    [line] = [line for line in result.out.splitlines() if line.startswith("ok   embeddings")]
    assert "openai:text-embedding-3-small" in line
    assert "https://embeddings.example/v1" in line


def test_a_failing_embedding_server_is_a_failed_search(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUFFICE_EMBEDDINGS", "openai:tiny")
    with FakeLlm([]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        server.answer = lambda *given: Say(status=404)  # type: ignore[method-assign]
        result = suffice("ask", QUESTION, "--docs", docs, "--model", "extractive", "--json")
    report = json.loads(result.out)
    assert result.status == 4
    assert report["stop"]["reason"] == "search_unavailable"
    assert any("--alpha 1" in failure["message"] for failure in report["error_log"])
