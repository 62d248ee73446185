"""The recall test against an enumeration of every possible draw."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.measure.recall import min_hidden_below_target, p_recall_below


def by_enumeration(found, unseen, drawn, hits, target):
    """Return the largest chance of so few hits over all cases in which recall, hits included, is below the target."""
    worst = 0.0
    for relevant in range(hits, unseen + 1):
        if Fraction(found + hits, found + relevant) >= target if found + relevant else True:
            continue
        draws = list(combinations(range(unseen), drawn))
        few = sum(sum(card < relevant for card in draw) <= hits for draw in draws)
        worst = max(worst, few / len(draws))
    return worst


@given(st.data())
def test_the_p_value_is_the_largest_chance_of_the_sample(data):
    unseen = data.draw(st.integers(1, 8))
    drawn = data.draw(st.integers(0, unseen))
    hits = data.draw(st.integers(0, drawn))
    found = data.draw(st.integers(0, 12))
    target = data.draw(st.sampled_from([Fraction(1, 2), Fraction(3, 4), Fraction(4, 5), Fraction(9, 10)]))
    expected = by_enumeration(found, unseen, drawn, hits, target)
    assert p_recall_below(found, unseen, drawn, hits, float(target)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "target", [Fraction(1, 2), Fraction(7, 10), Fraction(9, 10), Fraction(19, 20), Fraction(99, 100)]
)
def test_the_hidden_number_is_the_smallest_with_recall_below_the_target(target):
    for found in [*range(0, 300), 9_999, 90_000, 99_000]:
        hidden = min_hidden_below_target(found, float(target))
        assert Fraction(found, found + hidden) < target
        assert hidden == 1 or Fraction(found, found + hidden - 1) >= target


def test_no_sample_and_a_full_sample():
    assert p_recall_below(found=20, unseen=50, drawn=0, relevant_drawn=0, target=0.9) == 1.0  # nothing was sampled
    assert p_recall_below(found=20, unseen=50, drawn=50, relevant_drawn=0, target=0.9) == 0.0  # everything was
    assert p_recall_below(found=20, unseen=2, drawn=0, relevant_drawn=0, target=0.9) == 0.0  # too few left to matter


def test_more_draws_without_hits_lower_the_p_value():
    values = [p_recall_below(18, 200, drawn, 0, 0.9) for drawn in range(0, 201, 10)]
    assert values == sorted(values, reverse=True)
