"""The first open question is asked, together with names that were found on the way to it."""

import asyncio

import pytest

from suffice import budget, predicates
from suffice.api import research
from suffice.engine.loop import run_loop
from suffice.engine.presets import get_preset
from suffice.errors import ModelError
from suffice.memory.freeform import FreeformMemory
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import build_meters
from suffice.models.extractive import ExtractiveModel
from suffice.prompts.belief import ExtractedFact, Extraction
from suffice.prompts.lab import NotesResponse
from suffice.prompts.planning import PlannedQuery, PlanResponse
from suffice.state.run import RunState
from suffice.strategies.predicates import PredicatesStrategy
from suffice.testing import FixtureSearch, ScriptedModel, WordSearch, make_passage

TASK = "Where was the director of The Silver Lamp born?"
WHO, WHERE = "Who directed The Silver Lamp?", "Where was the director born?"
PLAN = PlanResponse((PlannedQuery(WHO, "who"), PlannedQuery(WHERE, "where")))
FILM = make_passage("film", "The director of The Silver Lamp was Ada Lind.", "The Silver Lamp")
ADA = make_passage("ada", "Ada Lind was born in Graz.", "Ada Lind")
FOUND_WHO = Extraction((ExtractedFact(FILM.text, ("[1]",), WHO),), (WHO,))
FOUND_WHERE = Extraction((ExtractedFact(ADA.text, ("[2]",), WHERE),), (WHERE,))


def searched(script, memory=FreeformMemory, *, rounds=6, found=None):
    search = found or FixtureSearch({f"{WHERE} Ada Lind": [ADA]}, default=[FILM])
    run = RunState(TASK, ScriptedModel(script), memory, run_id="r")
    gate = predicates() | budget(rounds=rounds)

    async def main():
        await run_loop(run, search, PredicatesStrategy(), gate, build_meters(gate.needs))
        return run.event_queue.drain()

    return run, asyncio.run(main())[-1].stop


def test_the_first_question_is_asked_with_the_bridge_until_none_is_open():
    notes = [NotesResponse(f"{FILM.text} [1]", (), (WHERE,)), NotesResponse(f"{FILM.text} [1] {ADA.text} [2]")]
    run, stop = searched({"plan": [PLAN], "notes": notes})
    assert [record.queries for record in run.records] == [(TASK, WHO), (f"{WHERE} Ada Lind",)]
    assert [readings["belief.open"] for readings in run.readings] == [1.0, 0.0]
    assert stop.reason == "sufficient"
    assert run.sufficient


def test_questions_are_closed_with_a_memory_without_facts():
    run, stop = searched(
        {"plan": [PLAN], "extract": [FOUND_WHO, FOUND_WHERE]},
        TrajectoryMemory,
        found=FixtureSearch({TASK: [FILM], WHO: [FILM]}, default=[ADA]),
    )
    assert stop.reason == "sufficient"
    assert run.open_questions.open == ()


def test_without_a_plan_the_parts_of_the_task_are_open():
    run, _ = searched({"plan": [ModelError("no")], "extract": [Extraction()]}, rounds=1)
    assert run.open_questions.open == ("The Silver Lamp", "director born")


def test_after_fruitless_questions_come_the_others_and_then_follow_ups():
    run, stop = searched({"plan": [PLAN], "extract": [Extraction()]}, rounds=5)
    asked = [record.queries for record in run.records]
    assert asked[0] == (TASK, WHO)
    assert asked[1][0].startswith(WHERE)
    assert stop.reason in ("planner_done", "budget_rounds")
    assert set(run.gaps) == {WHO, WHERE}


def test_a_failing_extractor_does_not_end_the_run():
    run, _ = searched({"plan": [PLAN], "notes": [ModelError("no")]}, rounds=3)
    assert len(run.records) == 3
    assert {failure.where for failure in run.error_log} == {"notes", "belief"}


def test_the_preset():
    chosen = get_preset("predicates")
    assert (chosen.strategy, chosen.memory, chosen.gate) == ("predicates", "freeform", "predicates | exhaustion")


@pytest.mark.parametrize("memory", ["freeform", "structured", "rolling", "lobotomized", "trajectory"])
def test_it_answers_without_a_language_model_with_every_memory(memory):
    noise = [make_passage(f"n{n}", f"It rained in town {n}.", f"Town {n}") for n in range(5)]
    search = WordSearch([FILM, ADA, *noise])
    report = asyncio.run(
        research(TASK, search=search, model=ExtractiveModel(), strategy="predicates", memory=memory, k=2)
    )
    assert report.status in ("answered", "partial")
    assert "Ada Lind" in report.final_answer
