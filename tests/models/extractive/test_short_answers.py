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
        ("Who built the Meridian bridge?", BRIDGE, "Halloran Works"),
        ("When was the Forth bridge opened?", Note("It was opened in 1890.", ()), "1890"),
        ("How much do the batteries weigh?", Note("Both batteries together weigh 9 tonnes.", ()), "9 tonnes"),
        ("What do bees do?", Note("", ()), ""),
    ],
)
def test_a_short_answer_is_what_the_reader_finds(question: str, note: Note, answer: str) -> None:
    other = Note("The museum is open every day.", (), "Museum")
    assert answer_briefly(ShortAnswer(question, (other, note) if note.text else (note,))).text == answer


def test_without_notes_there_is_no_short_answer() -> None:
    assert answer_briefly(ShortAnswer(TASK, ())).text == ""
