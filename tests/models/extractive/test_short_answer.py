"""The short answer: yes or no, a version, a name; and where there is none."""

import asyncio

import pytest

from suffice.models.extractive import ExtractiveModel
from suffice.prompts import Draft
from suffice.text.languages import use_language
from suffice.types import Note


def short_answer(task: str, text: str, title: str = "Manual") -> str:
    prompt = Draft(task, (Note(text, ("[1]",), title, "markdown"),), (), ())
    return asyncio.run(ExtractiveModel()(prompt)).answer.short_answer


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (
            "Can the boat be sold with used sails?",
            "## 4.2. Can the boat be sold with used sails?\n\nYes. While most boats have new sails, we sell sails that are "
            "not new.",
            "Yes",
        ),
        (
            "Must I close the harbour in order to repair a boat?",
            "## Must I close the harbour in order to repair a boat?\n\nNo. Boats are repaired in place.",
            "No",
        ),
        (
            "Can I close the harbour?",
            "## Can I close the harbour?\n\nNo boats are left in the harbour after dusk. The gate then closes the harbour.",
            "",
        ),
        (
            "Can the boat be sold with used sails in winter?",
            "## Can the boat be repaired in winter?\n\nYes. It takes a week.",
            "",
        ),
    ],
    ids=["yes", "no", "no verdict", "another question"],
)
def test_a_section_that_asks_the_question_answers_it_with_its_first_word(question: str, text: str, answer: str) -> None:
    assert short_answer(question, text) == answer


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("Is Klipper based on argparse?", "Klipper is based on `optparse` instead of `argparse`.", "No"),
        ("Is Klipper compatible with Windows?", "Klipper is incompatible with Windows.", "No"),
        ("Can Klipper be installed by hand?", "Klipper can be uninstalled by hand.", ""),
        ("Does Klipper run in safe mode by default?", "The default of Klipper is to run in safe mode.", "Yes"),
        (
            "Can Klipper be packaged with free sails?",
            "Klipper is packaged with free sails for boats that are not freely sold.",
            "",
        ),
        (
            "Can I use the built-in server of Klipper in the harbour?",
            "At home you are probably using the built-in server of Klipper. In the harbour you should not use the built-in "
            "server of Klipper.",
            "No",
        ),
        ("Does Klipper support tides?", "Klipper supports tides. Klipper does not support currents.", ""),
    ],
    ids=[
        "instead of",
        "prefix",
        "no denying prefix",
        "by default",
        "denies something else",
        "the next sentence",
        "a denial nearby",
    ],
)
def test_yes_or_no_from_a_sentence(question: str, text: str, answer: str) -> None:
    assert short_answer(question, text) == answer


def test_a_german_prefix_denies_too() -> None:
    use_language("german")
    try:
        assert short_answer("Ist Werbung im Hafen erwünscht?", "Werbung ist im Hafen unerwünscht.") == "Nein"
    finally:
        use_language("english")


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("Which Python version does Klipper require?", "Klipper requires **Python 3.12** or newer.", "3.12"),
        ("Which Python version does Klipper require?", "Klipper requires Python and klipper_sails >= 0.6.0.", ""),
        (
            "In which release was support for sails dropped?",
            "## 4.1. On what boats does Klipper run?\n\nSupport for sails was dropped in the release called Etch.",
            "",
        ),
    ],
    ids=["its version", "the version of another thing", "the number of a section"],
)
def test_a_version_is_that_of_the_thing_asked_about(question: str, text: str, answer: str) -> None:
    assert short_answer(question, text) == answer


def test_the_origin_of_a_name_is_no_place() -> None:
    text = "The name Klipper comes from a fast ship, as on the picture in Hamburg."
    assert short_answer("Where does the name Klipper come from?", text) == ""


def test_where_to_do_something_is_no_place_that_is_only_mentioned() -> None:
    text = "Reports of problems are kept by the crew in Hamburg, and anyone can report a problem."
    assert short_answer("Where can I report a problem?", text) == ""
    assert short_answer("Where are the reports of problems kept?", text) == "Hamburg"
    assert short_answer("Where can the reports of problems be kept?", text) == "Hamburg"
