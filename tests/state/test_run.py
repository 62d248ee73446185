"""The state of a run: plan and reflection, thin queries, compaction, failing searches, and short prompts."""

import asyncio

import pytest

from suffice.errors import ModelError, ModelOutputError
from suffice.events import PromptCompacted
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import build_meters
from suffice.prompts.planning import KeptNote, PlannedQuery, PlanResponse, ReflectionResponse
from suffice.state.run import RunState
from suffice.state.snapshot import snapshot_state
from suffice.strategies.reflect import ReflectStrategy
from suffice.testing import ScriptedModel, make_passage, make_search_error
from suffice.text.tokens import estimate_tokens
from suffice.types import Bounds, Failure, Hits, Query, Round, Usage

TASK = "Who built the bridge?"
NOTHING = ReflectionResponse(False, 0.1)


def make_run(script=None, *, bounds=Bounds(), usage=None, clock=None):
    model = ScriptedModel(script or {"reflect": [NOTHING]}, usage=usage)
    options = {"clock": clock} if clock else {}
    return RunState(TASK, model, TrajectoryMemory, run_id="r", bounds=bounds, **options), model


def admit_round(run, *outcomes):
    """Admit one round; each outcome is a query with its passages or with its error."""
    hits = []
    for text, found in outcomes:
        if isinstance(found, Exception):
            hits.append(Hits(Query(text), failure=Failure("search", type(found).__name__, str(found))))
        else:
            hits.append(Hits(Query(text), tuple(found)))
    raw = {hit.id: hit for one in hits for hit in one.passages}
    round = Round(len(run.records) + 1, tuple(hits), tuple(raw.values()), tuple(raw.values()))
    run.record_searches(round)
    run.readings.append({})
    asyncio.run(run.admit(round))
    return round


def make_passages(count, text="Ada built the bridge.", first=0):
    return [make_passage(f"p{n}", text, f"Page {n}") for n in range(first, first + count)]


def compactions(run):
    return [event for event in run.event_queue.drain() if isinstance(event, PromptCompacted)]


# -- plan and reflection -------------------------------------------------------------------------------------------------


def test_the_plan_is_asked_once():
    run, model = make_run({"plan": [PlanResponse((PlannedQuery("a", "why"),)), PlanResponse((PlannedQuery("b"),))]})
    assert asyncio.run(run.plan()) is asyncio.run(run.plan())
    assert len(model.prompts) == 1


@pytest.mark.parametrize("error", [ModelError("no plan"), ModelOutputError("not JSON")])
def test_without_a_plan_the_task_is_the_query(error):
    run, _ = make_run({"plan": [error]})
    assert [planned.query for planned in asyncio.run(run.plan()).queries] == [TASK]
    assert [(failure.where, failure.kind) for failure in run.error_log] == [("plan", type(error).__name__)]


def test_an_empty_plan_is_not_an_error():
    run, _ = make_run({"plan": [PlanResponse((), "deep")]})
    plan = asyncio.run(run.plan())
    assert [planned.query for planned in plan.queries] == [TASK]
    assert plan.complexity == "deep"
    assert run.error_log == []


@pytest.mark.parametrize(("queries", "most"), [(None, 5), (4, 3), (1, 1)])
def test_a_plan_is_asked_for_as_many_queries_as_are_run_beside_the_task(queries, most):
    planned = tuple(PlannedQuery(f"bridge {n}") for n in range(most))
    run, model = make_run({"plan": [PlanResponse(planned)]}, bounds=Bounds(queries=queries))
    first = asyncio.run(ReflectStrategy().propose(run))
    assert model.prompts[0].most == most
    assert len(first) == (queries or most + 1)


def test_where_everything_is_read_no_queries_are_asked_for():
    run, model = make_run({"plan": [PlanResponse((), form="research")]})
    run.scope_files = ("a.md (1 kB)",)
    assert asyncio.run(run.plan(searches=False)).form == "research"
    prompt = model.prompts[0].render()
    assert "give no queries" in prompt
    assert "a.md (1 kB)" in prompt, "the plan says what the answer deals with"
    assert not any(words in prompt for words in ("Write up to", "counts as a query"))


def test_a_reflection_that_fails_is_logged_and_unknown():
    run, _ = make_run({"reflect": [ReflectionResponse(True, 0.9), ModelError("dizzy", retryable=True)]})
    admit_round(run, ("one", make_passages(3)))
    assert asyncio.run(run.reflect()).sufficient
    second = admit_round(run, ("two", make_passages(3, first=3)))
    meters = build_meters(frozenset({"sufficiency.model"}))
    readings = asyncio.run(meters.read_live("after", second, run))
    assert (readings["sufficiency.model"], readings["confidence.answer"]) == (None, None)
    assert run.sufficient is None
    assert [(failure.where, failure.retryable) for failure in run.error_log] == [("reflect", True)]


