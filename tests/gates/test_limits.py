"""``budget`` and ``fixed``: which limit stops a run, and with which reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import budget, fixed

REASONS = {
    "rounds": "budget_rounds",
    "queries": "budget_queries",
    "tokens": "budget_tokens",
    "seconds": "budget_time",
    "usd": "budget_cost",
}


@pytest.mark.parametrize(("bound", "reason"), REASONS.items())
def test_each_limit_stops_the_run_with_its_own_reason(bound, reason):
    gate = budget(**{bound: 5})
    under, reached, over = ([{f"spend.{bound}": spent}] for spent in (4.999, 5.0, 6.0))
    assert gate.judge(under).stop is False
    assert [gate.judge(spent).stop for spent in (reached, over)] == [True, True]
    assert gate.judge(reached).reason == reason
    assert gate.judge(reached).signals == {f"spend.{bound}": (5.0, 5.0)}
    assert gate.needs == {f"spend.{bound}"}


@given(st.dictionaries(st.sampled_from(sorted(REASONS)), st.none() | st.floats(0, 10)))
def test_the_first_limit_in_order_gives_the_reason(spent):
    gate = budget(rounds=5, queries=5, tokens=5, seconds=5, usd=5)
    verdict = gate.judge([{f"spend.{name}": value for name, value in spent.items()}])
    reached = [reason for name, reason in REASONS.items() if (spent.get(name) or 0) >= 5]
    assert verdict.stop is bool(reached)
    assert verdict.reason == (reached[0] if reached else "")


def test_an_unknown_cost_cannot_trigger_the_budget():
    assert budget(usd=0.01).judge([{"spend.usd": None}]).stop is False
    assert budget(usd=0.01, rounds=1).judge([{"spend.usd": None, "spend.rounds": 1.0}]).reason == "budget_rounds"


def test_a_budget_without_limits_never_stops():
    assert budget().judge([{"spend.rounds": 1e9}]).stop is False


@pytest.mark.parametrize("bound", [*REASONS])
@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_must_be_above_zero(bound, value):
    with pytest.raises(ValueError, match="greater than 0"):
        budget(**{bound: value})


def test_fixed_stops_after_its_round():
    assert [fixed(3).judge([{"spend.rounds": float(n)}]).stop for n in (1, 2, 3, 4)] == [False, False, True, True]
    assert fixed(3).judge([{"spend.rounds": 3.0}]).reason == "budget_rounds"
    assert fixed(3).judge([{}]).stop is None


@pytest.mark.parametrize("k", [0, -2, 1.5])
def test_fixed_takes_whole_rounds(k):
    with pytest.raises(ValueError, match="whole number"):
        fixed(k)
