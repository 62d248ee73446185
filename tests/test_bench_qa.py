"""The benchmark of answers: what counts as an answer, and how its rows become a table."""

import asyncio
from typing import Any

import pytest

from bench.qa import WithoutPassages, format_table, holds, judge
from suffice.api import research
from suffice.testing import WordSearch, make_passage
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
    row = judged("Are Aller and Sarno both rivers?", answer)
    assert row["evidence"] is None
    assert (row["yes_no"], row["right"], row["report"], row["first"]) == (True, right, right, right)


def test_the_table_has_a_row_a_model_and_their_difference():
    row = judged("When was the Aller opened to ships?", "1720")
    table = format_table([row, {**row, "model": "small", "report": False}])
    assert "| hotpotqa | extractive | 1 |" in table
    assert "small − extractive" in table
    assert "- report: -1.000" in table


def test_absent_answers_are_left_out_of_the_search():
    class Found:
        async def __call__(self, query: Query, k: int) -> list[Passage]:
            return PASSAGES[:k]

    found = asyncio.run(WithoutPassages(Found(), ["p1"])(Query("river"), 1))
    assert [passage.id for passage in found] == ["p2"]
