"""Envelope and oracle frontier against brute force."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.measure.frontier import interpolate, oracle_envelope, upper_concave_hull
from suffice.replay.compare import FixedReference


def highest(points, x):
    """Return the best height at x that a mixture of two points can reach."""
    best = max((y for px, y in points if px == pytest.approx(x, rel=1e-12)), default=0.0)
    for (x0, y0), (x1, y1) in product(points, repeat=2):
        if x0 < x1 and x0 <= x <= x1:
            best = max(best, y0 + (y1 - y0) * (x - x0) / (x1 - x0))
    return best


heights = st.integers(0, 6).map(lambda n: n / 6)


@given(st.lists(heights, min_size=1, max_size=7), st.floats(0, 1))
def test_the_hull_is_the_best_mixture_of_two_points(ys, share):
    points = [(float(i + 1), y) for i, y in enumerate(sorted(ys))]  # recall never falls
    x = 1 + share * (len(ys) - 1)
    assert interpolate(upper_concave_hull(points), x) == pytest.approx(highest(points, x), abs=1e-9)


def test_an_envelope_is_flat_beyond_its_ends():
    envelope = upper_concave_hull([(1.0, 0.2), (2.0, 0.3), (3.0, 0.6)])
    assert interpolate(envelope, 0.5) == 0.2
    assert interpolate(envelope, 99.0) == 0.6


# Recall never falls, and sixths are what a question with two or three gold passages gives.
curves = st.lists(heights, min_size=1, max_size=4).map(sorted)


def find_fixed(given_curves):
    points = [[(float(k), recall) for k, recall in enumerate(curve, 1)] for curve in given_curves]
    return FixedReference([str(number) for number in range(len(points))], points, draws=1).envelope


@given(st.lists(curves, min_size=1, max_size=4), st.floats(0, 1))
def test_fixed_k_is_the_best_mixture_of_two_fixed_numbers(given_curves, share):
    count, longest = len(given_curves), max(map(len, given_curves))
    points = []
    for k in range(1, longest + 1):
        rounds = [min(k, len(curve)) for curve in given_curves]
        recall = sum(curve[n - 1] for curve, n in zip(given_curves, rounds, strict=True)) / count
        points.append((sum(rounds) / count, recall))
    x = points[0][0] + share * (points[-1][0] - points[0][0])
    assert interpolate(find_fixed(given_curves), x) == pytest.approx(highest(points, x), abs=1e-9)


@given(st.lists(curves, min_size=1, max_size=3), st.floats(0, 1))
def test_the_oracle_is_the_best_mixture_of_all_allocations(given_curves, share):
    count = len(given_curves)
    best: dict[float, float] = {}
    for chosen in product(*(range(1, len(curve) + 1) for curve in given_curves)):
        recall = sum(curve[n - 1] for curve, n in zip(given_curves, chosen, strict=True)) / count
        cost = sum(chosen) / count
        best[cost] = max(best.get(cost, 0.0), recall)
    x = 1 + share * (max(best) - 1)
    assert interpolate(oracle_envelope(given_curves), x) == pytest.approx(highest(sorted(best.items()), x), abs=1e-9)


def test_a_frontier_by_hand():
    # One run has everything at once, one finds half in round 1 and the rest in round 3, one finds nothing.
    given_curves = [[1.0, 1.0, 1.0], [0.5, 0.5, 1.0], [0.0, 0.0, 0.0]]
    assert find_fixed(given_curves) == [(1.0, pytest.approx(0.5)), (3.0, pytest.approx(2 / 3))]
    assert oracle_envelope(given_curves) == [(1.0, pytest.approx(0.5)), (pytest.approx(5 / 3), pytest.approx(2 / 3))]
    assert interpolate(find_fixed(given_curves), 2.0) == pytest.approx(0.5 + 1 / 12)
