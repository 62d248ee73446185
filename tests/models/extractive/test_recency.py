"""Of sources that say the same of different times, the newest comes first and says as of when."""

import asyncio

import pytest

from suffice.models.extractive import ExtractiveModel
from suffice.prompts import Draft, SynthesisResponse
from suffice.types import Note, Place


def note(text: str, handle: int, title: str, path: str, kind: str = "markdown") -> Note:
    return Note(text, (f"[{handle}]",), title, kind, place=Place(path, (1, 1 + text.count("\n"))))


def draft(task: str, *notes: Note) -> SynthesisResponse:
    return asyncio.run(ExtractiveModel()(Draft(task, notes, (), ()))).answer


OLD_MINUTES = note("The company has 84 employees.", 1, "Minutes, 12 February 2024", "minutes-1.md")
NEW_MINUTES = note("The company has 97 employees.", 2, "Minutes, 10 February 2025", "minutes-2.md")
OLD_POLICY = note("The daily allowance for meals is 38 euros.", 1, "Travel policy", "travel-2022.md")
NEW_POLICY = note("The daily allowance for meals is 46 euros.", 2, "Travel policy", "travel-2025.md")
CHANGES = note(
    "## 3.0.0\n\n- The default page size is 50 rows.\n\n## 2.0.0\n\n- The default page size is 25 rows.",
    1,
    "Changelog",
    "CHANGELOG.md",
)


@pytest.mark.parametrize(
    ("task", "notes", "value", "time"),
    [
        ("How many employees does the company have?", (OLD_MINUTES, NEW_MINUTES), "97", "10 February 2025"),
        ("What is the daily allowance for meals?", (OLD_POLICY, NEW_POLICY), "46", "2025"),
        ("What is the default page size?", (CHANGES,), "50", "version 3.0.0"),
    ],
    ids=["dated titles", "years in file names", "releases of a changelog"],
)
def test_the_newest_of_rivals_comes_first_and_says_as_of_when(
    task: str, notes: tuple[Note, ...], value: str, time: str
) -> None:
    for order in (notes, notes[::-1]):
        first = draft(task, *order).excerpts[0]
        assert value in first.text
        assert first.title.endswith(f"as of {time}")


def test_the_older_rival_is_shown_with_its_own_time() -> None:
    answer = draft("What is the daily allowance for meals?", OLD_POLICY, NEW_POLICY)

    assert [excerpt.title for excerpt in answer.excerpts] == [
        "Travel policy · as of 2025",
        "Travel policy · as of 2022",
    ]


@pytest.mark.parametrize(
    "task",
    ["What was the daily allowance for meals in 2022?", "What was the first daily allowance for meals?"],
)
def test_a_question_about_the_past_does_not_get_the_newest_put_first(task: str) -> None:
    assert "38 euros" in draft(task, OLD_POLICY, NEW_POLICY).excerpts[0].text


def test_different_statements_of_different_dates_are_no_rivals() -> None:
    fee = note("The fee for parking is 3 euros a day.", 2, "Parking", "parking-2025.md")

    answer = draft("What is the daily allowance for meals?", OLD_POLICY, fee)

    assert "38 euros" in answer.excerpts[0].text
    assert "as of" not in answer.answer


def test_a_name_with_a_year_is_no_time() -> None:
    games = [
        Note(f"The Games of {year} were held in {place}.", (f"[{n}]",), f"{year} Games", "record")
        for n, (year, place) in enumerate(((2008, "Beijing"), (2012, "London")), 1)
    ]

    assert "as of" not in draft("Where are the Games held?", *games).answer
