"""Rules and the reader together: what each decides, what rules veto, and what happens without the reader."""

import asyncio

import pytest

from suffice.claims.checkers import ReaderChecker, default_checker
from suffice.claims.checkers import reader as module
from suffice.errors import ModelError
from suffice.testing import make_passage

SOURCE = make_passage(
    "p",
    "The Meridian bridge was designed by the engineer Ada Halloran and built from 1887 to 1889. It carried trams until "
    "1956, when the line was closed because of rising costs. Today it is open to cyclists and walkers only.",
    "Meridian bridge",
)


def check(claim):
    checker = ReaderChecker()
    [span] = asyncio.run(checker(claim, [SOURCE]))
    return span, checker


def test_other_words_for_the_same_thing_are_supported_with_a_probability():
    span, checker = check("Rising costs led to the closure of the tram line.")
    assert (span.stance, span.checker) == ("supports", "reader")
    assert span.probability > 0.5
    assert "rising costs" in SOURCE.text[span.start : span.end]
    assert checker.pairs_read == 1


@pytest.mark.parametrize(
    ("claim", "stance"),
    [
        ("It carried trams until 1956, when the line was closed", "supports"),
        ("It carried trams until 1957.", "contradicts"),
    ],
)
def test_rules_settle_quotes_and_figures_without_the_reader(claim, stance):
    span, checker = check(claim)
    assert (span.stance, span.checker, span.probability) == (stance, "lexical", None)
    assert checker.pairs_read == 0


@pytest.mark.parametrize(
    "claim",
    [
        "Trams stopped running across the bridge 40 years ago.",
        "The bridge was planned by Ada Brennan, an engineer.",
        "The Meridian bridge was designed by the engineer Ada Halloran and rebuilt from 1887 to 1901.",
    ],
)
def test_a_passage_without_a_name_or_number_of_the_claim_never_supports_it(claim):
    assert check(claim)[0].stance != "supports"


@pytest.mark.parametrize(
    "claim",
    [
        "The ferry carried 1,200,000 passengers in 2021.",
        "Velholm Yard built the ferry in the 1980s.",
        "The crossing takes 25 min.",
    ],
)
def test_a_figure_in_another_spelling_is_supported(claim):
    text = "The ferry carried 1.2 million passengers in 2021. The crossing takes 25 minutes. Velholm Yard built it in 1987."
    [span] = asyncio.run(ReaderChecker()(claim, [make_passage("p", text, "Karsund ferry")]))
    assert span.stance == "supports"


class SureReader:
    """A reader that is as sure as it is told that everything is supported."""

    def __init__(self, supported):
        self.supported = supported

    def judge(self, pairs):
        import numpy as np

        return np.array([[self.supported, 0.0, 1 - self.supported]] * len(pairs))


@pytest.mark.parametrize(
    ("claim", "sure", "supported"),
    [
        ("Halloran designed it, and the bridge is open to cyclists.", 0.6, True),
        ("It is an engineer's work that Brennan never saw completed.", 0.6, False),  # A name is missing.
        ("It is an engineer's work that Brennan never saw completed.", 0.8, True),
        ("The Meridian bridge was not designed by the engineer Ada Halloran.", 0.8, False),  # A changed copy.
        (
            "It carried trams from 1889, and building it had begun two years before.",
            0.95,
            False,
        ),  # 2 is in no sentence.
        ("Trams crossed it until 1956, and until 1889 it was being built.", 0.95, True),  # Another year is nearer.
    ],
)
def test_how_sure_the_reader_must_be(claim, sure, supported):
    [span] = asyncio.run(ReaderChecker(SureReader(sure))(claim, [SOURCE]))
    assert (span.stance == "supports") is supported


def test_the_reader_finds_a_contradiction_that_has_no_figure():
    span, _ = check("The bridge was never used by trams.")
    assert span.stance == "contradicts"
    assert span.reason


def test_a_passage_about_something_else_is_not_read():
    checker = ReaderChecker()
    asyncio.run(checker("Whales sing.", [SOURCE]))
    assert checker.pairs_read == 0


def test_without_the_reader_words_and_figures_decide(monkeypatch):
    class Broken:
        def verify(self):
            raise ModelError("no file")

    assert default_checker().name == "lexical+reader"
    monkeypatch.setattr(module, "get_reader", Broken)
    assert default_checker().name == "lexical"
    assert default_checker(lambda texts: texts).name == "lexical+embedding"
