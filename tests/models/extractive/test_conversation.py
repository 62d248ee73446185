"""In a conversation the reply answers, not the message that asks."""

import asyncio

import pytest
from suffice.models.extractive.conversation import asks_indirectly

from suffice.models.extractive import ExtractiveModel
from suffice.prompts import Draft, SynthesisResponse
from suffice.types import Note, Place


def message(line: int, speaker: str, words: str) -> Note:
    text = f"[2025-06-04 10:0{line}] {speaker}: {words}"
    return Note(
        text, (f"[{line}]",), f"{speaker}, 2025-06-04 10:0{line}", "chat", place=Place("chat.txt", (line, line))
    )


def draft(task: str, *notes: Note) -> SynthesisResponse:
    return asyncio.run(ExtractiveModel()(Draft(task, notes, (), ()))).answer


ASKED = message(1, "Olga Brandt", "Meyer asks if Kestrel 3 runs on ARM servers.")
REPLY = message(2, "Tomasz Bielak", "Not yet. Only x86-64 is built for Kestrel 3.")


def test_the_reply_comes_before_the_message_that_asks() -> None:
    answer = draft("Does Kestrel 3 run on ARM servers?", ASKED, REPLY)

    assert "Not yet" in answer.excerpts[0].text
    assert answer.short_answer == "No"


def test_a_yes_at_the_start_of_a_reply_is_the_short_answer() -> None:
    reply = message(2, "Tomasz Bielak", "Yes, since last week.")

    assert draft("Does Kestrel 3 run on ARM servers?", ASKED, reply).short_answer == "Yes"


def test_the_first_message_after_a_pause_is_no_reply() -> None:
    later = message(7, "Tomasz Bielak", "No more coffee today.")

    assert draft("Does Kestrel 3 run on ARM servers?", ASKED, later).short_answer == ""


def test_who_decided_is_found_in_a_chat() -> None:
    chat = (
        message(1, "Helen Marsh", "Where are we with the release?"),
        message(2, "Tomasz Bielak", "The importer still loses umlauts."),
        message(3, "Helen Marsh", "OK, we postpone the release from Wednesday to Friday."),
    )

    answer = draft("Who decided to postpone the release?", *chat)

    assert "Helen Marsh: OK, we postpone the release" in answer.excerpts[0].text


@pytest.mark.parametrize(
    ("text", "is_question"),
    [
        ("They ask whether it runs on ARM.", True),
        ("Der Kunde fragt, ob es läuft.", True),
        ("We know how to fix it.", False),
        ("It runs if you install the driver.", False),
    ],
)
def test_reported_questions_are_told_from_statements(text: str, is_question: bool) -> None:
    assert asks_indirectly(text) is is_question
