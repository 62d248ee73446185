"""Interventions: each works with any strategy, memory and gate."""

import asyncio
from dataclasses import replace

import pytest

from suffice import budget, exhaustion
from suffice.api import research
from suffice.engine.interventions import INTERVENTIONS, RunParts, apply_interventions
from suffice.engine.loop import run_loop
from suffice.errors import InputError, ModelError
from suffice.events import RoundDone
from suffice.memory.structured import StructuredMemory
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import build_meters
from suffice.models.extractive import ExtractiveModel
from suffice.prompts.base import TextResponse
from suffice.prompts.belief import ExtractedFact, Extraction
from suffice.prompts.planning import HypothesesResponse, Hypothesis, PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.state.run import RunState
from suffice.strategies.base import PassageSelector
from suffice.strategies.ircot import IRCoTStrategy
from suffice.strategies.outline import OutlineStrategy
from suffice.strategies.reflect import ReflectStrategy
from suffice.testing import FixtureSearch, ScriptedModel, WordSearch, make_passage
from suffice.types import RoundRecord

TASK = "Where was the director of The Silver Lamp born?"
WHO, WHERE = "Who directed The Silver Lamp?", "Where was the director born?"
PLAN = PlanResponse((PlannedQuery(WHO), PlannedQuery(WHERE)))
FILM = make_passage("film", "The director of The Silver Lamp was Ada Lind.", "The Silver Lamp")
ADA = make_passage("ada", "Ada Lind was born in Graz.", "Ada Lind")
RAIN = make_passage("rain", "It poured for weeks.", "Weather")
DONE = ReflectionResponse(True, 0.9)
DRAFT = SynthesisResponse("Ada Lind directed it [1].")


def ran(script, search, **options):
    events = []
    model = ScriptedModel({"plan": [PLAN], "draft": [DRAFT], "reflect": [DONE], **script})
    report = asyncio.run(research(TASK, search=search, model=model, on_event=events.append, **options))
    return report, [event for event in events if isinstance(event, RoundDone)], model


def test_gap_aware_continues_where_the_reflection_would_stop():
    script = {
        "extract": [
            Extraction((ExtractedFact(FILM.text, ("[1]",), WHO),), (WHO,)),
            Extraction((ExtractedFact(ADA.text, ("[2]",), WHERE),), (WHERE,)),
        ]
    }
    search = FixtureSearch({TASK: [FILM], WHO: [FILM], WHERE: [FILM]}, default=[ADA])
    early, rounds, _ = ran(script, search, strategy="reflect", memory="structured")
    assert (early.stop.reason, len(rounds)) == ("sufficient", 1)
    late, rounds, _ = ran(script, search, strategy="reflect", memory="structured", interventions=("gap_aware",))
    assert (late.stop.reason, len(rounds)) == ("sufficient", 2)
    assert rounds[0].belief.open == (WHERE,)
    assert any("open question" in leaf.because for leaf in rounds[0].verdict.leaves)


def test_entity_grounded_refuses_a_finding_about_another_person():
    wrong = make_passage("bo", "Bo Holm was born in Malmo.", "Bo Holm")
    script = {"extract": [Extraction((ExtractedFact(wrong.text, ("[1]",), WHERE),), (WHERE,))]}
    search = FixtureSearch(default=[wrong])
    options = {"strategy": "predicates", "memory": "structured", "max_iters": 1}
    _, (loose,), _ = ran(script, search, **options)
    _, (strict,), _ = ran(script, search, interventions=("entity_grounded",), **options)
    assert [note.text for note in loose.belief.notes] == [wrong.text]
    assert strict.belief.notes == ()
    assert WHERE in strict.belief.open
    assert WHERE not in loose.belief.open


def test_observation_filter_hides_unrelated_passages_from_the_memory():
    search = FixtureSearch(default=[FILM, RAIN])
    script = {"extract": [Extraction()]}
    report, (round,), _ = ran(
        script, search, strategy="reflect", memory="trajectory", max_iters=1, interventions=("observation_filter",)
    )
    assert [note.text for note in round.belief.notes] == [FILM.text]
    assert {passage.id for passage in round.round.new} == {"film", "rain"}, "the evidence keeps both"
    assert report.metadata["interventions"] == ["observation_filter"]


