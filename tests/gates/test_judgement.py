"""``sufficiency``, ``predicates``, ``judged`` and ``stable``: stops on a judgement of the evidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import judged, predicates, stable, sufficiency
from suffice.gates.parse import parse_gate


@given(st.floats(0, 1), st.floats(0.01, 1))
def test_sufficiency_stops_at_its_probability(probability, p):
    verdict = sufficiency(p).judge([{"sufficiency.model": probability}])
    assert verdict.stop is (probability >= p)
    assert verdict.reason == ("sufficient" if probability >= p else "")


def test_sufficiency_that_could_not_be_judged_is_unknown():
    verdict = sufficiency().judge([{"sufficiency.model": None}])
    assert verdict.stop is None
    assert verdict.signals == {"sufficiency.model": (None, 0.5)}
    assert sufficiency().judge([]).stop is None


@pytest.mark.parametrize("p", [0, -0.1, 1.1])
def test_sufficiency_takes_a_probability(p):
    with pytest.raises(ValueError, match="probability"):
        sufficiency(p)


def test_predicates_without_a_belief_abstain():
    assert predicates().judge([]).stop is None
    assert predicates().judge([{"belief.open": 0.0}, {}]).stop is None
    assert predicates().judge([{"belief.open": 3.0}]).stop is False


def test_judged_reads_its_own_style_only():
    readings = [{"judged.neutral": 1.0}]
    assert judged("neutral").judge(readings).stop is True
    assert judged().judge(readings).stop is None
    with pytest.raises(ValueError, match="judged"):
        judged("harsh")


@pytest.mark.parametrize(
    ("rounds", "margin", "stop"),
    [
        (0, None, False),
        (1, 0.9, False),
        (1, None, False),
        (2, 0.25, True),
        (2, 0.24, False),
        (3, 0.9, True),
        (2, None, None),
        (None, None, None),
    ],
)
def test_stable_needs_the_same_answer_twice_and_a_margin(rounds, margin, stop):
    verdict = stable().judge([{}, {"answer.stable": rounds, "answer.margin": margin}])
    assert verdict.stop is stop
    assert verdict.reason == ("sufficient" if stop else "")
    assert verdict.signals == {"answer.stable": (rounds, 2), "answer.margin": (margin, 0.25)}
    assert ("log-probabilities" in verdict.because) is (stop is None)


def test_stable_without_a_margin_looks_only_at_the_answer():
    assert parse_gate("stable(0)").needs == {"answer.stable"}
    assert parse_gate("stable(margin=0)").judge([{"answer.stable": 2.0}]).stop is True
    assert str(parse_gate("stable(.25) | stable(0.4)")) == "stable | stable(margin=0.4)"
    assert stable().judge([]).stop is None


@pytest.mark.parametrize("margin", [-0.1, 1, 1.5])
def test_stable_takes_a_difference_of_probabilities(margin):
    with pytest.raises(ValueError, match="margin"):
        stable(margin)
