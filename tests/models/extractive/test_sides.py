"""Comparisons of two things that one page describes: both sides are shown, each once, and nothing else if the page is long."""

import asyncio

import pytest

from suffice.models.extractive import ExtractiveModel
from suffice.prompts import Draft, SynthesisResponse
from suffice.search.files.read import read_text
from suffice.types import Note, Place

FILLER = "The value is checked when the program starts, and a wrong one ends it with a message that names the option. "

RESET = f"""git-reset(1)
============

SYNOPSIS
--------
[verse]
'git reset' [--soft | --mixed | --hard | --merge | --keep] [<commit>]

DESCRIPTION
-----------
{FILLER * 2}

--soft::
	Does not touch the index file or the working tree.

--mixed::
	Resets the index but not the working tree. {FILLER * 3}

--hard::
	Discards all changes in the working tree.

-e::
	Edits the message.

-E::
	Takes extended expressions.

-F::
	Takes fixed strings.
"""

PLANS = (
    "# Plans\n\n| Plan | Price | Storage |\n|---|---|---|\n"
    + "".join(f"| Plan number {n} | {n} euros a month | {n} GB of storage in the first region |\n" for n in range(6))
    + "| Basic | 5 euros a month | 10 GB of storage |\n"
    + "".join(f"| Plan letter {n} | {n} euros a month | {n} GB of storage in the other region |\n" for n in "abcdef")
    + "| Pro | 29 euros a month | 1 TB of storage |\n"
)

SEQUENCES = (
    "# Sequences\n\n## Lists\n\nThey can be changed at any time.\n\n"
    "## Tuples\n\nThey cannot be changed after their creation.\n"
)


def compare(question: str, text: str, name: str) -> SynthesisResponse:
    notes = [
        Note(chunk.text, (f"[{n}]",), chunk.title, chunk.kind, place=Place(name, chunk.lines))
        for n, chunk in enumerate(read_text(text, name), 1)
    ]
    answer: SynthesisResponse = asyncio.run(ExtractiveModel()(Draft(question, notes, (), ()))).answer
    return answer


@pytest.mark.parametrize(
    ("question", "sides", "other"),
    [
        (
            "What is the difference between git reset --soft and --hard?",
            ("Does not touch", "Discards all changes"),
            "Resets the index but",
        ),
        ("Compare git reset -E and git reset -F", ("extended expressions", "fixed strings"), "Edits the message"),
    ],
)
def test_options_of_a_page_are_compared_by_their_explanations(
    question: str, sides: tuple[str, str], other: str
) -> None:
    shown = "\n".join(excerpt.text for excerpt in compare(question, RESET, "git-reset.txt").excerpts)
    assert all(side in shown for side in sides)
    assert other not in shown


@pytest.mark.parametrize(
    "question", ["What is the difference between Basic and Pro?", "Which plan has more storage, Basic or Pro?"]
)
def test_rows_of_a_long_table_are_compared_below_its_header(question: str) -> None:
    answer = compare(question, PLANS, "plans.md")
    shown = "\n".join(excerpt.text for excerpt in answer.excerpts)
    assert shown.count("| Basic |") == shown.count("| Pro |") == 1
    assert "| Plan | Price | Storage |" in shown
    assert "letter c" not in shown


def test_records_are_compared_by_their_first_value() -> None:
    rows = "".join(
        f"\n|On{name}\n|Counts from {text}. {FILLER}\n"
        for name, text in [("Start", "the start of On Boot"), ("Boot", "boot"), ("Idle", "x"), ("Unit", "the last run")]
    )
    shown = compare(
        "Compare OnBoot and OnUnit",
        f'= Timers\n\n== `OnStart`, `OnBoot`, `OnUnit`\n\n[cols="1,2"]\n|===\n|Setting |Meaning\n{rows}|===\n',
        "t.adoc",
    )
    texts = "\n".join(excerpt.text for excerpt in shown.excerpts)
    assert "Counts from boot" in texts
    assert "Counts from the last run" in texts
    assert "start of On Boot" not in texts


def test_sides_below_headings_of_their_own_keep_them() -> None:
    answer = compare("What is the difference between lists and tuples?", SEQUENCES, "s.md")
    assert [(excerpt.title, excerpt.text) for excerpt in answer.excerpts] == [
        ("Sequences > Lists", "They can be changed at any time."),
        ("Sequences > Tuples", "They cannot be changed after their creation."),
    ]


def test_a_sentence_with_the_words_of_both_names_apart_is_no_contrast() -> None:
    texts = {
        "git-merge(1) > DESCRIPTION": "Incorporates changes from the named commits into the current branch.",
        "git-rebase(1) > DESCRIPTION": "Reapplies commits on top of another base tip.",
        "git-pull(1) > OPTIONS": "Set this if you want to make git pull always use --rebase instead of merging.",
    }
    notes = [Note(text, (f"[{n}]",), title, "text") for n, (title, text) in enumerate(texts.items(), 1)]
    answer = asyncio.run(ExtractiveModel()(Draft("Compare git merge and git rebase", notes, (), ()))).answer
    assert [excerpt.text[:11] for excerpt in answer.excerpts] == ["Incorporate", "Reapplies c"]
