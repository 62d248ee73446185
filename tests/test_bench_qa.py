"""The benchmark of answers: what counts as an answer, and how its rows become a table."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from bridge_story import outcome, setup

from bench.qa import WithoutPassages, format_openings, format_table, holds, judge
from suffice.api import research
from suffice.models.capability import ModelProfile
from suffice.prompts.writing import SynthesisResponse
from suffice.testing import FixtureSearch, ScriptedModel, WordSearch, make_passage
from suffice.types import Passage, Query

PASSAGES = [
    make_passage("p1", "The Aller is a river in Germany. It was opened to ships in 1720.", "Aller", path="a.txt"),
    make_passage("p2", "The Sarno is a river in Italy. It was opened to ships in 1590.", "Sarno", path="s.txt"),
]


def judged(question: str, answer: str) -> dict[str, Any]:
    report = asyncio.run(research(question, search=WordSearch(PASSAGES), model="extractive"))
    asked = {"id": "q", "question": question, "answer": answer, "gold": ["p1", "p2"]}
    return {"set": "hotpotqa", "model": "extractive", "absent": False, "id": "q", **judge(asked, report, PASSAGES, 0.1)}


def test_words_count_without_case_articles_and_citations():
    assert holds("It was the **River Aller** [1].", ["river aller"])
    assert not holds("The Allerton bridge", ["Aller"])


def test_a_name_counts_where_it_stands():
    row = judged("When was the Aller opened to ships?", "1720")
    assert (row["evidence"], row["report"], row["first"]) == (True, True, True)
    assert row["sentence"] is None, "no model wrote one"
    assert row["recall"] == 1.0


@pytest.mark.parametrize(("answer", "right"), [("yes", True), ("no", False)])
def test_yes_and_no_count_only_as_short_answer(answer: str, right: bool):
    report = asyncio.run(
        research("When was the Aller opened to ships?", search=WordSearch(PASSAGES), model="extractive")
    )
    report = replace(report, final_answer=f"The text says {answer} by chance. {report.final_answer}")
    asked = {"id": "q", "question": "Are Aller and Sarno both rivers?", "answer": answer, "gold": ["p1", "p2"]}
    for short, is_given, is_right in (("Yes", True, right), (None, False, False)):
        row = judge(asked, replace(report, short_answer=short), PASSAGES, 0.1)
        assert row["evidence"] is None
        assert (row["yes_no"], row["right"], row["report"], row["first"]) == (is_given, is_right, is_right, is_right)


def test_the_table_has_a_row_a_model_and_their_difference():
    row = judged("When was the Aller opened to ships?", "1720")
    table = format_table([row, {**row, "model": "small", "report": False}])
    assert "| hotpotqa | extractive | 1 |" in table
    assert "small − extractive" in table
    assert "- report: -1.000" in table


@pytest.mark.parametrize(
    ("sentence", "opening", "right"),
    [
        ("The Aller was opened to ships in 1720 [1].", "kept", True),
        ("The Aller is a river in Germany [1].", "kept", False),
        ("The Aller, opened to ships in 1720, was painted by Bruno Kolbe [1].", "removed", True),
        ("The Aller was opened to ships in 1925 [1].", "removed", False),
        ("", None, None),
    ],
)
def test_the_opening_of_a_small_model_is_kept_or_removed(sentence: str, opening: str | None, right: bool | None):
    config = setup(
        ScriptedModel({"answer": [SynthesisResponse(sentence, sentence)]}),
        FixtureSearch(default=PASSAGES),
        profile=ModelProfile("sentence"),
        review=None,
    )
    question = "When was the Aller opened to ships?"
    report = outcome(replace(config, task=question, preset=replace(config.preset, adapts=True)))
    row = judge({"id": "q", "question": question, "answer": "1720", "gold": ["p1"]}, report, PASSAGES, 0.1)
    assert (row["opening"], row["opening_right"]) == (opening, right)


def test_removed_openings_are_counted_with_and_without_the_gold_answer():
    right = [("removed", True)] * 1 + [("kept", True)] * 3 + [("removed", None)]
    wrong = [("removed", False)] * 6 + [("kept", False)] * 2
    rows = [
        {"set": "musique", "model": "small", "absent": False, "id": i, "yes_no": None, "opening": o, "opening_right": r}
        for i, (o, r) in enumerate([*right, *wrong, (None, None)])
    ]
    rows += [{**rows[0], "id": "again", "yes_no": True}, rows[0]]
    table = format_openings(rows)
    assert "| musique | small | 4 | 1 (25%) | 8 | 6 (75%) | +0.50 [" in table
    assert "does not list them: 1." in table


def test_labelled_openings_are_counted_by_label():
    labels = [("answers", "kept")] * 3 + [("true", "removed")] + [("false", "removed")] * 3 + [("false", "kept")]
    table = format_openings([{"set": "musique", "id": i, "opening": o, "label": x} for i, (x, o) in enumerate(labels)])
    assert "| musique | 3 | 0% | 1 | 100% | 4 | 75% | 0 | – | 0 | – | +0.50 [" in table


def test_absent_answers_are_left_out_of_the_search():
    class Found:
        async def __call__(self, query: Query, k: int) -> list[Passage]:
            return PASSAGES[:k]

    found = asyncio.run(WithoutPassages(Found(), ["p1"])(Query("river"), 1))
    assert [passage.id for passage in found] == ["p2"]
