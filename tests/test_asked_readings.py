"""Readings that cost a model call: taken only when a gate needs them, unknown when the model fails."""

import asyncio

import pytest

from suffice.asks import Judge, JudgeResponse, Novelty, NoveltyResponse, PlannedQuery, PlanResponse, ReflectionResponse
from suffice.errors import ModelError
from suffice.gates.parse import parse
from suffice.models.extractive import Extractive
from suffice.pipeline import Setup, stream
from suffice.presets import preset
from suffice.testing import ScriptedModel, WordSearch, passage
from suffice.types import Bounds, Note

TASK = "Who keeps the lighthouse?"
PAGES = [passage(f"p{i}", f"The lighthouse page {i} speaks of keeper number {i}.", f"Page {i}") for i in range(40)]


def played(stop, **script):
    queries = iter(range(1000))
    more = [lambda ask: ReflectionResponse(False, 0.5, (), (f"lighthouse keeper number {next(queries)}",))]
    model = ScriptedModel({"plan": [PlanResponse((PlannedQuery("lighthouse"),))], "reflect": more, **script})
    setup = Setup(TASK, WordSearch(PAGES), model, preset("reflect"), parse(stop), bounds=Bounds(rounds=6, queries=50))

    async def play():
        return [event async for event in stream(setup)][-1].report

    return asyncio.run(play()), model


def test_a_model_that_sees_nothing_new_ends_the_run_and_the_round_is_left_out():
    scores = [NoveltyResponse(9), NoveltyResponse(8), NoveltyResponse(1)]
    report, model = played("saturation(by=model).after(2)", novelty=scores)
    assert report.stop.reason == "saturated"
    assert [record.accepted for record in report.stop.rounds] == [True, True, False]
    assert [record.readings["novelty.model"] for record in report.stop.rounds] == [9, 8, 1]
    assert sum(isinstance(ask, Novelty) for ask in model.asked) == 3


@pytest.mark.parametrize("answer", [NoveltyResponse(None), NoveltyResponse(11), ModelError("dizzy")])
def test_an_unreadable_score_is_unknown_and_never_stops(answer):
    report, _ = played("saturation(by=model)", novelty=[answer])
    assert report.stop.reason == "budget_rounds"
    assert all(record.readings["novelty.model"] is None for record in report.stop.rounds)


def test_a_judge_that_calls_it_exhausted_is_obeyed():
    verdicts = [JudgeResponse("PRODUCTIVE"), JudgeResponse("QUERY_STALE"), JudgeResponse("EXHAUSTED")]
    report, model = played("judged", judge=verdicts)
    assert (report.stop.reason, report.stop.round) == ("exhausted", 3)
    assert [record.readings["judged.conservative"] for record in report.stop.rounds] == [0, 0.5, 1]
    assert all("In doubt" in ask.prompt() for ask in model.asked if isinstance(ask, Judge))


def test_the_neutral_judge_is_told_nothing_about_doubt():
    _, model = played("judged(style=neutral)", judge=[JudgeResponse("EXHAUSTED")])
    assert ["In doubt" in ask.prompt() for ask in model.asked if isinstance(ask, Judge)] == [False]


def test_nobody_is_asked_for_a_reading_that_no_gate_needs():
    _, model = played("fixed(3)")
    assert not any(isinstance(ask, Judge | Novelty) for ask in model.asked)


def test_without_a_language_model_novelty_is_counted_in_words():
    known, new = (Note("the keeper sleeps", ("[1]",)),), (Note("the keeper sails", ()),)
    answer = asyncio.run(Extractive()(Novelty(TASK, known, new))).answer
    assert answer == NoveltyResponse(3)
    assert asyncio.run(Extractive()(Novelty(TASK, (), new))).answer == NoveltyResponse(10)
    assert asyncio.run(Extractive()(Novelty(TASK, known, ()))).answer == NoveltyResponse(0)


def test_without_a_language_model_a_round_without_anything_new_is_exhausted():
    def judged(queries, results):
        return asyncio.run(Extractive()(Judge(TASK, "", queries, results))).answer.verdict

    assert judged(("a b", "a b"), ()) == "EXHAUSTED"
    assert judged(("the keeper", "the keeper"), (Note("x", ()),)) == "QUERY_STALE"
    assert judged(("the keeper", "other words"), (Note("x", ()),)) == "PRODUCTIVE"
