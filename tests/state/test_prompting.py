"""What a run puts before a model: cut to what the model reads and to what may still be spent, never silently."""

import asyncio

import pytest

from suffice.errors import ModelError
from suffice.events import PromptCompacted
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts import Draft, PlannedQuery, PlanResponse, ReflectionResponse, SynthesisResponse
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


def begun(context=None, bounds=Bounds(), usage=None, found=60):
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
def test_a_prompt_and_its_answer_fit_what_the_model_reads(context):
    run, model = begun(context)
    asyncio.run(run.reflect())
    asyncio.run(run.ask(Draft(TASK, notes(run), (), ())))
    for prompt in model.prompts:
        assert estimate_tokens(prompt.render()) + prompt.max_tokens <= context
        assert TASK in prompt.render()
        assert "[60]" in prompt.render()


def test_a_cut_is_recorded_and_the_record_keeps_everything():
    run, _ = begun(4_000)
    asyncio.run(run.ask(Draft(TASK, notes(run), (), ())))
    (event,) = [event for event in run.take_events() if isinstance(event, PromptCompacted)]
    assert "'draft'" in event.why
    assert "4000" in event.why
    assert event.whole + event.shortened == 60
    assert [found.text for found in run.evidence] == [LONG] * 60


def test_a_model_that_does_not_say_what_it_reads_gets_a_bounded_prompt():
    run, model = begun(found=600)
    asyncio.run(run.ask(Draft(TASK, notes(run), (), ())))
    assert estimate_tokens(model.prompts[-1].render()) <= MAX_EVIDENCE_TOKENS


def test_a_prompt_does_not_take_more_than_is_left_to_spend():
    run, model = begun(bounds=Bounds(tokens=30_000), usage=Usage(1, 20_000, 0))
    asyncio.run(run.plan())
    asyncio.run(run.ask(Draft(TASK, notes(run), (), ())))
    assert estimate_tokens(model.prompts[-1].render()) <= 10_000 - Draft.max_tokens
    assert any("10000 of 30000" in event.why for event in run.take_events() if isinstance(event, PromptCompacted))


def test_an_answer_is_still_written_when_all_is_spent():
    run, model = begun(bounds=Bounds(tokens=1_000), usage=Usage(1, 5_000, 0))
    asyncio.run(run.plan())
    asyncio.run(run.ask(Draft(TASK, notes(run), (), ())))
    assert LONG in model.prompts[-1].render()
    assert estimate_tokens(model.prompts[-1].render()) <= MIN_PROMPT_TOKENS


def test_a_model_that_cannot_read_the_question_says_so_before_it_is_asked():
    run, model = begun(900)
    with pytest.raises(ModelError, match="reads 900"):
        asyncio.run(run.ask(Draft(TASK, notes(run), (), ())))
    assert model.prompts == []
