"""What a question asks for."""

import pytest

from suffice.text.question import analyze_question


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between a group and a chain?", ("group", "chain")),
        ("cached_db or cache session backend: how do they differ?", ("cached_db", "cache session backend")),
        ("Compare the price of MSFT and IBM on Jan 1 2000.", ("MSFT", "IBM")),
        ("How does a Group differ from a Command?", ("Group", "Command")),
        ("Was ist der Unterschied zwischen einem Entwickler und einem Betreuer?", ("Entwickler", "Betreuer")),
        ("¿Qué diferencia hay entre safe-upgrade y full-upgrade?", ("safe-upgrade", "full-upgrade")),
    ],
)
def test_the_things_that_a_question_compares(question: str, sides: tuple[str, str]) -> None:
    assert analyze_question(question).sides == sides


def test_a_question_for_a_version_may_describe_it_first() -> None:
    assert analyze_question("What is the oldest Python version that Flask supports?").kind == "version"


def test_a_question_when_something_counts_as_something_asks_for_no_date():
    assert analyze_question("When is a worker considered dead?").span == "none"
    assert analyze_question("When was the worker started?").span == "date"
