"""Readings that cost a model call: taken only when a gate needs them, unknown when the model fails."""

import asyncio

import pytest

from suffice.engine.pipeline import RunConfig, run_pipeline
from suffice.engine.presets import get_preset
from suffice.errors import ModelError
from suffice.gates.parse import parse_gate
from suffice.models.extractive import ExtractiveModel
from suffice.prompts import (
    JudgeProgress,
    JudgeProgressResponse,
    NoveltyResponse,
    PlannedQuery,
    PlanResponse,
    RateNovelty,
    ReflectionResponse,
)
from suffice.testing import ScriptedModel, WordSearch, make_passage
from suffice.types import Bounds, Note

TASK = "Who keeps the lighthouse?"
PAGES = [make_passage(f"p{i}", f"The lighthouse page {i} speaks of keeper number {i}.", f"Page {i}") for i in range(40)]


def played(stop, **script):
    queries = iter(range(1000))
    more = [lambda prompt: ReflectionResponse(False, 0.5, (), (f"lighthouse keeper number {next(queries)}",))]
    model = ScriptedModel({"plan": [PlanResponse((PlannedQuery("lighthouse"),))], "reflect": more, **script})
    setup = RunConfig(
        TASK, WordSearch(PAGES), model, get_preset("reflect"), parse_gate(stop), bounds=Bounds(rounds=6, queries=50)
    )

    async def play():
        return [event async for event in run_pipeline(setup)][-1].report

    return asyncio.run(play()), model


def test_a_model_that_sees_nothing_new_ends_the_run_and_the_round_is_left_out():
    scores = [NoveltyResponse(9), NoveltyResponse(8), NoveltyResponse(1)]
    report, model = played("saturation(by=model).after(2)", novelty=scores)
    assert report.stop.reason == "saturated"
    assert [record.accepted for record in report.stop.rounds] == [True, True, False]
    assert [record.readings["novelty.model"] for record in report.stop.rounds] == [9, 8, 1]
    assert sum(isinstance(ask, RateNovelty) for ask in model.prompts) == 3


@pytest.mark.parametrize("answer", [NoveltyResponse(None), NoveltyResponse(11), ModelError("dizzy")])
def test_an_unreadable_score_is_unknown_and_never_stops(answer):
    report, _ = played("saturation(by=model)", novelty=[answer])
    assert report.stop.reason == "budget_rounds"
    assert all(record.readings["novelty.model"] is None for record in report.stop.rounds)


def test_a_judge_that_calls_it_exhausted_is_obeyed():
    verdicts = [
        JudgeProgressResponse("PRODUCTIVE"),
        JudgeProgressResponse("QUERY_STALE"),
        JudgeProgressResponse("EXHAUSTED"),
    ]
    report, model = played("judged", judge=verdicts)
    assert (report.stop.reason, report.stop.round) == ("exhausted", 3)
    assert [record.readings["judged.conservative"] for record in report.stop.rounds] == [0, 0.5, 1]
    assert all("In doubt" in ask.render() for ask in model.prompts if isinstance(ask, JudgeProgress))


def test_the_neutral_judge_is_told_nothing_about_doubt():
    _, model = played("judged(style=neutral)", judge=[JudgeProgressResponse("EXHAUSTED")])
    assert ["In doubt" in ask.render() for ask in model.prompts if isinstance(ask, JudgeProgress)] == [False]


def test_nobody_is_asked_for_a_reading_that_no_gate_needs():
    _, model = played("fixed(3)")
    assert not any(isinstance(ask, JudgeProgress | RateNovelty) for ask in model.prompts)


def test_without_a_language_model_novelty_is_counted_in_words():
    known, new = (Note("the keeper sleeps", ("[1]",)),), (Note("the keeper sails", ()),)
    answer = asyncio.run(ExtractiveModel()(RateNovelty(TASK, known, new))).answer
    assert answer == NoveltyResponse(3)
    assert asyncio.run(ExtractiveModel()(RateNovelty(TASK, (), new))).answer == NoveltyResponse(10)
    assert asyncio.run(ExtractiveModel()(RateNovelty(TASK, known, ()))).answer == NoveltyResponse(0)


def test_without_a_language_model_a_round_without_anything_new_is_exhausted():
    def judged(queries, results):
        return asyncio.run(ExtractiveModel()(JudgeProgress(TASK, "", queries, results))).answer.verdict

    assert judged(("a b", "a b"), ()) == "EXHAUSTED"
    assert judged(("the keeper", "the keeper"), (Note("x", ()),)) == "QUERY_STALE"
    assert judged(("the keeper", "other words"), (Note("x", ()),)) == "PRODUCTIVE"
