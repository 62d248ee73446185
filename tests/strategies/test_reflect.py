"""Plan, search, reflect: which queries each round asks."""

import asyncio

from suffice import budget, sufficiency
from suffice.engine.loop import run_loop
from suffice.errors import ModelError
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import build_meters
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.state.run import RunState
from suffice.state.snapshot import snapshot_state
from suffice.strategies.reflect import ReflectStrategy
from suffice.testing import FixtureSearch, ScriptedModel, make_passage, make_search_error

FOUND = [
    make_passage("a", "The bridge was built by Halloran Works.", "The bridge"),
    make_passage("b", "Stone was cut in Graz.", "Stone"),
    make_passage("c", "It rained.", "Weather"),
]
PLAN = PlanResponse((PlannedQuery("bridge builder", "who"), PlannedQuery("bridge date", "when")))


def asked(reflections, *, found=None, plans=(PLAN,), rounds=3):
    search = found or FixtureSearch(default=FOUND)
    model = ScriptedModel({"plan": list(plans), "reflect": list(reflections)})
    run = RunState("Who built the bridge?", model, TrajectoryMemory, run_id="r")
    gate = sufficiency() | budget(rounds=rounds)

    async def main():
        await run_loop(run, search, ReflectStrategy(), gate, build_meters(gate.needs))
        return run.event_queue.drain()

    events = asyncio.run(main())
    return [record.queries for record in run.records], run, model, events[-1].stop


def test_question_and_plan_make_the_first_round_and_reflection_every_later_one():
    reflections = [
        ReflectionResponse(False, 0.2, ("who",), (PlannedQuery("Halloran Works founder", "who led the builders"),)),
        ReflectionResponse(False, 0.3, ("who",), (PlannedQuery("Ida Halloran"), PlannedQuery("Graz stone"))),
        ReflectionResponse(True, 0.9),
    ]
    rounds, run, model, stop = asked(reflections, rounds=9)
    first = ("Who built the bridge?", "bridge builder", "bridge date")
    assert rounds == [first, ("Halloran Works founder",), ("Ida Halloran", "Graz stone")]
    assert [prompt.role for prompt in model.prompts].count("plan") == 1, "the plan is made once"
    assert snapshot_state(run)["query_intents"]["Halloran Works founder"] == "who led the builders"
    assert stop.reason == "sufficient"


def test_without_a_plan_the_task_is_asked():
    rounds, run, _, _ = asked([ReflectionResponse(True, 0.9)], plans=[ModelError("no plan")])
    assert rounds == [("Who built the bridge?",)]
    assert run.error_log[0].where == "plan"


def test_without_a_reflection_follow_ups_are_asked():
    rounds, run, _, stop = asked([ModelError("dizzy")], rounds=3)
    assert len(rounds) == 3
    assert "Halloran Works" in " ".join(rounds[1])
    assert len(rounds[1]) == 1
    assert [failure.where for failure in run.error_log] == ["reflect"] * 3
    assert stop.reason == "budget_rounds"


def test_a_run_recovers_from_one_bad_reflection():
    rounds, _, _, stop = asked([ModelError("dizzy"), ReflectionResponse(True, 0.9)])
    assert len(rounds) == 2
    assert stop.reason == "sufficient"


def test_chunks_of_one_document_do_not_end_the_run_early():
    """Chunks of one file share a title; a follow-up of the first must not exclude the others."""
    chunks = [
        make_passage(f"doc#{n}", f"it is said that the bridge was built {n}", "handbook") for n in ("first", "last")
    ]
    other = make_passage("other", "Halloran Works did it.", "Works")
    found = FixtureSearch(default=[*chunks, other])
    rounds, _, _, stop = asked([ModelError("dizzy")], found=found, plans=[PlanResponse(())], rounds=3)
    assert stop.reason == "budget_rounds"
    assert len({query for queries in rounds for query in queries}) == 3


def test_the_reflection_gets_the_thin_queries():
    found = FixtureSearch({"bridge builder": FOUND[:1], "bridge date": make_search_error()}, default=FOUND)
    _, run, model, _ = asked(
        [ReflectionResponse(False, 0.2, (), (PlannedQuery("who made the bridge"),))], found=found, rounds=2
    )
    reflections = [prompt for prompt in model.prompts if prompt.role == "reflect"]
    assert reflections[0].thin == ("bridge builder",)
    assert run.searches.thin_queries == ["bridge builder"]


def test_three_empty_results_in_a_row_are_reworded():
    plan = PlanResponse(tuple(PlannedQuery(f"odd wording {n}") for n in range(3)))
    found = FixtureSearch({"plain wording": FOUND})

    def reword(prompt):
        return ReflectionResponse(not prompt.thin, 0.5, (), (PlannedQuery("plain wording"),) if prompt.thin else ())

    rounds, run, _, stop = asked([reword], found=found, plans=[plan])
    assert rounds[1] == ("plain wording",)
    assert run.searches.thin_queries == ["Who built the bridge?", *(f"odd wording {n}" for n in range(3))]
    assert not run.searches.is_degraded
    assert stop.reason == "sufficient"
