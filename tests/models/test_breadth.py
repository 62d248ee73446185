"""How broad a question is: what a named thing does in one case is narrow, however the sentence is built."""

import pytest

from suffice.models.breadth import read_breadth


@pytest.mark.parametrize(
    "question",
    [
        "What does textwrap.shorten do with text that does not fit?",
        "What does gunicorn do with workers that are silent too long?",
        "What does the ferry do with cars that are too high?",
        "What happens to the rest of the crew when one sailor falls ill?",
    ],
)
def test_what_a_thing_does_in_one_case_is_narrow(question: str) -> None:
    assert read_breadth(question) == "narrow"


@pytest.mark.parametrize(
    "question",
    [
        "What does the documentation say about avoiding bans?",
        "What is known about caching of responses on disk?",
        "How is concurrency supported across the standard library?",
    ],
)
def test_what_is_said_on_a_matter_is_broad(question: str) -> None:
    assert read_breadth(question) == "broad"