def test_the_next_reflection_gets_the_thin_queries_once():
    run, model = make_run()
    admit_round(
        run, ("thin one", make_passages(2)), ("rich one", make_passages(3, first=2)), ("dead one", make_search_error())
    )
    asyncio.run(run.reflect())
    assert model.prompts[0].thin == ("thin one",)
    assert "thin one" in model.prompts[0].render()
    admit_round(run, ("rich two", make_passages(3, first=9)))
    asyncio.run(run.reflect())
    assert model.prompts[1].thin == ()
    assert snapshot_state(run)["failed_queries"] == ["thin one"]


def test_thin_queries_survive_a_failed_reflection():
    run, model = make_run({"reflect": [ModelError("dizzy"), NOTHING]})
    admit_round(run, ("thin one", make_passages(1)))
    asyncio.run(run.reflect())
    admit_round(run, ("rich", make_passages(3, first=5)))
    asyncio.run(run.reflect())
    assert model.prompts[1].thin == ("thin one",)


def test_a_reflection_sees_the_queries_and_the_follow_ups():
    run, model = make_run()
    admit_round(run, ("who built it", [make_passage("x", "Ada Stone built the bridge in Graz.", "The bridge")]))
    asyncio.run(run.reflect())
    assert model.prompts[0].asked == ("who built it",)
    assert any("Ada Stone" in lead for lead in model.prompts[0].leads)
    assert 1 <= len(model.prompts[0].leads) <= model.prompts[0].most <= 3


def test_a_reflection_is_asked_for_no_more_queries_than_are_left():
    run, model = make_run(bounds=Bounds(queries=3))
    admit_round(run, ("one", make_passages(3)), ("two", make_passages(3)))
    asyncio.run(run.reflect())
    assert model.prompts[0].most == 1


# -- compaction ----------------------------------------------------------------------------------------------------------

LONG = "Ada built the bridge of stone. " + "Much more could be said about the weather of that day. " * 30


def test_nothing_is_compacted_while_there_is_room():
    run, _ = make_run(bounds=Bounds(tokens=100_000))
    admit_round(run, ("one", make_passages(5, LONG)))
    assert all(note.whole for note in run.render_notes())
    assert compactions(run) == []


def test_a_token_budget_under_a_quarter_compacts():
    run, _ = make_run({"reflect": [NOTHING]}, bounds=Bounds(tokens=10_000), usage=Usage(1, 8_000, 0))
    admit_round(run, ("one", make_passages(10, LONG)))
    asyncio.run(run.reflect())
    assert compactions(run) == []
    notes = run.render_notes()
    (event,) = compactions(run)
    assert "2000 of 10000" in event.why
    assert event.whole == sum(note.whole for note in notes) < 10
    assert event.whole + event.shortened == 10
    assert notes[-1].whole
    assert notes[-1].text == LONG
    assert all(note.handles for note in notes)
    assert [note.text for note in notes if not note.whole] == ["Ada built the bridge of stone."] * (
        len(notes) - event.whole
    )
    assert sum(estimate_tokens(note.text) for note in notes) <= 1000


def test_exactly_a_quarter_of_the_budget_does_not_compact():
    run, _ = make_run({"reflect": [NOTHING]}, bounds=Bounds(tokens=10_000), usage=Usage(1, 7_500, 0))
    admit_round(run, ("one", make_passages(10, LONG)))
    asyncio.run(run.reflect())
    run.render_notes()
    assert compactions(run) == []


def test_evidence_over_fifty_thousand_tokens_compacts():
    huge = "Ada built the bridge of stone. " + "The weather of that day was fair. " * 600
    run, _ = make_run()
    admit_round(run, ("one", make_passages(12, huge)))
    notes = run.render_notes()
    (event,) = compactions(run)
    assert "50000 tokens" in event.why
    assert sum(estimate_tokens(note.text) for note in notes) <= 50_000
    assert notes[-1].whole
    assert len(run.evidence) == 12, "the record keeps everything"
    assert [note.handles for note in notes] == [(f"[{n}]",) for n in range(1, 13)]


def test_a_spent_budget_still_shows_something():
    run, _ = make_run({"reflect": [NOTHING]}, bounds=Bounds(tokens=1_000), usage=Usage(1, 5_000, 0))
    admit_round(run, ("one", make_passages(3, LONG)))
    asyncio.run(run.reflect())
    assert run.render_notes()


def test_the_prompt_does_not_grow_with_the_rounds():
    """What a step shows the model does not grow with the number of rounds."""
    run, model = make_run()
    lengths = {}
    for n in range(400):
        admit_round(run, (f"query number {n:04d}", [make_passage(f"p{n:04d}", LONG, f"Page {n:04d}")]))
        if n + 1 in (300, 400):
            asyncio.run(run.reflect())
            lengths[n + 1] = estimate_tokens(model.prompts[-1].render())
    assert len(run.evidence) == 400
    assert lengths[300] <= 52_000
    assert lengths[400] <= 52_000
    assert len(model.prompts[-1].asked) <= 30, "not every query ever asked is repeated in the prompt"


