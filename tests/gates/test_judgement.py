"""``sufficiency``, ``predicates`` and ``judged``: stops on a judgement of the evidence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.gates import judged, predicates, sufficiency


@settings(deadline=None, max_examples=100)
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
