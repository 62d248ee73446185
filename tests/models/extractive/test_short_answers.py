"""Short answers without a language model, and the steps of agents, which are left open."""

import asyncio

import pytest

from suffice.models.extractive import ExtractiveModel
from suffice.models.extractive.short_answers import answer_briefly
from suffice.prompts.agents import IRCoTStep, MemGPTStep, ReActStep, ShortAnswer
from suffice.types import Note

TASK = "Where was the man born who founded the works that built the Meridian bridge?"
BRIDGE = Note("It rained. The Meridian bridge was built by Halloran Works.", ("[1]",), "Meridian bridge")


@pytest.mark.parametrize("step", [IRCoTStep(TASK, (BRIDGE,), ()), ReActStep(TASK, (BRIDGE,), (), ())])
def test_an_agent_takes_no_step_so_that_what_was_found_is_followed(step: IRCoTStep | ReActStep | MemGPTStep) -> None:
    assert asyncio.run(ExtractiveModel()(step)).answer is None


@pytest.mark.parametrize(
    ("question", "note", "answer"),
    [
        (TASK, BRIDGE, "Halloran Works"),
        ("When was the Forth bridge opened?", Note("It was opened in 1890.", ()), "1890"),
        ("What do bees do?", Note("bees dance", ()), "bees dance"),
        ("What do bees do?", Note("", ()), ""),
    ],
)
def test_a_short_answer_is_a_name_or_number_that_the_question_lacks(question: str, note: Note, answer: str) -> None:
    assert answer_briefly(ShortAnswer(question, (note,))).text == answer