def test_the_state_difference_is_known_with_an_observation_filter():
    found = Extraction((ExtractedFact(FILM.text, ("[1]",), WHO),))
    script = {"extract": [found, Extraction()], "reflect": [GO_ON]}
    options = {"strategy": "reflect", "memory": "structured", "stop": "exhaustion(j=0, u=1, d=0.1, p=1)"}
    report, _, _ = ran(script, FixtureSearch(default=[FILM]), interventions=("observation_filter",), **options)
    assert report.stop.reason == "exhausted"
    assert all(record.readings["belief.difference"] is not None for record in report.stop.rounds)


def make_record(readings):
    return RoundRecord(1, True, ("q",), 1, readings, ())


def test_resample_asks_a_follow_up_before_the_stop_counts():
    parts = apply_interventions(["resample"], RunParts(ReflectStrategy(), TrajectoryMemory, exhaustion(p=1)))
    model = ScriptedModel({"reflect": [ReflectionResponse(False, 0.1, (), (PlannedQuery("the same again"),))]})
    run = RunState(TASK, model, parts.memory, run_id="r")

    async def main():
        run.follow_ups.add([FILM])
        run.records.append(make_record({"overlap.jaccard": 0.9, "overlap.upr": 0.0}))
        stale = await parts.strategy.propose(run)
        run.records[-1] = make_record({"overlap.jaccard": 0.1, "overlap.upr": 1.0})
        return stale, await parts.strategy.propose(run)

    stale, usual = asyncio.run(main())
    assert "Ada Lind" in stale[0].text
    assert [query.text for query in usual] == ["the same again"]


def test_resample_without_a_gate_asks_one_follow_up_per_stagnation():
    parts = apply_interventions(["resample"], RunParts(ReflectStrategy(), TrajectoryMemory, None))
    assert parts.gate is None, "the strategy still ends by itself"
    model = ScriptedModel({"reflect": [ReflectionResponse(False, 0.1, (), (PlannedQuery("the same again"),))]})
    run = RunState(TASK, model, parts.memory, run_id="r")
    stale = {"overlap.jaccard": 0.9, "overlap.upr": 0.0}

    async def main():
        run.follow_ups.add([FILM])
        proposed = []
        for _ in range(3):
            run.records.append(make_record(stale))
            proposed += await parts.strategy.propose(run)
        return proposed

    first, second, third = asyncio.run(main())
    assert "Ada Lind" in second.text, "two stale rounds are a stagnation"
    assert first.text == third.text == "the same again"


CHAIN = [TextResponse("Ada Lind directed it."), TextResponse("The answer is: Graz")]


def run_with_follow_up(thoughts, rounds=5):
    """Run IRCoT with the intervention ``leads``; return the queries of each round, the stop and the run."""
    parts = apply_interventions(["leads"], RunParts(IRCoTStrategy(), TrajectoryMemory, budget(rounds=rounds)))
    run = RunState(TASK, ScriptedModel({"thought": thoughts}), parts.memory, run_id="r")

    async def main():
        return await run_loop(run, WordSearch([FILM, ADA, RAIN]), parts.strategy, parts.gate, build_meters(), k=1)

    stop = asyncio.run(main()).stop
    return [record.queries for record in run.records], stop, run


def test_a_follow_up_is_asked_beside_the_strategys_query():
    queries, _, _ = run_with_follow_up(CHAIN)
    assert queries[0] == (TASK,), "there is nothing to follow yet"
    assert queries[1][0] == "Ada Lind directed it."
    assert len(queries[1]) == 2


def test_the_search_ends_with_the_strategy_although_a_follow_up_is_left():
    queries, stop, run = run_with_follow_up(CHAIN)
    assert (stop.reason, len(queries)) == ("planner_done", 2)
    assert run.propose_follow_ups(1)


def test_a_follow_up_that_is_the_strategys_query_is_asked_once():
    queries, _, _ = run_with_follow_up([ModelError("dizzy")], rounds=3)
    assert queries
    assert {len(asked) for asked in queries} == {1}


