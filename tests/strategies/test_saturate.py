"""Planned queries, then gap queries, and the quality floor of the gate."""

import asyncio

import pytest

from suffice.engine.loop import run_loop
from suffice.errors import ModelError
from suffice.gates.parse import parse_gate
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import build_meters
from suffice.models.extractive import ExtractiveModel
from suffice.prompts.planning import PlannedQuery, PlanResponse, ProposeQueryResponse
from suffice.state.run import RunState
from suffice.strategies.saturate import SaturateStrategy
from suffice.testing import FixtureSearch, ScriptedModel, WordSearch, make_passage

TASK = "Who built the bridge?"
GATE = "saturation.after(2).floor(1800)"
PLAN = PlanResponse((PlannedQuery("bridge builder", "who"), PlannedQuery("bridge date", "when"), PlannedQuery("third")))


def words(start, count=60):
    """Return a text that shares no word with that of another start."""
    return " ".join(f"w{start}x{n}" for n in range(count))


def fresh(n, long=True):
    return [make_passage(f"p{n}", words(n, 300 if long else 8), f"Page {n}")]


def ran(model, search, gate=GATE + " | budget(rounds=9)", task=TASK):
    run = RunState(task, model, TrajectoryMemory, run_id="r")
    stop = parse_gate(gate)

    async def main():
        meters = build_meters(stop.needs, task)
        await run_loop(run, search, SaturateStrategy(), stop, meters)
        return run.event_queue.drain()

    ended = asyncio.run(main())[-1].stop
    return [record.queries for record in run.records], run, ended


def scripted(*gaps, plan=PLAN):
    return ScriptedModel({"plan": [plan], "gap": list(gaps)})


def test_two_rounds_ask_planned_queries_and_later_ones_close_gaps():
    model = scripted(
        ProposeQueryResponse("gap one"), ProposeQueryResponse("gap two"), ProposeQueryResponse("gap three")
    )
    texts = ["bridge builder", "bridge date", "gap one", "gap two"]
    search = FixtureSearch({text: fresh(n) for n, text in enumerate(texts)}, default=fresh(3))
    rounds, run, ended = ran(model, search)
    assert rounds == [(text,) for text in [*texts, "gap three"]], "one query a round"
    assert ended.reason == "saturated"
    assert not run.records[-1].accepted, "a stale round is rejected"
    prompts = [prompt for prompt in model.prompts if prompt.role == "gap"]
    assert prompts[0].asked == ("bridge builder", "bridge date")
    assert prompts[0].temperature == 0.3
    assert prompts[0].max_tokens == 60
    assert any("w0x0" in note.text for note in prompts[0].known)


def test_the_gate_is_silent_for_two_rounds():
    same = fresh(0)
    _, run, ended = ran(scripted(ProposeQueryResponse("gap one")), FixtureSearch(default=same))
    assert len(run.records) == 3
    assert ended.round == 3


def test_with_too_little_text_one_broader_query_is_asked():
    same = fresh(0, long=False)
    gaps = [ProposeQueryResponse(f"gap {n}") for n in range(9)]
    rounds, run, ended = ran(scripted(*gaps), FixtureSearch(default=same))
    assert rounds[2:] == [("gap 0",), ("bridge builder overview background examples",)]
    assert ended.reason == "saturated"
    assert [record.accepted for record in run.records] == [True] * 4, "the round after a deferred stop is not judged"


def test_the_results_of_the_broader_query_are_kept():
    same = fresh(0, long=False)
    broader = "bridge builder overview background examples"
    _, run, ended = ran(scripted(ProposeQueryResponse("gap")), FixtureSearch({broader: fresh(7)}, default=same))
    assert "p7" in run.evidence
    assert ended.round == 4


def test_with_enough_text_no_broader_query_is_asked():
    rounds, _, _ = ran(scripted(ProposeQueryResponse("gap")), FixtureSearch(default=fresh(0)))
    assert not any("overview" in query for queries in rounds for query in queries)


def test_a_bound_overrides_the_floor():
    gaps = [ProposeQueryResponse("gap 0")]
    rounds, _, ended = ran(scripted(*gaps), FixtureSearch(default=fresh(0, long=False)), GATE + " | budget(rounds=3)")
    assert len(rounds) == 3
    assert ended.reason == "budget_rounds"


def test_without_queries_and_with_too_little_text_one_broader_query_is_asked():
    rounds, _, ended = ran(scripted(ProposeQueryResponse("")), FixtureSearch())
    assert [query for queries in rounds for query in queries] == [
        "bridge builder",
        "bridge date",
        "bridge builder overview background examples",
    ]
    assert ended.reason in ("planner_done", "saturated")


@pytest.mark.parametrize("gap", [ModelError("dizzy"), ProposeQueryResponse(""), ProposeQueryResponse("bridge date")])
def test_without_a_new_gap_query_follow_ups_are_asked(gap):
    found = [make_passage("a", "The bridge was built by Halloran Works. " + words(1, 300), "The bridge")]
    rounds, run, _ = ran(scripted(gap), FixtureSearch({"bridge builder": found}, default=fresh(5)))
    assert "Halloran Works" in rounds[2][0]
    assert bool(run.error_log) == isinstance(gap, Exception)


def test_without_a_plan_the_task_is_asked():
    model = ScriptedModel({"plan": [ModelError("no plan")], "gap": [ProposeQueryResponse("more")]})
    rounds, _, _ = ran(model, FixtureSearch(default=fresh(0)))
    assert rounds[:2] == [(TASK,), ("more",)]


def test_subtasks_complete_a_short_plan():
    plan = PlanResponse((PlannedQuery("one"),), subtasks=("history of the bridge",))
    rounds, _, _ = ran(scripted(ProposeQueryResponse("gap"), plan=plan), FixtureSearch(default=fresh(0)))
    assert rounds[:2] == [("one",), ("history of the bridge",)]


def test_the_gap_prompt_has_the_notes_of_the_plan():
    model = scripted(ProposeQueryResponse("gap"), plan=PlanResponse(PLAN.queries, notes="Prefer the archive."))
    ran(model, FixtureSearch(default=fresh(0)))
    assert next(prompt for prompt in model.prompts if prompt.role == "gap").part == "Prefer the archive."


def test_without_a_language_model_it_finds_the_second_hop():
    corpus = [
        make_passage("a", "The Halm Bridge was designed by Ida Voss.", "Halm Bridge"),
        make_passage("b", "Ida Voss was born in Graz in 1871.", "Ida Voss"),
        *(make_passage(f"x{n}", f"Noise number {n} about weather and fish.", f"Noise {n}") for n in range(6)),
    ]
    rounds, run, ended = ran(
        ExtractiveModel(), WordSearch(corpus), task="Where was the designer of the Halm Bridge born?"
    )
    assert {"a", "b"} <= {passage.id for passage in run.evidence}
    assert any("Ida Voss" in query for queries in rounds[1:] for query in queries)
    assert ended.reason in ("saturated", "planner_done")
