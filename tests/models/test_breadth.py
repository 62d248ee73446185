"""How broad a question is: one fact, or what a named thing does in one case, is narrow however the sentence is built."""

import pytest

from suffice.models.breadth import read_breadth


@pytest.mark.parametrize(
    "question",
    [
        "What does textwrap.shorten do with text that does not fit?",
        "What does gunicorn do with workers that are silent too long?",
        "What does the ferry do with cars that are too high?",
        "What happens to the rest of the crew when one sailor falls ill?",
        "In what year did the plant ecologist who assisted the chemist that introduced the concept of pH die?",
        "Which river flows through the city where the composer of the opera Alma was born?",
        "Which UDP port does chronyd use for commands?",
        "Which class does Flask use for responses?",
        "What share of the budget goes to research?",
    ],
)
def test_one_fact_is_narrow_in_however_many_words(question: str) -> None:
    assert read_breadth(question) == "narrow"


@pytest.mark.parametrize(
    "question",
    [
        "What does the documentation say about avoiding bans?",
        "What is known about caching of responses on disk?",
        "How is concurrency supported across the standard library?",
        "What do the documents say about support?",
    ],
)
def test_what_is_said_on_a_matter_is_broad(question: str) -> None:
    assert read_breadth(question) == "broad"


@pytest.mark.parametrize(
    "question", ["Which UDP ports does chronyd use?", "Which conditions does Fjordlaks set for renewing?"]
)
def test_several_of_a_kind_are_a_list(question: str) -> None:
    assert read_breadth(question) == "list"
