"""Which gate and which bounds apply to a run."""

import pytest
from bridge_story import ENOUGH, PASSAGES, asking, kinds, model, outcome, plan, play, roles, setup

from suffice.errors import ModelError
from suffice.events import Started
from suffice.testing import FixtureSearch, ScriptedModel
from suffice.types import Bounds


def test_stop_replaces_the_presets_gate_entirely():
    the_model = model(reflects=[asking(sufficient=True)])
    report = outcome(setup(the_model, stop="fixed(3)"))
    assert (report.stop.reason, report.stop.round) == ("budget_rounds", 3)
    assert "sufficiency" not in report.stop.expression


def test_without_sufficiency_the_search_continues_while_queries_are_left():
    """A reflection without queries must not end a run whose gate does not need the model."""
    report = outcome(setup(model(reflects=[ENOUGH]), stop="fixed(3)", k=1))
    assert (report.stop.reason, report.stop.round) == ("budget_rounds", 3)


def bounds_of(chosen):
    return kinds(play(chosen), Started)[0].bounds


class Remote(ScriptedModel):
    local = False


@pytest.mark.parametrize(
    ("tier", "limits"),
    [("simple", (2, 3, 5, 60, 20_000)), ("standard", (5, 10, 15, 90, 60_000)), ("deep", (10, 15, 20, 120, 150_000))],
)
def test_tiers(tier, limits):
    started = bounds_of(setup(model(reflects=[ENOUGH], kind=Remote), tier=tier))
    assert started == dict(zip(("rounds", "queries", "sources", "seconds", "tokens"), limits, strict=True))


@pytest.mark.parametrize("complexity", ["simple", "standard", "deep"])
def test_tier_auto_is_chosen_by_the_plan(complexity):
    planned = plan("one thing", "two thing", "three thing", "four thing", complexity=complexity)
    the_model = model(plans=[planned], reflects=[asking()], kind=Remote)
    search = FixtureSearch(default=PASSAGES)
    events = play(setup(the_model, search, tier="auto"))
    limits = kinds(events, Started)[0].bounds
    rounds = {"simple": 2, "standard": 5, "deep": 10}[complexity]
    assert limits["rounds"] == rounds
    assert len(search.queries) <= limits["queries"]
    assert roles(the_model).count("plan") == 1


def test_tier_auto_without_a_plan_is_standard():
    assert bounds_of(setup(model(plans=[ModelError("no plan")], reflects=[ENOUGH]), tier="auto"))["rounds"] == 5


def test_a_bound_overrides_the_cap_which_overrides_the_tier():
    the_model = model(reflects=[ENOUGH], kind=Remote)
    chosen = setup(the_model, bounds=Bounds(rounds=7), cap=Bounds(rounds=4, queries=6), tier="simple")
    assert bounds_of(chosen) == {"rounds": 7, "queries": 6, "sources": 5, "seconds": 60, "tokens": 20_000}


def test_a_local_model_has_no_time_limit_unless_one_is_set():
    assert "seconds" not in bounds_of(setup(model(reflects=[ENOUGH])))
    assert bounds_of(setup(model(reflects=[ENOUGH]), bounds=Bounds(seconds=30)))["seconds"] == 30
