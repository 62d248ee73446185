"""Answers that are kept, and embeddings from elsewhere, as a user switches them on."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_llm import FakeLlm, Say, role_of, sensible

pytestmark = pytest.mark.usefixtures("no_waiting")
QUESTION = "When was the Forth Bridge opened?"


@pytest.mark.parametrize(("kept", "again"), [("1", {"draft"}), ("all", set()), ("0", {"plan", "reflect", "draft"})])
def test_kept_answers_are_not_asked_for_again(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch, kept: str, again: set[str]
) -> None:
    """The draft is sampled, so only `all` keeps it."""
    monkeypatch.setenv("SUFFICE_MODEL_CACHE", kept)
    monkeypatch.setenv("SUFFICE_KEEP_RUNS", "0")  # Else the second run would build on the first and ask other things.
    reports = []
    with FakeLlm(sensible) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        for _ in range(2):
            asked = len(server.requests)
            ended = suffice(
                "ask", QUESTION, "--docs", docs, "--alpha", "1", "--json", "--no-review", "--strategy", "reflect"
            )
            assert ended.status == 0, ended.err
            reports.append(json.loads(ended.out))
    first, second = (report["usage"] for report in reports)
    assert {role_of(body) for body in server.requests[asked:]} == again
    assert first["stored"] == 0
    assert (
        second["stored"]
        == first["calls"] - second["calls"]
        == sum(role["stored"] for role in second["by_role"].values())
    )
    assert reports[0]["final_answer"] == reports[1]["final_answer"]


def test_an_unknown_word_for_the_cache(suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_MODEL_CACHE", "yes please")
    ended = suffice("ask", QUESTION, "--docs", docs)
    assert ended.status == 2
    assert "SUFFICE_MODEL_CACHE" in ended.err


@pytest.mark.parametrize(
    ("embeddings", "wrong"),
    [
        ("nonsense", "is not known; write minilm"),
        ("anthropic:x", "is not known; write minilm"),
        ("openai:", "is not known; write minilm"),
        ("openai:text-embedding-3-small", "needs a key; set OPENAI_API_KEY"),
        ("fastembed:x", "pip install 'suffice[fastembed]'"),
    ],
)
def test_embeddings_that_cannot_be_had(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch, embeddings: str, wrong: str
) -> None:
    monkeypatch.setenv("SUFFICE_EMBEDDINGS", embeddings)
    ended = suffice("search", "forth bridge", "--docs", docs)
    assert ended.status == 2
    assert wrong in ended.err
    assert suffice("search", "forth bridge", "--docs", docs, "--alpha", "1").status == 0


def test_no_passage_leaves_the_machine_offline(suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_EMBEDDINGS", "openai:text-embedding-3-small")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://embeddings.example/v1")
    monkeypatch.setenv("SUFFICE_OFFLINE", "1")
    ended = suffice("search", "forth bridge", "--docs", docs)
    assert ended.status == 2
    assert "SUFFICE_OFFLINE" in ended.err


def test_where_passages_go_is_said(suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_EMBEDDINGS", "openai:text-embedding-3-small")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://embeddings.example/v1")
    ended = suffice("doctor")
    assert "Passages go to openai:text-embedding-3-small at https://embeddings.example/v1" in ended.out


def test_a_server_without_embeddings_is_a_failed_search(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUFFICE_EMBEDDINGS", "openai:tiny")
    with FakeLlm([]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        server.answer = lambda *given: Say(status=404)  # type: ignore[method-assign]
        ended = suffice("ask", QUESTION, "--docs", docs, "--model", "extractive", "--json")
    report = json.loads(ended.out)
    assert ended.status == 4
    assert report["stop"]["reason"] == "search_unavailable"
    assert any("--alpha 1 searches by words alone" in failure["message"] for failure in report["error_log"])
