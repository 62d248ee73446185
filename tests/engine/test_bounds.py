"""Which gate and which bounds apply to a run."""

from dataclasses import asdict, replace

import pytest
from bridge_story import ENOUGH, PASSAGES, asking, kinds, model, outcome, plan, play, roles, setup

from suffice.engine.bounds import resolve_limits
from suffice.engine.presets import PRESETS
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


def default_run(stop, **options):
    return replace(setup(model(kind=Remote), stop=stop, **options), preset=PRESETS["auto"])


@pytest.mark.parametrize(
    ("tier", "limits"),
    [("simple", (2, 3, 5, 60, 20_000)), ("standard", (5, 10, 15, 90, 60_000)), ("deep", (10, 15, 20, 120, 150_000))],
)
def test_tiers(tier, limits):
    started = bounds_of(setup(model(reflects=[ENOUGH], kind=Remote), tier=tier))
    assert started == dict(zip(("rounds", "queries", "sources", "seconds", "tokens"), limits, strict=True))


def test_only_the_user_limits_how_many_sources_a_strong_model_is_shown():
    chosen = setup(model(reflects=[ENOUGH], kind=Remote), tier="deep")
    adapting = replace(chosen, preset=replace(chosen.preset, adapts=True))
    assert bounds_of(adapting) == {"rounds": 10, "queries": 15, "seconds": 120, "tokens": 150_000}
    assert bounds_of(replace(adapting, bounds=Bounds(sources=4)))["sources"] == 4


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


def test_a_limit_in_the_stop_expression_replaces_the_tiers():
    asked = model(reflects=[asking()], kind=Remote)
    report = outcome(setup(asked, FixtureSearch(default=PASSAGES), "budget(rounds=8)", bounds=Bounds(queries=99)))
    assert (report.stop.reason, report.stop.round) == ("budget_rounds", 8)
    assert "stop expression" not in report.stop.explanation  # The preset of this test has the gate as its own.
    assert "the strategy reflect" in report.stop.explanation


@pytest.mark.parametrize(
    ("stop", "limits"),
    [
        ("worth | budget(rounds=12, tokens=99)", {"rounds": 12, "queries": 10, "tokens": 99}),
        ("(worth | budget(rounds=12)).gap_aware() | fixed(7)", {"rounds": 7, "queries": 10, "tokens": 60_000}),
        ("worth & budget(rounds=12)", {"rounds": 5, "queries": 10, "tokens": 60_000}),  # It may never end a run.
        ("budget(seconds=3)", {"seconds": 3, "rounds": 5}),
    ],
)
def test_only_limits_that_end_a_run_replace_those_of_the_tier(stop, limits):
    found = resolve_limits(default_run(stop), "standard", is_strong=False)[0]
    assert limits.items() <= asdict(found).items()


def test_the_users_limit_and_that_of_the_stop_expression_both_count():
    for user, stop, rounds in ((3, 12, 3), (12, 3, 3)):
        config = default_run(f"budget(rounds={stop})", bounds=Bounds(rounds=user))
        assert resolve_limits(config, "deep", is_strong=False)[0].rounds == rounds


@pytest.mark.parametrize(
    ("change", "origin"),
    [
        ({"tier": "simple"}, "the tier simple (set another one with max_rounds)"),
        ({"cap": Bounds(rounds=2)}, "the strategy reflect (set another one with max_rounds)"),
        ({"bounds": Bounds(rounds=2)}, "max_rounds"),
        ({"bounds": Bounds(rounds=2), "environment_bounds": Bounds(rounds=2)}, "RESEARCH_MAX_ITERS"),
    ],
)
def test_a_limit_that_ends_a_run_is_named_with_its_origin(change, origin):
    asked = model(reflects=[asking()], kind=Remote)
    report = outcome(setup(asked, FixtureSearch(default=PASSAGES), **change))
    assert (report.stop.reason, report.stop.round) == ("budget_rounds", 2)
    assert f"the limit on rounds was reached: 2 of 2 rounds spent, a limit of {origin}." in report.stop.explanation


def test_a_limit_on_queries_is_named_too():
    asked = model(reflects=[asking()], kind=Remote)
    report = outcome(setup(asked, FixtureSearch(default=PASSAGES), "fixed(9)", bounds=Bounds(queries=3)))
    assert report.stop.reason == "budget_queries"
    assert "a limit of max_queries" in report.stop.explanation
