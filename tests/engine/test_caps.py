"""A limit on tokens or money that is reached in any phase: nothing is paid after it, and the report is cited all the same."""

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_llm import SENSIBLE, Body, FakeLlm, Say, role_of, sensible

from suffice import research
from suffice.report.html import render_html
from suffice.report.markdown import render_markdown
from suffice.state.prompting import WRITING_ROLES
from suffice.storage.report_json import to_dict
from suffice.types import Report

QUESTION = "When was the Forth Bridge opened, and who designed it?"
PLAN = (
    '{"queries": [{"query": "forth bridge opened", "intent": "when"}, {"query": "forth bridge designer", "intent": "who"}],'
    ' "complexity": "standard"}'
)
REFLECT = '{{"sufficient": false, "confidence": 0.3, "gaps": ["its price"], "new_queries": ["price of the bridge {}"]}}'
DRAFT = "The Forth Bridge was opened in 1890 [1]. John Fowler and Benjamin Baker were its designers [1]."
PHASES = [
    ("reflect", "plan"),
    ("reflect", "reflect"),
    ("reflect", "draft"),
    ("reflect", "support"),
    ("reflect", "evaluate"),
    ("reflect", "revise"),
    ("saturate", "gap"),
    ("predicates", "extract"),
    ("outline", "outline"),
    ("ircot", "thought"),
    ("react", "act"),
    ("memgpt", "step"),
    ("iterretgen", "short_answer"),
]


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs").mkdir()
    text = "# Forth Bridge\n\nThe Forth Bridge was opened in 1890. It was designed by John Fowler and Benjamin Baker.\n"
    (tmp_path / "docs" / "bridge.md").write_text(text)
    prices = tmp_path / "prices.toml"
    prices.write_text('["openai:fake-model"]\ninput = 1.0\noutput = 1.0\n')
    monkeypatch.setenv("SUFFICE_PRICES", str(prices))
    monkeypatch.setenv("SUFFICE_WRITER", "prose")
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "docs"


def script(expensive: str, numbers: Iterator[int]):
    """Return a model that is expensive in one role and that is never content."""

    def answer(body: Body) -> Say:
        content = body["messages"][0]["content"]
        role = "support" if "support" in content[:400].lower() and "claim" in content[:400].lower() else role_of(body)
        texts = {
            "plan": PLAN,
            "reflect": REFLECT.format(next(numbers)),
            "draft": DRAFT,
            "evaluate": SENSIBLE["evaluate"].replace("9", "5"),
            "revise": f"{DRAFT} It was opened in 1890 [1].",
            "support": "no",
        }
        text = texts.get(role) or sensible(body)
        return Say(text, usage=(90_000, 10) if role == expensive else (100, 10))

    return answer


def run(
    docs: Path, strategy: str, expensive: str, monkeypatch: pytest.MonkeyPatch, **caps: float
) -> tuple[Report, list[str]]:
    answered: list[str] = []
    answer = script(expensive, itertools.count())

    def record(body: Body) -> Say:
        said = answer(body)
        answered.append("expensive" if said.usage == (90_000, 10) else "cheap")
        return said

    with FakeLlm(record) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        options = {"strategy": strategy, "model": "openai:fake-model", "alpha": 1.0, **caps}
        report = asyncio.run(research(QUESTION, docs=str(docs), **options))
    return report, answered


@pytest.mark.parametrize(("strategy", "expensive"), PHASES)
def test_a_money_limit_ends_in_a_cited_report_and_no_further_call(docs, monkeypatch, strategy, expensive) -> None:
    report, answered = run(docs, strategy, expensive, monkeypatch, max_cost_usd=0.05, max_tokens=10**7)
    if "expensive" in answered:
        assert answered.index("expensive") == len(answered) - 1, "nothing is paid after the limit"
        assert report.left_undone or expensive == "revise"
    assert report.status in ("answered", "partial")
    assert report.sources
    assert "[1]" in report.final_answer


@pytest.mark.parametrize(("strategy", "expensive"), [*PHASES[:3], ("outline", "outline"), ("ircot", "thought")])
def test_a_token_limit_ends_in_a_cited_report_and_only_the_answer_is_written(
    docs, monkeypatch, strategy, expensive
) -> None:
    report, answered = run(docs, strategy, expensive, monkeypatch, max_tokens=50_000)
    if "expensive" in answered and expensive not in WRITING_ROLES:
        after = len(answered) - 1 - answered.index("expensive")
        assert after <= report.usage.by_role["draft"].calls
    assert report.sources
    assert "[1]" in report.final_answer


def test_the_report_lists_what_was_left_undone_and_the_bill_by_role(docs, monkeypatch) -> None:
    report, _ = run(docs, "reflect", "reflect", monkeypatch, max_cost_usd=0.05)
    assert any("price of the bridge" in line for line in report.left_undone)
    assert any("not written by the model" in line for line in report.left_undone), "quotations need no review"
    for text in (render_markdown(report), render_html(report)):
        assert "Left undone" in text
        assert "price of the bridge" in text
        assert "Tokens in" in text
        assert "$0.0900" in text
    fields = to_dict(report)
    assert fields["left_undone"] == list(report.left_undone)
    assert fields["usage"]["by_role"]["reflect"]["cost_usd"] == pytest.approx(0.09001)


def test_money_is_kept_for_writing_the_answer(docs, monkeypatch) -> None:
    """A search that could go on stops while what is left still pays for the answer."""
    monkeypatch.setattr("suffice.state.run.USUAL_REPORT_TOKENS", 46_000)
    report, _ = run(docs, "reflect", "nothing", monkeypatch, max_cost_usd=0.0471)
    assert report.stop.reason == "budget_cost"
    assert "kept for writing" in report.stop.explanation
    assert report.usage.by_role["draft"].calls == 1
    assert "John Fowler" in report.final_answer
    assert report.usage.cost_usd < 0.0471
