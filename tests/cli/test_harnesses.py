"""Every strategy from the command line, without a language model: its preset, its ending, what the help says."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from suffice import plugins
from suffice.engine.interventions import INTERVENTIONS
from suffice.engine.presets import PRESETS, list_strategies

QUESTION = "Who decoded the waggle dance of the honeybee?"
CAPS = {"ircot": 10, "react": 7, "memgpt": 12, "iterretgen": 4}


@pytest.mark.parametrize("strategy", list_strategies())
def test_every_strategy_answers(suffice: Callable, docs: Path, strategy: str) -> None:
    ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--strategy", strategy, "--json")
    report = json.loads(ended.out)
    assert ended.status == 0
    assert "waggle dance" in report["final_answer"]
    assert [source["id"] for source in report["sources"]] == ["[1]"]
    assert report["metadata"]["strategy"] == strategy


@pytest.mark.parametrize("memory", plugins.list_plugins("memories"))
def test_every_memory_can_be_chosen(suffice: Callable, docs: Path, memory: str) -> None:
    words = ("--strategy", "react", "--memory", memory, "--leads", "--json")
    report = json.loads(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, *words).out)
    assert report["metadata"]["preset"]["memory"] == memory
    assert "leads" in report["metadata"]["interventions"]
    assert "waggle dance" in report["final_answer"]


@pytest.mark.parametrize("strategy", CAPS)
def test_a_harness_finds_the_answer(suffice: Callable, docs: Path, strategy: str) -> None:
    ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--strategy", strategy)
    assert "Karl von Frisch decoded the dance in 1927." in " ".join(ended.out.split())


@pytest.mark.parametrize("strategy", CAPS)
@pytest.mark.parametrize("tier", ["simple", "deep"])
def test_a_harness_brings_its_own_cap(suffice: Callable, docs: Path, strategy: str, tier: str) -> None:
    words = ("--strategy", strategy, "--tier", tier, "--json")
    report = json.loads(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, *words).out)
    assert f"budget(rounds={CAPS[strategy]}, queries={2 * CAPS[strategy]}" in report["stop"]["expression"]
    assert report["stop"]["reason"] == (
        "planner_done" if len(report["stop"]["rounds"]) < CAPS[strategy] else "budget_rounds"
    )


def test_a_bound_that_somebody_set_beats_the_cap(suffice: Callable, docs: Path) -> None:
    words = ("--strategy", "ircot", "--max-rounds", 30, "--json")
    report = json.loads(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, *words).out)
    assert "rounds=30" in report["stop"]["expression"]


def test_a_gate_can_be_dropped_into_a_harness(suffice: Callable, docs: Path) -> None:
    words = ("--strategy", "memgpt", "--stop", "fixed(1)", "--json")
    report = json.loads(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, *words).out)
    assert (report["stop"]["reason"], len(report["stop"]["rounds"])) == ("budget_rounds", 1)


def test_the_help_lists_what_is_installed(suffice: Callable) -> None:
    for _ in range(2):
        shown = " ".join(suffice("ask", "--help").out.split())
        assert f"How to search: {', '.join(list_strategies())}." in shown
        assert f"What to remember: {', '.join(plugins.list_plugins('memories'))}." in shown
        assert f"A remedy; may be repeated: {', '.join(INTERVENTIONS)}." in shown


def test_every_preset_names_parts_that_exist() -> None:
    for preset in PRESETS.values():
        assert plugins.load_plugin("strategies", preset.strategy)
        assert plugins.load_plugin("memories", preset.memory)