def test_a_low_budget_keeps_the_prompt_of_a_late_round_short():
    run, model = make_run(bounds=Bounds(tokens=8_000), usage=Usage(1, 6_500, 0))
    asyncio.run(run.reflect())
    for n in range(300):
        admit_round(run, (f"query number {n:04d}", [make_passage(f"p{n:04d}", LONG, f"Page {n:04d}")]))
    asyncio.run(run.reflect())
    assert sum(estimate_tokens(note.text) for note in model.prompts[-1].notes) <= 750


# -- failing searches, the state, what was spent ----------------------------------------------------------------------


def test_three_failures_in_a_row_over_rounds_degrade_the_search():
    run, _ = make_run()
    admit_round(run, ("a", make_search_error()))
    admit_round(run, ("b", make_search_error()))
    assert not run.searches.is_degraded
    admit_round(run, ("c", make_search_error()))
    assert run.searches.is_degraded


def test_a_success_resets_the_failures_in_a_row():
    run, _ = make_run()
    for n, found in enumerate([make_search_error(), make_search_error(), make_passages(3), make_search_error()]):
        admit_round(run, (f"q{n}", found))
        if n == 2:
            assert not run.searches.is_degraded
    assert run.searches.is_degraded, "three of four failed"


def test_half_of_at_least_four_searches_degrade_the_search():
    run, _ = make_run()
    admit_round(run, ("a", make_search_error()), ("b", make_passages(3)))
    assert not run.searches.is_degraded
    admit_round(run, ("c", make_passages(3)), ("d", make_search_error()))
    assert run.searches.is_degraded


def test_nothing_found_is_not_a_failure():
    run, _ = make_run()
    admit_round(run, *((f"q{n}", []) for n in range(6)))
    assert not run.searches.is_degraded
    assert run.error_log == []
    assert len(run.searches.thin_queries) == 6


def test_time_is_measured_from_the_start():
    now = [100.0]
    run, _ = make_run(bounds=Bounds(seconds=10), clock=lambda: now[0])
    assert (run.budget.seconds_used, run.budget.seconds_left) == (0.0, 10.0)
    now[0] = 104.0
    assert (run.budget.seconds_used, run.budget.seconds_left) == (4.0, 6.0)
    now[0] = 999.0
    assert run.budget.seconds_left == 0.0
    assert make_run()[0].budget.seconds_left is None


def test_readings_of_what_was_spent():
    run, _ = make_run({"reflect": [NOTHING]}, usage=Usage(1, 10, 5, 0.25))
    admit_round(run, ("one", make_passages(3)), ("two", make_search_error()))
    asyncio.run(run.reflect())
    spend = run.measure()
    assert spend["spend.rounds"] == 1
    assert spend["spend.queries"] == 2
    assert spend["spend.sources"] == 3
    assert spend["spend.tokens"] == 15
    assert spend["spend.usd"] == 0.25


def test_the_token_budget_in_the_state_is_what_is_left():
    run, _ = make_run({"reflect": [NOTHING]}, bounds=Bounds(tokens=100), usage=Usage(1, 50, 20))
    assert snapshot_state(run)["token_budget"] == 100
    asyncio.run(run.reflect())
    assert snapshot_state(run)["token_budget"] == 30
    assert snapshot_state(make_run()[0])["token_budget"] is None


def test_a_strong_model_is_shown_each_passage_once_with_its_notes_and_gaps():
    kept = KeptNote("Ada built the bridge.", "[1]")
    first = ReflectionResponse(False, 0.5, ("who paid for it",), notes=(kept,))
    run, model = make_run({"reflect": [first, ModelError("dizzy"), NOTHING]})
    run.is_strong = True
    admit_round(run, ("one", make_passages(1)))
    asyncio.run(run.reflect())
    admit_round(run, ("two", make_passages(1, "Karl paid for it.", first=1)))
    asyncio.run(run.reflect())
    admit_round(run, ("three", make_passages(1, "It is blue.", first=2)))
    asyncio.run(run.reflect())
    one, two, three = model.prompts
    assert [note.text for note in two.notes] == ["Karl paid for it."]
    assert (two.kept, two.gaps) == (("Ada built the bridge. [1]",), ("who paid for it",))
    assert [note.text for note in three.notes] == ["Karl paid for it.", "It is blue."], "the failed one did not see it"
    assert "shown each passage once" in one.render()
    run.is_strong, run._reflected_round = False, None
    asyncio.run(run.reflect())
    assert len(model.prompts[-1].notes) == 3
    assert "shown each passage" not in model.prompts[-1].render()
