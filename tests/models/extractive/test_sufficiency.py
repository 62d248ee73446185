"""Whether the evidence answers a question: by words, and by what the reader finds in the passages."""

from collections.abc import Sequence

import pytest
from suffice.models.extractive.writing import draft_answer

from suffice.models.reading import AnswerSpan
from suffice.prompts import Draft, SynthesisResponse
from suffice.types import Note


class FixedReader:
    """Finds an answer in each passage with the same probability."""

    def __init__(self, probability: float) -> None:
        self._probability = probability

    def read(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        return [AnswerSpan(self._probability, 0, 1) for _ in passages]


def drafted(task: str, *notes: Note, probability: float | None = None) -> SynthesisResponse:
    reader = None if probability is None else FixedReader(probability)
    return draft_answer(Draft(task, notes, (), ()), None, reader)


def note(text: str, title: str = "", kind: str = "markdown") -> Note:
    return Note(text, ("[1]",), title, kind)


SERVER = note(
    "The server is started with `run`. Its themes are set in the file of the server. The default port is 8000.",
    "Server",
)
DARK = "How do I set the dark themes of the server?"


def test_a_passage_with_half_of_the_words_in_which_the_reader_finds_nothing_is_no_answer() -> None:
    assert drafted(DARK, SERVER).sufficiency != "no"
    assert drafted(DARK, SERVER, probability=0.99).sufficiency != "no"
    refused = drafted(DARK, SERVER, probability=0.05)
    assert refused.sufficiency == "no"
    assert refused.answer == ""
    assert "dark" in refused.closest[0].missing


def test_a_passage_with_all_words_is_an_answer_even_if_the_reader_finds_nothing() -> None:
    assert drafted("What is the default port of the server?", SERVER, probability=0.05).sufficiency == "yes"


@pytest.mark.parametrize(
    ("question", "notes"),
    [
        (
            "Who was born earlier, Ada Quill or Bo Strand?",
            [note("Ada Quill (1902 – 1990) was a painter.", "Ada Quill"), note("Bo Strand (1911) sings.", "Bo Strand")],
        ),
        (
            "What profession do Ada Quill and Bo Strand have in common?",
            [note("Ada Quill was a painter.", "Ada Quill"), note("Bo Strand was a painter.", "Bo Strand")],
        ),
        ("Who is the treasurer of the rowing club?", [note("Bo Hall (clerk), Ann Lee (treasurer).", "The club")]),
        (
            "How many entries does fetch_all keep by default?",
            [note("def fetch_all(url, maxsize=128):\n    return cache(url, maxsize)", "cache > fetch_all", "code")],
        ),
        (
            "How many people work in Leeds?",
            [note("name: Ada · city: Leeds\nname: Bo · city: Leeds", "staff.csv", "csv")],
        ),
        ("Which formats stay in Harbour 4?", [note("Ann: In Harbour 4 only PDF will stay.", "Ann", "chat")]),
    ],
    ids=["a comparison", "two things", "a role", "a signature", "rows of a table", "a conversation"],
)
def test_the_reader_has_no_say_where_it_cannot_read_the_answer(question: str, notes: list[Note]) -> None:
    assert drafted(question, *notes, probability=0.02).sufficiency == drafted(question, *notes).sufficiency != "no"


def test_a_version_of_a_name_that_no_passage_has_is_what_the_question_is_about() -> None:
    notes = [
        note("Enable HTTP/2 in Gunicorn with the option `h2`. HTTP/2 needs a certificate.", "HTTP/2"),
        note("Since Gunicorn 3 the workers are threads.", "Changes"),
    ]
    assert drafted("How do I enable HTTP/2 in Gunicorn?", *notes, probability=0.9).sufficiency == "yes"
    assert drafted("How do I enable HTTP/3 in Gunicorn?", *notes, probability=0.9).sufficiency == "no"


def test_a_release_that_no_passage_mentions_has_no_date() -> None:
    changes = note(
        "Release 15.0.1 of klipper was released on 2 May 2019. It drops support for sails.", "klipper 15.0.1"
    )
    assert drafted("When was klipper 15.0 released?", changes, probability=0.9).sufficiency == "yes"
    assert drafted("When was klipper 5.0 released?", changes, probability=0.9).sufficiency == "no"


def test_a_version_may_be_supported_without_being_named() -> None:
    newer = note("klipper supports Python 3.9 and newer.", "Installation")
    assert drafted("Does klipper support Python 3.13?", newer, probability=0.9).sufficiency != "no"


ROWS = note(
    "date: 2013-05-01 · temp_max: 9.1 · wind: 3.1 · weather: sun\ndate: 2013-05-02 · wind: 4.0 · weather: fog",
    "weather of Leeds.csv",
    "csv",
)


def test_a_row_answers_a_question_that_names_one_of_its_columns() -> None:
    assert drafted("What was the wind in Leeds on 2013-05-01?", ROWS).sufficiency == "yes"
    assert drafted("What was the temperature in Leeds on 2013-05-01?", ROWS).sufficiency != "no"
    assert drafted("What was the air humidity in Leeds on 2013-05-01?", ROWS).sufficiency == "no"
    assert drafted("How many days had fog in Leeds?", ROWS).sufficiency != "no"
