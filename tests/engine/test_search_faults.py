"""An empty answer, a refusal, a failure and a bug are different in types, in events and in how a run stops."""

import pytest
from bridge_story import PASSAGES, TASK, asking, kinds, model, outcome, plan, play, setup
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import InputError, SearchRefused
from suffice.events import Failed, RoundDone
from suffice.prompts.planning import PlannedQuery, ReflectionResponse
from suffice.testing import FixtureSearch, ScriptedModel, make_passage, make_search_error
from suffice.types import Bounds

FUTILE = ("saturated", "exhausted", "diminished", "planner_done")
GATES = ["saturation", "exhaustion", "gain", "worth", "unseen", "saturation | exhaustion | worth"]
NOTHING = ReflectionResponse(False, 0.1, ("everything",))
FAULTS = [make_search_error(), SearchRefused("the key is wrong"), ZeroDivisionError("oh"), TypeError()]


def more(*queries):
    return ReflectionResponse(False, 0.1, ("more",), tuple(map(PlannedQuery, queries)))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("gate", GATES)
def test_a_search_that_never_answers_is_unavailable_after_three_failures(gate, fault):
    search = FixtureSearch(default=fault)
    report = outcome(setup(model(reflects=[asking()]), search, gate, bounds=Bounds(rounds=20)))
    assert report.stop.reason == "search_unavailable"
    assert (report.status, report.final_answer) == ("failed", "")
    assert len(search.queries) == 3
    assert {failure.kind for failure in report.error_log} == {type(fault).__name__}
    assert report.failed_queries == ()


def test_the_only_search_failed_and_there_is_nothing_else_to_ask():
    report = outcome(setup(model(reflects=[NOTHING]), FixtureSearch(default=SearchRefused("the key is wrong"))))
    assert (report.stop.reason, report.status) == ("search_unavailable", "failed")
    assert "the key is wrong" in report.stop.explanation


@pytest.mark.parametrize("gate", GATES)
def test_empty_answers_are_not_failures(gate):
    report = outcome(setup(model(reflects=[asking()]), FixtureSearch(), gate, bounds=Bounds(rounds=6)))
    assert report.stop.reason != "search_unavailable"
    assert report.status == "no_evidence"
    assert not report.degraded_mode
    assert report.error_log == ()
    assert len(report.failed_queries) == len(report.stop.rounds)


def test_evidence_from_before_the_failure_is_used_for_the_answer():
    search = FixtureSearch({TASK: PASSAGES[:2]}, default=SearchRefused("the plan is used up"))
    report = outcome(setup(model(reflects=[asking()]), search, bounds=Bounds(rounds=20)))
    assert (report.stop.reason, report.status, report.degraded_mode) == ("search_unavailable", "partial", True)
    assert "Search was limited" in report.final_answer
    assert "the plan is used up" in report.stop.explanation


def test_nothing_new_from_the_one_search_that_answered_is_not_saturation():
    """Three of four searches failed, so that nothing new came is no sign of saturation."""
    found = {"one": PASSAGES[:1], "two": make_search_error(), "three": make_search_error(), "four": make_search_error()}
    scripted = model(plans=[plan("start")], reflects=[more("one", "two", "three", "four")])
    events = play(
        setup(scripted, FixtureSearch({"start": PASSAGES[:1], **found}), "saturation", bounds=Bounds(rounds=9))
    )
    assert events[-1].report.stop.reason == "search_unavailable"


def test_a_bug_in_a_search_is_recorded_and_the_run_continues():
    search = FixtureSearch({"one": ZeroDivisionError("division by zero")}, default=PASSAGES[:3])
    events = play(setup(model(plans=[plan("one", "two")], reflects=[NOTHING]), search))
    report = events[-1].report
    assert report.status == "answered"
    [failure] = [event.failure for event in kinds(events, Failed)]
    assert (failure.kind, failure.retryable) == ("ZeroDivisionError", False)
    assert "division by zero" in failure.message


def test_an_input_error_of_a_search_is_raised():
    with pytest.raises(InputError, match="no such place"):
        play(setup(model(), FixtureSearch(default=InputError("no such place"))))


def test_without_scores_the_first_results_of_all_queries_come_first():
    found = {name: [make_passage(f"{name}{n}", f"{name} text number {n}") for n in range(3)] for name in ("one", "two")}
    scripted = model(plans=[plan("one", "two")], reflects=[NOTHING])
    events = play(setup(scripted, FixtureSearch(found), per_round=4))
    done = kinds(events, RoundDone)[0]
    assert [new.id for new in done.round.new] == ["one0", "two0", "one1", "two1"]


@given(
    st.lists(st.sampled_from(["found", "empty", "refused", "failed", "bug"]), min_size=1, max_size=14),
    st.sampled_from(GATES),
)
def test_any_mix_of_search_outcomes_ends_with_the_right_reason(outcomes, gate):
    happens = {"found": PASSAGES[:2], "empty": [], "refused": FAULTS[1], "failed": FAULTS[0], "bug": FAULTS[2]}
    found = {f"query {n}": happens[name] for n, name in enumerate(outcomes)}
    asks = [more(f"query {n}") for n in range(1, len(outcomes))]
    scripted: ScriptedModel = model(plans=[plan("query 0")], reflects=[*asks, NOTHING])
    search = FixtureSearch(found)
    report = outcome(setup(scripted, search, gate, bounds=Bounds(rounds=20)))
    seen = [dict(zip(found, outcomes, strict=True)).get(query, "empty") for query in search.queries]
    wrong = [name in ("refused", "failed", "bug") for name in seen]
    assert len(report.error_log) == sum(wrong)
    broken = wrong[-3:] == [True] * 3 or (len(wrong) >= 4 and 2 * sum(wrong) >= len(wrong))
    assert report.degraded_mode == broken
    if broken or all(wrong):
        assert report.stop.reason not in FUTILE
    if "found" not in seen:
        assert report.status == ("failed" if report.stop.reason == "search_unavailable" else "no_evidence")
