"""Strategies, memories and interventions at the command line, without a language model."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from suffice import plugins
from suffice.engine.interventions import INTERVENTIONS
from suffice.engine.presets import PRESETS, list_strategies

QUESTION = "Who decoded the waggle dance of the honeybee?"
ROUND_LIMITS = {"ircot": 10, "react": 7, "memgpt": 12, "iterretgen": 4}


@pytest.mark.parametrize("strategy", list_strategies())
def test_every_strategy_answers(suffice: Callable, docs: Path, strategy: str) -> None:
    alpha = 0.5 if strategy == "survey" else 1
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", alpha, "--strategy", strategy, "--json")
    report = json.loads(result.out)
    assert result.status == 0
    assert "waggle dance" in report["final_answer"]
    assert [source["id"] for source in report["sources"]] == ["[1]"]
    assert report["metadata"]["strategy"] == strategy


def test_a_survey_needs_vectors(suffice: Callable, docs: Path) -> None:
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--strategy", "survey")
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert "--alpha" in result.err


@pytest.mark.parametrize("memory", plugins.list_plugins("memories"))
def test_a_survey_runs_with_every_memory(suffice: Callable, docs: Path, memory: str) -> None:
    result = suffice("ask", QUESTION, "--docs", docs, "--strategy", "survey", "--memory", memory, "--json")
    assert result.status == 0
    assert "waggle dance" in json.loads(result.out)["final_answer"]


@pytest.mark.parametrize("memory", plugins.list_plugins("memories"))
def test_every_memory_can_be_chosen(suffice: Callable, docs: Path, memory: str) -> None:
    words = ("--strategy", "react", "--memory", memory, "--with", "leads", "--json")
    report = json.loads(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, *words).out)
    assert report["metadata"]["preset"]["memory"] == memory
    assert "leads" in report["metadata"]["interventions"]
    assert "waggle dance" in report["final_answer"]


@pytest.mark.parametrize("strategy", ROUND_LIMITS)
def test_a_strategy_with_its_own_ending_finds_the_answer(suffice: Callable, docs: Path, strategy: str) -> None:
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--strategy", strategy)
    assert "Karl von Frisch decoded the dance in 1927." in " ".join(result.out.replace("**", "").split())


@pytest.mark.parametrize("strategy", ROUND_LIMITS)
@pytest.mark.parametrize("tier", ["simple", "deep"])
def test_a_strategy_brings_its_own_round_limit(suffice: Callable, docs: Path, strategy: str, tier: str) -> None:
    words = ("--strategy", strategy, "--tier", tier, "--json")
    report = json.loads(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, *words).out)
    assert (
        f"budget(rounds={ROUND_LIMITS[strategy]}, queries={2 * ROUND_LIMITS[strategy]}" in report["stop"]["expression"]
    )
    assert report["stop"]["reason"] == (
        "planner_done" if len(report["stop"]["rounds"]) < ROUND_LIMITS[strategy] else "budget_rounds"
    )


def test_an_option_overrides_the_round_limit_of_a_strategy(suffice: Callable, docs: Path) -> None:
    words = ("--strategy", "ircot", "--max-rounds", 30, "--json")
    report = json.loads(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, *words).out)
    assert "rounds=30" in report["stop"]["expression"]


def test_a_stop_rule_can_be_added_to_a_strategy(suffice: Callable, docs: Path) -> None:
    words = ("--strategy", "memgpt", "--stop", "fixed(1)", "--json")
    report = json.loads(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, *words).out)
    assert (report["stop"]["reason"], len(report["stop"]["rounds"])) == ("budget_rounds", 1)


def test_help_lists_the_installed_parts(suffice: Callable) -> None:
    for _ in range(2):
        shown = " ".join(suffice("ask", "--help-all").out.split())
        assert f"One of: {', '.join(list_strategies())}." in shown
        assert f"One of: {', '.join(plugins.list_plugins('memories'))}." in shown
        assert f"One of: {', '.join(INTERVENTIONS)}." in shown


def test_every_preset_names_existing_parts() -> None:
    for preset in PRESETS.values():
        assert plugins.load_plugin("strategies", preset.strategy)
        assert plugins.load_plugin("memories", preset.memory)


FILM_PAGES = {
    "film.md": "# The Silver Lamp\n\nThe director of The Silver Lamp was Ada Lind. It was shown in 1954.\n",
    "lind.md": "# Ada Lind\n\nAda Lind was a director. Ada Lind was born in Graz.\n",
    "rain.md": "# Weather\n\nIt rained for forty days in the north.\n",
}
FILM_QUESTION = "Where was the director of The Silver Lamp born?"


@pytest.fixture
def film(tmp_path):
    folder = tmp_path / "film"
    folder.mkdir()
    for name, text in FILM_PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("memory", ["freeform", "structured", "rolling", "lobotomized", "trajectory"])
def test_open_questions_are_answered_and_the_trace_shows_the_belief(suffice, film, memory, tmp_path):
    trace = tmp_path / "run.jsonl"
    options = ["--strategy", "predicates", "--memory", memory, "--alpha", "1", "-k", "1", "--trace", trace, "--json"]
    result = suffice("ask", FILM_QUESTION, "--docs", film, "--model", "extractive", *options)
    assert result.status == 0, result.err
    report = json.loads(result.out)
    assert "Ada Lind" in report["final_answer"]
    assert report["metadata"]["preset"]["memory"] == memory
    rounds = [event for event in map(json.loads, trace.read_text().splitlines()) if event["type"] == "round"]
    assert all(set(event["belief"]) == {"notes", "open"} for event in rounds)
    assert rounds[-1]["readings"]["belief.open"] == len(rounds[-1]["belief"]["open"])
    assert suffice("explain", trace).status == 0


def test_interventions_are_shown_in_the_stop_rule(suffice, film):
    options = [
        "--with",
        "gap_aware",
        "--with",
        "resample",
        "--strategy",
        "reflect",
        "--stop",
        "exhaustion",
        "--alpha",
        "1",
    ]
    result = suffice("ask", FILM_QUESTION, "--docs", film, "--model", "extractive", *options, "--json")
    assert result.status == 0, result.err
    report = json.loads(result.out)
    assert report["metadata"]["interventions"] == ["gap_aware", "resample"]
    assert report["stop"]["expression"].startswith("exhaustion.gap_aware(0).resample(1) | budget(")


def test_an_unknown_intervention_is_named_with_the_known_ones(suffice, film):
    result = suffice("ask", FILM_QUESTION, "--docs", film, "--with", "magic")
    assert result.status == 2
    assert "'magic'" in result.err
    assert ", ".join(INTERVENTIONS) in result.err


TOWN = """The Halm Bridge spans the river Mur. It was designed by Ida Voss and opened in 1902.

