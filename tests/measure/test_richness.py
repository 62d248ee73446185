"""Good–Turing and Chao1 against values worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.measure.richness import SightingCounter


def seen(things):
    sightings = SightingCounter()
    sightings.add(things)
    return sightings


def test_without_sightings_the_estimates_are_unknown():
    assert seen("").estimate_unseen_mass() is None
    assert seen("").estimate_richness() is None


@pytest.mark.parametrize(
    ("things", "mass", "richness"),
    [
        ("a", 1.0, 1.0),  # one thing once: 1 + 1·0/2
        ("ab", 1.0, 3.0),  # 2 + 2·1/(2·1)
        ("abc", 1.0, 6.0),  # 3 + 3·2/(2·1)
        ("aab", 1 / 3, 2.0),  # f₁ = 1, f₂ = 1
        ("aabbcd", 2 / 6, 4 + 2 / 6),  # f₁ = 2, f₂ = 2
        ("aaabbbccc", 0.0, 3.0),
        ("aaabcdef", 5 / 8, 6 + 20 / 2),  # f₁ = 5, f₂ = 0
    ],
)
def test_estimates_by_hand(things, mass, richness):
    assert seen(things).estimate_unseen_mass() == pytest.approx(mass)
    assert seen(things).estimate_richness() == pytest.approx(richness)


@given(st.lists(st.lists(st.integers(0, 12), max_size=6), max_size=8))
def test_counting_in_parts_equals_counting_at_once(parts):
    whole = [thing for part in parts for thing in part]
    sightings = SightingCounter()
    for part in parts:
        sightings.add(part)
    times = [whole.count(thing) for thing in set(whole)]
    assert (sightings.total, sightings.distinct) == (len(whole), len(times))
    once, twice = times.count(1), times.count(2)
    if whole:
        assert sightings.estimate_unseen_mass() == pytest.approx(once / len(whole))
        assert sightings.estimate_richness() == pytest.approx(len(times) + once * (once - 1) / (2 * (twice + 1)))
        assert sightings.estimate_richness() >= sightings.distinct
