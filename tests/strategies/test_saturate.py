"""Planned queries, then gap queries, and the quality floor."""

import asyncio

import pytest

from suffice.engine.loop import run_loop
from suffice.errors import ModelError
from suffice.gates.parse import parse_gate
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import build_meters
from suffice.models.extractive import ExtractiveModel
from suffice.prompts import PlannedQuery, PlanResponse, ProposeQueryResponse
from suffice.state.run import RunState
from suffice.strategies.saturate import SaturateStrategy
from suffice.testing import FixtureSearch, ScriptedModel, WordSearch, make_passage

TASK = "Who built the bridge?"
GATE = "saturation.after(2).floor(1800)"
PLAN = PlanResponse((PlannedQuery("bridge builder", "who"), PlannedQuery("bridge date", "when"), PlannedQuery("third")))


def words(start, count=60):
    """A text none of whose words any other start has."""
    return " ".join(f"w{start}x{n}" for n in range(count))


def fresh(n, long=True):
    return [make_passage(f"p{n}", words(n, 300 if long else 8), f"Page {n}")]


def ran(model, search, gate=GATE + " | budget(rounds=9)", task=TASK):
    run = RunState(task, model, TrajectoryMemory, run_id="r")
    stop = parse_gate(gate)

    async def main():
        meters = build_meters(stop.needs, task)
        return [event async for event in run_loop(run, search, SaturateStrategy(), stop, meters)]

    ended = asyncio.run(main())[-1].stop
    return [record.queries for record in run.records], run, ended


def scripted(*gaps, plan=PLAN):
    return ScriptedModel({"plan": [plan], "gap": list(gaps)})


def test_two_rounds_ask_what_was_planned_and_later_ones_close_gaps():
    model = scripted(
        ProposeQueryResponse("gap one"), ProposeQueryResponse("gap two"), ProposeQueryResponse("gap three")
    )
    texts = ["bridge builder", "bridge date", "gap one", "gap two"]
    search = FixtureSearch({text: fresh(n) for n, text in enumerate(texts)}, default=fresh(3))
    rounds, run, ended = ran(model, search)
    assert rounds == [(text,) for text in [*texts, "gap three"]], "one query a round"
    assert ended.reason == "saturated"
    assert not run.records[-1].accepted, "a stale round is refused"
    asks = [ask for ask in model.prompts if ask.role == "gap"]
    assert asks[0].asked == ("bridge builder", "bridge date")
    assert asks[0].temperature == 0.3
    assert asks[0].max_tokens == 60
    assert any("w0x0" in note.text for note in asks[0].known)


def test_the_gate_is_silent_for_two_rounds():
    same = fresh(0)
    _, run, ended = ran(scripted(ProposeQueryResponse("gap one")), FixtureSearch(default=same))
    assert len(run.records) == 3
    assert ended.round == 3


def test_too_little_text_is_searched_for_once_more_and_only_once():
    same = fresh(0, long=False)
    gaps = [ProposeQueryResponse(f"gap {n}") for n in range(9)]
    rounds, run, ended = ran(scripted(*gaps), FixtureSearch(default=same))
    assert rounds[2:] == [("gap 0",), ("bridge builder overview background examples",)]
    assert ended.reason == "saturated"
    assert [record.accepted for record in run.records] == [True] * 4, "the further search is not judged"


def test_the_further_search_is_kept_whatever_it_brings():
    same = fresh(0, long=False)
    broader = "bridge builder overview background examples"
    _, run, ended = ran(scripted(ProposeQueryResponse("gap")), FixtureSearch({broader: fresh(7)}, default=same))
    assert "p7" in run.evidence
    assert ended.round == 4


def test_enough_text_needs_no_further_search():
    rounds, _, _ = ran(scripted(ProposeQueryResponse("gap")), FixtureSearch(default=fresh(0)))
    assert not any("overview" in query for queries in rounds for query in queries)


def test_a_bound_beats_the_floor():
    gaps = [ProposeQueryResponse("gap 0")]
    rounds, _, ended = ran(scripted(*gaps), FixtureSearch(default=fresh(0, long=False)), GATE + " | budget(rounds=3)")
    assert len(rounds) == 3
    assert ended.reason == "budget_rounds"


def test_nothing_left_to_ask_with_too_little_text_asks_broader_once():
    rounds, _, ended = ran(scripted(ProposeQueryResponse("")), FixtureSearch())
    assert [query for queries in rounds for query in queries] == [
        "bridge builder",
        "bridge date",
        "bridge builder overview background examples",
    ]
    assert ended.reason in ("planner_done", "saturated")


@pytest.mark.parametrize("gap", [ModelError("dizzy"), ProposeQueryResponse(""), ProposeQueryResponse("bridge date")])
def test_without_a_new_gap_query_the_run_follows_its_leads(gap):
    found = [make_passage("a", "The bridge was built by Halloran Works. " + words(1, 300), "The bridge")]
    rounds, run, _ = ran(scripted(gap), FixtureSearch({"bridge builder": found}, default=fresh(5)))
    assert "Halloran Works" in rounds[2][0]
    assert bool(run.error_log) == isinstance(gap, Exception)


def test_a_failed_plan_asks_the_task_itself():
    model = ScriptedModel({"plan": [ModelError("no plan")], "gap": [ProposeQueryResponse("more")]})
    rounds, _, _ = ran(model, FixtureSearch(default=fresh(0)))
    assert rounds[:2] == [(TASK,), ("more",)]


def test_subtasks_fill_a_short_plan_except_those_that_only_put_together():
    plan = PlanResponse((PlannedQuery("one"),), subtasks=("Combine the findings", "history of the bridge"))
    rounds, _, _ = ran(scripted(ProposeQueryResponse("gap"), plan=plan), FixtureSearch(default=fresh(0)))
    assert rounds[:2] == [("one",), ("history of the bridge",)]


def test_the_plans_advice_reaches_the_gap_query():
    model = scripted(ProposeQueryResponse("gap"), plan=PlanResponse(PLAN.queries, notes="Prefer the archive."))
    ran(model, FixtureSearch(default=fresh(0)))
    assert next(ask for ask in model.prompts if ask.role == "gap").part == "Prefer the archive."


def test_without_a_language_model_it_hops_over_the_bridge():
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