Ida Voss was an engineer born in Graz. She studied in Zurich and later taught there.
"""
FARM = "Apple trees are grafted in spring. A graft is a twig joined to another tree's root.\n"


@pytest.fixture
def town(tmp_path):
    folder = tmp_path / "town"
    folder.mkdir()
    (folder / "bridge.md").write_text(TOWN.split("\n\n")[0], encoding="utf-8")
    (folder / "voss.md").write_text(TOWN.split("\n\n")[1], encoding="utf-8")
    (folder / "farm.txt").write_text(FARM, encoding="utf-8")
    return folder


@pytest.mark.parametrize("alpha", ["0.5", "1"])
@pytest.mark.parametrize("strategy", ["saturate", "outline"])
def test_a_strategy_explains_why_it_stopped(suffice, town, strategy, alpha):
    question = "Where was the designer of the Halm Bridge born?"
    result = suffice(
        "ask", question, "--docs", town, "--strategy", strategy, "--alpha", alpha, "--model", "extractive", "--json"
    )
    assert result.status == 0, result.err
    report = json.loads(result.out)
    assert "Ida Voss" in report["final_answer"]
    assert report["metadata"]["preset"]["strategy"] == strategy
    assert report["stop"]["explanation"]
    assert all(claim["support"] == "supported" for claim in report["claims"])
    assert all(record["readings"]["evidence.chars"] is not None for record in report["stop"]["rounds"])


def test_an_outline_covers_both_topics(suffice, town):
    result = suffice(
        "ask", "Compare the Halm Bridge with Ida Voss", "--docs", town, "--strategy", "outline", "--model", "extractive"
    )
    assert result.status == 0, result.err
    assert "Halm Bridge" in result.out
    assert "Ida Voss" in result.out
