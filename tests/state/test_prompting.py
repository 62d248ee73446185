"""Prompts are cut to the context of the model and to the tokens left, and every cut is reported."""

import asyncio

import pytest

from suffice.errors import ModelError
from suffice.events import PromptCompacted
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import DraftAnswer, SynthesisResponse
from suffice.state.prompting import MAX_EVIDENCE_TOKENS, MIN_PROMPT_TOKENS
from suffice.state.run import RunState
from suffice.testing import ScriptedModel, make_passage
from suffice.text.tokens import estimate_tokens
from suffice.types import Bounds, Hits, Note, Query, Round, Usage

TASK = "Who built the bridge?"
LONG = "Ada built the bridge of stone. " + "The weather of that day was fair. " * 20
SCRIPT = {
    "plan": [PlanResponse((PlannedQuery("a"),))],
    "reflect": [ReflectionResponse(False, 0.1)],
    "draft": [SynthesisResponse("Ada [1].")],
}


def make_run(context=None, bounds=Bounds(), usage=None, found=60):
    model = ScriptedModel(SCRIPT, usage=usage)
    model.context = context
    run = RunState(TASK, model, TrajectoryMemory, run_id="r", bounds=bounds)
    passages = tuple(make_passage(f"p{n}", LONG, f"Page {n}") for n in range(found))
    round = Round(1, (Hits(Query("one"), passages),), passages, passages)
    run.record_searches(round)
    asyncio.run(run.admit(round))
    return run, model


def notes(run):
    return tuple(Note(found.text, (run.evidence.get_handle(found),), found.title) for found in run.evidence)


@pytest.mark.parametrize("context", [4_000, 8_192, 32_768])
def test_a_prompt_and_its_answer_fit_the_context(context):
    run, model = make_run(context)
    asyncio.run(run.reflect())
    asyncio.run(run.ask(DraftAnswer(TASK, notes(run))))
    for prompt in model.prompts:
        assert estimate_tokens(prompt.render()) + prompt.max_tokens <= context
        assert TASK in prompt.render()
        assert "[60]" in prompt.render()


def test_shortening_is_reported_and_the_evidence_stays_whole():
    run, _ = make_run(4_000)
    asyncio.run(run.ask(DraftAnswer(TASK, notes(run))))
    (event,) = [event for event in run.event_queue.drain() if isinstance(event, PromptCompacted)]
    assert "'draft'" in event.why
    assert "4000" in event.why
    assert event.whole + event.shortened == 60
    assert [found.text for found in run.evidence] == [LONG] * 60


def test_a_model_without_a_stated_context_gets_a_bounded_prompt():
    run, model = make_run(found=600)
    asyncio.run(run.ask(DraftAnswer(TASK, notes(run))))
    assert estimate_tokens(model.prompts[-1].render()) <= MAX_EVIDENCE_TOKENS


def test_a_prompt_fits_the_tokens_left():
    run, model = make_run(bounds=Bounds(tokens=30_000), usage=Usage(1, 20_000, 0))
    asyncio.run(run.plan())
    asyncio.run(run.ask(DraftAnswer(TASK, notes(run))))
    assert estimate_tokens(model.prompts[-1].render()) <= 10_000 - DraftAnswer.max_tokens
    assert any("10000 of 30000" in event.why for event in run.event_queue.drain() if isinstance(event, PromptCompacted))


def test_a_minimal_prompt_is_sent_when_the_tokens_are_spent():
    run, model = make_run(bounds=Bounds(tokens=1_000), usage=Usage(1, 5_000, 0))
    asyncio.run(run.plan())
    asyncio.run(run.ask(DraftAnswer(TASK, notes(run))))
    assert LONG in model.prompts[-1].render()
    assert estimate_tokens(model.prompts[-1].render()) <= MIN_PROMPT_TOKENS


def test_a_context_too_short_for_the_question_is_an_error_before_the_call():
    run, model = make_run(900)
    with pytest.raises(ModelError, match="reads 900"):
        asyncio.run(run.ask(DraftAnswer(TASK, notes(run))))
    assert model.prompts == []
