"""Interventions: each an option of any strategy, memory and gate, from Python and from the command line."""

import asyncio
from dataclasses import replace

import pytest

from suffice.api import research
from suffice.engine.interventions import INTERVENTIONS, RunParts, apply_interventions
from suffice.errors import InputError
from suffice.events import RoundDone
from suffice.gates import budget, exhaustion
from suffice.memory.structured import StructuredMemory
from suffice.memory.trajectory import TrajectoryMemory
from suffice.models.extractive import ExtractiveModel
from suffice.prompts import (
    ExtractedFact,
    Extraction,
    HypothesesResponse,
    Hypothesis,
    PlannedQuery,
    PlanResponse,
    ReflectionResponse,
    SynthesisResponse,
)
from suffice.state.run import RunState
from suffice.strategies.base import PassageSelector
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


def test_gap_aware_goes_on_where_a_reflection_would_have_stopped():
    script = {
        "extract": [
            Extraction((ExtractedFact(FILM.text, ("[1]",), WHO),), (WHO,)),
            Extraction((ExtractedFact(ADA.text, ("[2]",), WHERE),), (WHERE,)),
        ]
    }
    search = FixtureSearch({WHO: [FILM], WHERE: [FILM]}, default=[ADA])
    early, rounds, _ = ran(script, search, strategy="reflect", memory="structured")
    assert (early.stop.reason, len(rounds)) == ("sufficient", 1)
    late, rounds, _ = ran(script, search, strategy="reflect", memory="structured", interventions=("gap_aware",))
    assert (late.stop.reason, len(rounds)) == ("sufficient", 2)
    assert rounds[0].belief.open == (WHERE,)
    assert any("held back" in leaf.because for leaf in rounds[0].verdict.leaves)


def test_entity_grounded_refuses_a_finding_about_somebody_else():
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


def test_observation_filter_keeps_from_the_memory_what_has_nothing_to_do_with_it():
    search = FixtureSearch(default=[FILM, RAIN])
    script = {"extract": [Extraction()]}
    report, (round,), _ = ran(
        script, search, strategy="reflect", memory="trajectory", max_iters=1, interventions=("observation_filter",)
    )
    assert [note.text for note in round.belief.notes] == [FILM.text]
    assert {passage.id for passage in round.round.new} == {"film", "rain"}, "the record keeps both"
    assert report.metadata["interventions"] == ["observation_filter"]


def make_record(readings):
    return RoundRecord(1, True, ("q",), 1, readings, ())


def test_resample_tries_a_lead_before_a_stagnation_counts():
    parts = apply_interventions(["resample"], RunParts(ReflectStrategy(), TrajectoryMemory, exhaustion(p=1)))
    model = ScriptedModel({"reflect": [ReflectionResponse(False, 0.1, (), ("the same again",))]})
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


def test_resample_gives_a_strategy_without_a_gate_another_lead_once_a_stagnation():
    parts = apply_interventions(["resample"], RunParts(ReflectStrategy(), TrajectoryMemory, None))
    assert parts.gate is None, "its own finish stays"
    model = ScriptedModel({"reflect": [ReflectionResponse(False, 0.1, (), ("the same again",))]})
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


RIVALS = HypothesesResponse(
    (Hypothesis("Born in Graz", "Ada Lind Graz"), Hypothesis("Born in Malmo", "Ada Lind Malmo"))
)
GO_ON = ReflectionResponse(False, 0.2, (), ("Ada Lind",))


def test_hypotheses_are_searched_beside_the_strategys_own_query_and_weighed():
    search = FixtureSearch({WHO: [FILM], WHERE: [FILM]}, default=[ADA])
    script = {"hypotheses": [RIVALS], "reflect": [GO_ON]}
    options = {"strategy": "reflect", "max_iters": 2, "max_queries": 9, "interventions": ("hypotheses",)}
    report, (first, second), _ = ran(script, search, **options)
    assert first.round.queries == (WHO, WHERE)
    assert second.round.queries == ("Ada Lind", "Ada Lind Graz", "Ada Lind Malmo")
    assert [note.text for note in second.belief.notes[:2]] == [
        "100% of the support: Born in Graz",
        "0% of the support: Born in Malmo",
    ]
    assert second.belief.notes[0].handles == ("[2]",)
    assert "of the support" not in report.final_answer
    told = report.stop.rounds[1]
    assert told.belief[0] == "100% of the support: Born in Graz (Ada Lind)"
    assert told.found == ("Ada Lind (notes.txt:1-1)",)


def test_hypotheses_take_turns_when_queries_are_few():
    search = FixtureSearch({WHO: [FILM], WHERE: [FILM]}, default=[ADA])
    again = [replace(GO_ON, new_queries=(f"Ada Lind {n}",)) for n in range(9)]
    rivals = [
        HypothesesResponse(tuple(replace(rival, query=f"{rival.query} {n}") for rival in RIVALS.rivals))
        for n in range(9)
    ]
    options = {"strategy": "reflect", "max_iters": 3, "max_queries": 6, "interventions": ("hypotheses",)}
    _, (_, second, third), _ = ran({"hypotheses": rivals, "reflect": again}, search, **options)
    assert [query.rsplit(" ", 1)[0] for query in second.round.queries] == ["Ada Lind", "Ada Lind Graz"]
    assert [query.rsplit(" ", 1)[0] for query in third.round.queries] == ["Ada Lind", "Ada Lind Malmo"]


def test_a_model_without_hypotheses_costs_nothing_but_the_attempt():
    search = FixtureSearch({WHO: [FILM], WHERE: [FILM]}, default=[ADA])
    options = {"strategy": "reflect", "max_iters": 2, "interventions": ("hypotheses",)}
    report, (_, second), _ = ran({"reflect": [GO_ON]}, search, **options)
    assert second.round.queries == ("Ada Lind",)
    assert [failure.where for failure in report.error_log].count("hypotheses") == 1


def test_a_strategy_that_chooses_passages_still_does():
    for name in INTERVENTIONS:
        parts = apply_interventions([name], RunParts(OutlineStrategy(), StructuredMemory, budget(rounds=1)))
        assert isinstance(parts.strategy, PassageSelector), name
        assert not isinstance(
            apply_interventions([name], RunParts(ReflectStrategy(), StructuredMemory, None)).strategy, PassageSelector
        )


@pytest.mark.parametrize(
    "strategy", ["reflect", "saturate", "predicates", "outline", "ircot", "react", "memgpt", "iterretgen"]
)
def test_all_of_them_together_run_with_every_strategy(strategy):
    search = WordSearch([FILM, ADA, RAIN])
    report = asyncio.run(
        research(
            TASK, search=search, model=ExtractiveModel(), strategy=strategy, interventions=INTERVENTIONS, max_iters=4
        )
    )
    assert report.status in ("answered", "partial")
    assert report.metadata["interventions"] == list(INTERVENTIONS)


def test_an_unknown_one_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"'gap'.*gap_aware, entity_grounded, resample, observation_filter"):
        asyncio.run(research(TASK, search=WordSearch([]), interventions=("gap",)))
