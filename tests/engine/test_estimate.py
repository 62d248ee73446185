"""The estimate before a run: from own runs if there are enough, else from those of the package, within the limits."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from suffice.api import estimate_research
from suffice.engine.estimate import MIN_RUNS, describe_estimate, estimate_run, load_figures, parse_log_row
from suffice.engine.presets import PRESETS
from suffice.options import RunOptions
from suffice.settings import TIERS

QUESTION = "How long is the notice period?"


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return tmp_path


def estimate(**options: Any) -> Any:
    given = {"docs": str(Path(__file__).parent), "model": "openai:gpt-5-mini", **options}
    return asyncio.run(estimate_research(QUESTION, RunOptions(**given)))


def write_log(folder: Path, count: int, **changes: Any) -> None:
    row = {
        "run": "r",
        "model": "openai:gpt-5-mini",
        "preset": "reflect",
        "tier": "standard",
        "rounds": 4,
        "searches": 8,
        "tokens_by_stage": {
            "plan": {"calls": 1, "input": 100, "output": 10},
            "reflect": {"calls": 4, "input": 4_000, "output": 40},
            "draft": {"calls": 1, "input": 1_000, "output": 500},
            "evaluate": {"calls": 1, "input": 700, "output": 70},
        },
        **changes,
    }
    (folder / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for _ in range(count)))


def test_every_strategy_but_the_survey_and_every_tier_has_recorded_runs() -> None:
    recorded = {(group["strategy"], group["tier"], group["writer"]) for group in load_figures()["groups"]}
    names = PRESETS.keys() - {"survey"}
    assert recorded == {(name, tier, writer) for name in names for tier in TIERS for writer in ("prose", "sentence")}
    assert load_figures()["made"]


def test_a_strategy_without_recorded_runs_is_estimated_by_those_of_all_others_and_says_so() -> None:
    found = estimate(strategy="survey")
    assert 0 < found.calls.low <= found.calls.high
    assert "with any strategy, because none is recorded with this one" in found.basis


def test_without_own_runs_the_recorded_ones_count_and_are_named() -> None:
    found = estimate(strategy="reflect")
    assert 0 < found.calls.low <= found.calls.typical <= found.calls.high
    assert found.usd is not None
    assert 0 < found.usd.low <= found.usd.high < 1
    assert load_figures()["made"] in found.basis
    assert "60,000 tokens" in describe_estimate(found)


def test_own_runs_with_the_same_model_strategy_and_tier_come_first(environment: Path) -> None:
    write_log(environment, MIN_RUNS)
    found = estimate(strategy="reflect")
    assert "of this machine" in found.basis
    assert (found.calls.typical, found.input_tokens.typical, found.searches.typical) == (7, 5_800, 8)
    assert "of this machine" not in estimate(strategy="outline").basis
    assert "of this machine" not in estimate(strategy="reflect", tier="deep").basis
    write_log(environment, MIN_RUNS - 1)
    assert "of this machine" not in estimate(strategy="reflect").basis


def test_limits_and_a_missing_review_make_it_cheaper(environment: Path) -> None:
    write_log(environment, MIN_RUNS)
    assert estimate(strategy="reflect", max_rounds=2).input_tokens.typical == 100 + 2_000 + 1_000 + 700
    assert estimate(strategy="reflect", review=False).calls.typical == 6
    capped = estimate(strategy="reflect", max_cost_usd=0.0001)
    assert capped.usd.high == 0.0001
    assert "0.0001 US dollars" in describe_estimate(capped)
    tokens = estimate(strategy="reflect", max_tokens=1_000)
    assert tokens.input_tokens.high + tokens.output_tokens.high <= 1_001


def test_without_a_language_model_nothing_is_paid() -> None:
    found = estimate(model="extractive")
    assert (found.calls.high, found.input_tokens.high) == (0, 0)
    assert "No model call is paid" in describe_estimate(found)


def test_an_unknown_price_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    found = estimate(model="openai:a-model-that-nobody-sells")
    assert found.usd is None
    assert "price is unknown" in describe_estimate(found)


def test_lines_of_other_versions_are_skipped(environment: Path) -> None:
    assert parse_log_row({"run": "old"}) is None
    assert parse_log_row({"tokens_by_stage": [], "rounds": 1, "searches": 1}) is None
    write_log(environment, MIN_RUNS, tokens_by_stage={"plan": {"calls": "many"}})
    assert "recorded runs" in estimate(strategy="reflect").basis


def test_nothing_is_asked_and_nothing_opened(environment: Path) -> None:
    """Neither a call of a model nor an index: the key is wrong and the folder stays as it was."""
    estimate(strategy="reflect")
    assert list(environment.iterdir()) == []


def test_a_strategy_without_recorded_runs_gets_those_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from suffice.api import prepare_run

    options = RunOptions(docs=str(Path(__file__).parent), model="openai:gpt-5-mini", alpha=1.0)

    async def work() -> Any:
        config = await prepare_run(QUESTION, options)
        config.metadata["strategy"] = "a plug-in's"
        return estimate_run(config)

    found = asyncio.run(work())
    assert "any strategy" in found.basis
    assert found.calls.high > 0