RIVALS = HypothesesResponse(
    (Hypothesis("Born in Graz", "Ada Lind Graz"), Hypothesis("Born in Malmo", "Ada Lind Malmo"))
)
GO_ON = ReflectionResponse(False, 0.2, (), (PlannedQuery("Ada Lind"),))


def test_hypotheses_are_tested_beside_the_strategys_query_and_weighed():
    search = FixtureSearch({TASK: [FILM], WHO: [FILM], WHERE: [FILM]}, default=[ADA])
    script = {"hypotheses": [RIVALS], "reflect": [GO_ON]}
    options = {"strategy": "reflect", "max_iters": 2, "max_queries": 9, "interventions": ("hypotheses",)}
    report, (first, second), _ = ran(script, search, **options)
    assert first.round.queries == (TASK, WHO, WHERE)
    assert second.round.queries == ("Ada Lind", "Ada Lind Graz", "Ada Lind Malmo")
    assert [note.text for note in second.belief.notes[:2]] == [
        "100% of the support: Born in Graz",
        "0% of the support: Born in Malmo",
    ]
    assert second.belief.notes[0].handles == ("[2]",)
    assert "of the support" not in report.final_answer
    record = report.stop.rounds[1]
    assert record.belief[0] == "100% of the support: Born in Graz (Ada Lind)"
    assert record.found == ("Ada Lind (notes.txt:1-1)",)


def test_hypotheses_take_turns_with_few_queries():
    search = FixtureSearch({TASK: [FILM], WHO: [FILM], WHERE: [FILM]}, default=[ADA])
    again = [replace(GO_ON, new_queries=(PlannedQuery(f"Ada Lind {n}"),)) for n in range(9)]
    rivals = [
        HypothesesResponse(tuple(replace(rival, query=f"{rival.query} {n}") for rival in RIVALS.rivals))
        for n in range(9)
    ]
    options = {"strategy": "reflect", "max_iters": 3, "max_queries": 7, "interventions": ("hypotheses",)}
    _, (_, second, third), _ = ran({"hypotheses": rivals, "reflect": again}, search, **options)
    assert [query.rsplit(" ", 1)[0] for query in second.round.queries] == ["Ada Lind", "Ada Lind Graz"]
    assert [query.rsplit(" ", 1)[0] for query in third.round.queries] == ["Ada Lind", "Ada Lind Malmo"]


def test_without_hypotheses_the_search_continues():
    search = FixtureSearch({TASK: [FILM], WHO: [FILM], WHERE: [FILM]}, default=[ADA])
    options = {"strategy": "reflect", "max_iters": 2, "interventions": ("hypotheses",)}
    report, (_, second), _ = ran({"reflect": [GO_ON]}, search, **options)
    assert second.round.queries == ("Ada Lind",)
    assert [failure.where for failure in report.error_log].count("hypotheses") == 1


def test_a_wrapped_strategy_still_selects_passages():
    for name in INTERVENTIONS:
        parts = apply_interventions([name], RunParts(OutlineStrategy(), StructuredMemory, budget(rounds=1)))
        assert isinstance(parts.strategy, PassageSelector), name
        assert not isinstance(
            apply_interventions([name], RunParts(ReflectStrategy(), StructuredMemory, None)).strategy, PassageSelector
        )


@pytest.mark.parametrize(
    "strategy", ["reflect", "saturate", "predicates", "outline", "ircot", "react", "memgpt", "iterretgen"]
)
def test_all_interventions_together_work_with_every_strategy(strategy):
    search = WordSearch([FILM, ADA, RAIN])
    report = asyncio.run(
        research(
            TASK, search=search, model=ExtractiveModel(), strategy=strategy, interventions=INTERVENTIONS, max_iters=4
        )
    )
    assert report.status in ("answered", "partial")
    assert report.metadata["interventions"] == list(INTERVENTIONS)


def test_an_unknown_intervention_is_an_error():
    with pytest.raises(InputError, match=r"'gap'.*gap_aware, entity_grounded, resample, observation_filter"):
        asyncio.run(research(TASK, search=WordSearch([]), interventions=("gap",)))
