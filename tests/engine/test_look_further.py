"""Before a model-free answer is quoted, the reader reads what is nearest to the question, beyond what the rounds found."""

import asyncio

from suffice import research
from suffice.testing import make_passage
from suffice.types import Passage, Query, Report

PLACES = ("Bergen", "Oslo", "Tromso", "Moss", "Hamar", "Molde", "Voss")
DECOYS = [make_passage(f"p{place}", f"The backup in {place} keeps its copies on a disk.", place) for place in PLACES]
ANSWER = make_passage("answer", "The backup deletes old copies after forty days.", "Retention")


class RankedSearch:
    """A search whose own order is poor: the passage that answers comes last."""

    def __init__(self, is_own_index: bool) -> None:
        self.is_own_index = is_own_index

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        return [*DECOYS, ANSWER][:k]


def ask(is_own_index: bool) -> Report:
    question = "After how many days does the backup delete old copies?"
    options = {"k": 1, "stop": "fixed(1)", "breadth": "narrow", "model": "extractive"}
    return asyncio.run(research(question, search=RankedSearch(is_own_index), **options))  # type: ignore[arg-type]


def test_the_answer_is_quoted_from_a_passage_that_no_round_brought() -> None:
    report = ask(is_own_index=True)
    assert "forty days" in report.excerpts[0].text
    assert [record.new_passages for record in report.stop.rounds] == [1]


def test_what_was_read_beyond_the_rounds_is_no_source_unless_it_is_quoted() -> None:
    report = ask(is_own_index=True)
    assert {source.id for source in report.sources} == {excerpt.source for excerpt in report.excerpts}


def test_a_search_that_costs_something_is_not_asked_beyond_the_rounds() -> None:
    assert "forty days" not in "".join(excerpt.text for excerpt in ask(is_own_index=False).excerpts)
