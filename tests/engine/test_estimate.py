"""The estimate before a run: what its prompts show, by the sizes of the files and within the limits."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from fake_llm import FakeLlm, Say

from suffice.api import estimate_research, run_research
from suffice.engine.estimate import describe_estimate
from suffice.engine.presets import PRESETS
from suffice.options import RunOptions

QUESTION = "How long is the notice period?"


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return tmp_path


def estimate(**options: Any) -> Any:
    given = {"docs": str(Path(__file__).parent), "model": "openai:gpt-5-mini", **options}
    return asyncio.run(estimate_research(QUESTION, RunOptions(**given)))


@pytest.mark.parametrize("strategy", PRESETS)
@pytest.mark.parametrize("writer", ["prose", "sentence"])
def test_every_strategy_has_an_estimate(strategy: str, writer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_WRITER", writer)
    found = estimate(strategy=strategy)
    for one in (found.calls, found.input_tokens, found.output_tokens):
        assert 0 < one.low <= one.typical <= one.high
    assert found.usd is not None
    assert 0 < found.usd.low <= found.usd.high < 1
    assert "what each prompt shows" in describe_estimate(found)


def test_limits_and_a_missing_review_make_it_cheaper() -> None:
    usual = estimate(strategy="reflect")
    assert estimate(strategy="reflect", max_rounds=1).input_tokens.high < usual.input_tokens.high
    assert estimate(strategy="reflect", review=False).calls.typical == usual.calls.typical - 1
    capped = estimate(strategy="reflect", max_cost_usd=0.0001)
    assert capped.usd.high == 0.0001
    assert "0.0001 US dollars" in describe_estimate(capped)
    tokens = estimate(strategy="reflect", max_tokens=1_000)
    assert max(tokens.input_tokens.high, tokens.output_tokens.high) <= 1_000


def test_short_answers_that_a_gate_drafts_are_included() -> None:
    assert estimate(stop="stable | fixed(3)").calls.typical > estimate(stop="fixed(3)").calls.typical


def test_without_a_language_model_nothing_is_paid() -> None:
    found = estimate(model="extractive")
    assert (found.calls.high, found.input_tokens.high) == (0, 0)
    assert "No model call is paid" in describe_estimate(found)


def test_an_unknown_price_is_unknown() -> None:
    found = estimate(model="openai:a-model-that-nobody-sells")
    assert found.usd is None
    assert "price is unknown" in describe_estimate(found)


def test_nothing_is_asked_and_nothing_opened(environment: Path) -> None:
    """Neither a call of a model nor an index: the key is wrong and the folder stays as it was."""
    estimate(strategy="reflect")
    assert list(environment.iterdir()) == []


def test_what_is_there_in_two_formats_counts_once(environment: Path) -> None:
    docs = environment / "docs"
    docs.mkdir()
    (docs / "plan.md").write_text("The notice period is two months. " * 500)
    once = estimate(docs=str(docs)).input_tokens
    (docs / "plan.docx").write_bytes(bytes(40_000))
    assert estimate(docs=str(docs)).input_tokens.high == pytest.approx(once.high, rel=0.01)


FACTS = [
    f"In {1900 + n} the mill of district {n} ground {n + 3} tons of rye a day, and its wheel was built by family {n}. "
    "The council paid for the weir, the miller for the stones, and both for the road to the river. "
    for n in range(18)
]


class StrongModel:
    """Answers every prompt of a run as a strong model does; weak first drafts are revised."""

    def __init__(self, *, revises: bool) -> None:
        self.evaluations = [6, 9] if revises else [9]
        self.used = [0, 0, 0]

    def __call__(self, body: dict[str, Any]) -> Say:
        text = "\n".join(message["content"] for message in body["messages"])
        form = body.get("response_format")
        said = self.answer(form["json_schema"]["name"] if form else "", text)
        sent = len(text + (json.dumps(form) if form else "")) // 4
        tokens = sent, len(said) // 4
        self.used = [have + more for have, more in zip(self.used, (1, *tokens), strict=True)]
        return Say(said, usage=tokens)

    def answer(self, role: str, text: str) -> str:
        if role == "plan":
            return '{"queries": [], "complexity": "standard", "task_type": "research"}'
        if role == "check_draft":
            numbers = re.findall(r"^- (\d+)\. .*?(\[\d+\])", text, re.MULTILINE)
            words = "The council paid for the weir, the miller for the stones, and both for the road to the river."
            checked = [{"number": int(n), "role": "stated", "source": source, "words": words} for n, source in numbers]
            return json.dumps({"statements": checked})
        if role == "evaluate":
            scores = dict.fromkeys(("relevance", "completeness", "depth", "grounded", "specificity", "structure"))
            score = self.evaluations.pop(0)
            issue = {"dimension": "depth", "problem": "It does not say who paid for the road.", "section": ""}
            return json.dumps({**dict.fromkeys(scores, score), "issues": [issue]})
        places = re.findall(r"(\[\d+\])\n<<<\n[^\n]*\n?[^\n]*district (\d+) ground (\d+) tons", text)
        claims = [f"The mill of district {n} ground {tons} tons of rye a day {handle}." for handle, n, tons in places]
        if text.startswith("Improve a text"):
            kept = text.split("as it stands:\n<<<\n")[1].split("\n>>>")[0]
            return f"{kept}\n\nNo source says more of the road."
        return "\n\n".join(claims)


@pytest.mark.parametrize("revises", [False, True])
def test_what_a_run_with_a_strong_model_uses_is_within_its_estimate(
    environment: Path, monkeypatch: pytest.MonkeyPatch, revises: bool
) -> None:
    """Over 18 small files, of which all is read; the estimate before it knows only their sizes."""
    docs = environment / "docs"
    docs.mkdir()
    for n, fact in enumerate(FACTS):
        (docs / f"mill-{n}.md").write_text(
            f"# Mill {n}\n\n" + fact + "The mill stands by the river, and people say so. " * 50
        )
    model = StrongModel(revises=revises)
    with FakeLlm(model, context=131_072) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("SUFFICE_WRITER", "prose")
        options = {"docs": str(docs), "model": "openai:fake-model"}
        found = estimate(**options)
        assert server.requests == [], "an estimate asks nothing"
        report = run_research("How much did the mills grind?", keep=False, **options)
    assert (report.stop.reason, report.status) == ("read_all", "answered")
    assert "18 files" in found.basis
    for used, expected in zip(model.used, (found.calls, found.input_tokens, found.output_tokens), strict=True):
        assert expected.low <= used <= expected.high
        assert expected.high <= 8 * used, "a range that holds everything says nothing"
