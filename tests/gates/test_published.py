"""Saturation and exhaustion: their boundaries, their patience, and what they make of unknown readings."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from suffice.gates import exhaustion, saturation, unseen

quick = settings(deadline=None, max_examples=150)


def history(*pairs):
    """Rounds from (J, UPR) pairs."""
    return [{"overlap.jaccard": j, "overlap.upr": u} for j, u in pairs]


def test_saturation_stops_below_its_threshold():
    stops = [saturation().judge([{"novelty.words": value}]).stop for value in (0.0, 2.0, 3.0, 10.0)]
    assert stops == [True, True, False, False]
    assert saturation().judge([{"novelty.words": 2.0}]).reason == "saturated"
    assert saturation(0).judge([{"novelty.words": 0.0}]).stop is False
    assert saturation(5).judge([{"novelty.words": 4.0}]).signals == {"novelty.words": (4.0, 5.0)}


def test_saturation_does_not_guess():
    assert saturation().judge([{"novelty.words": None}]).stop is None
    assert saturation().judge([{"novelty.words": 0.0}, {}]).stop is None
    assert saturation().judge([]).stop is None


@pytest.mark.parametrize("options", [{"threshold": -1}, {"threshold": 11}, {"by": "smell"}])
def test_saturation_refuses_settings_without_meaning(options):
    with pytest.raises(ValueError, match="saturation"):
        saturation(**options)


@pytest.mark.parametrize(
    ("j", "upr", "stop"),
    [
        (0.6, 0.3, True),
        (0.599, 0.3, False),
        (0.6, 0.301, False),
        (1.0, 0.0, True),
        (0.0, 0.0, False),
        (1.0, 1.0, False),
    ],
)
def test_exhaustion_at_its_boundaries(j, upr, stop):
    assert exhaustion(p=1).judge(history((j, upr))).stop is stop


def test_exhaustion_wants_p_rounds_running():
    circling, moving = (0.9, 0.0), (0.1, 1.0)
    gate = exhaustion()
    assert gate.judge(history(circling)).stop is False
    assert gate.judge(history(circling, moving, circling)).stop is False
    assert gate.judge(history(moving, circling, circling)).stop is True
    assert gate.judge(history(circling, circling)).reason == "exhausted"
    assert exhaustion(p=3).judge(history(circling, circling)).stop is False
    assert exhaustion(p=3).judge(history(circling, circling, circling)).stop is True


def test_exhaustion_names_its_signals():
    verdict = exhaustion(j=0.5, u=0.2).judge(history((0.7, 0.1), (0.8, 0.0)))
    assert verdict.signals == {"overlap.jaccard": (0.8, 0.5), "overlap.upr": (0.0, 0.2)}


def test_a_failed_search_leaves_exhaustion_unknown_unless_another_round_settles_it():
    circling, moving, failed = (0.9, 0.0), (0.1, 1.0), (0.9, None)
    gate = exhaustion()
    assert gate.judge(history(circling, failed)).stop is None
    assert gate.judge(history(failed, circling)).stop is None
    assert gate.judge(history(moving, failed)).stop is False
    assert gate.judge(history(failed, moving)).stop is False
    assert gate.judge([]).stop is None


def test_another_window_is_another_reading():
    gate = exhaustion(window=2, p=1)
    assert gate.needs == {"overlap.jaccard@2", "overlap.upr"}
    assert gate.judge([{"overlap.jaccard": 0.0, "overlap.jaccard@2": 0.9, "overlap.upr": 0.0}]).stop is True
    assert exhaustion().needs == {"overlap.jaccard", "overlap.upr"}


shares = st.floats(0, 1, allow_subnormal=False)


@quick
@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=40), st.integers(1, 4), shares, shares)
def test_exhaustion_follows_its_definition(pairs, p, j, u):
    stagnated = [round_j >= j and round_u <= u for round_j, round_u in pairs]
    assert exhaustion(j=j, u=u, p=p).judge(history(*pairs)).stop is (len(pairs) >= p and all(stagnated[-p:]))


def averages(values, weight):
    """x̄ₜ = w·xₜ + (1 − w)·x̄ₜ₋₁, from the first round on."""
    average, all_of_them = values[0], []
    for value in values:
        average = weight * value + (1 - weight) * average
        all_of_them.append(average)
    return all_of_them


@quick
@given(
    st.lists(st.tuples(shares, shares), min_size=1, max_size=60), st.floats(0.05, 1), st.integers(1, 3), shares, shares
)
def test_smooth_exhaustion_judges_moving_averages(pairs, weight, p, j, u):
    js, us = (averages(values, weight) for values in zip(*pairs, strict=True))
    near = 2e-3  # What lies far back may be left out of the average; it weighs less than this.
    assume(all(abs(value - j) > near for value in js[-p:]))
    assume(all(abs(value - u) > near for value in us[-p:]))
    verdict = exhaustion(j=j, u=u, p=p, smooth=weight).judge(history(*pairs))
    stagnated = [round_j >= j and round_u <= u for round_j, round_u in zip(js, us, strict=True)]
    assert verdict.stop is (len(pairs) >= p and all(stagnated[-p:]))
    assert verdict.signals["overlap.jaccard"][0] == pytest.approx(js[-1], abs=near)
    assert verdict.signals["overlap.upr"][0] == pytest.approx(us[-1], abs=near)


def test_smooth_exhaustion_passes_over_unknown_rounds_but_does_not_stop_on_one():
    gate = exhaustion(p=1, smooth=0.5)
    assert gate.judge(history((0.9, 0.0), (0.9, None), (0.9, 0.0))).stop is True
    assert gate.judge(history((0.9, 0.0), (0.9, 0.0), (0.9, None))).stop is None


@pytest.mark.parametrize("weight", [1e-3, 1e-9, 1e-17])
def test_any_weight_that_is_accepted_can_be_judged(weight):
    assert exhaustion(smooth=weight).judge(history((0.9, 0.0), (0.9, 0.0), (0.9, 0.0))).stop is True


@pytest.mark.parametrize(
    "options", [{"j": 1.1}, {"u": -0.1}, {"p": 0}, {"p": 1.5}, {"window": 0}, {"smooth": 0}, {"smooth": 1.5}]
)
def test_exhaustion_refuses_settings_without_meaning(options):
    with pytest.raises(ValueError, match="exhaustion"):
        exhaustion(**options)


def test_a_conjunction_promises_no_more_than_its_weakest_part():
    readings = [{"unseen.mass": 0.0, "novelty.words": 0.0}]
    assert (unseen() & saturation()).judge(readings).promise == "heuristic"
    assert (unseen() | saturation()).judge(readings).promise == "estimate"
