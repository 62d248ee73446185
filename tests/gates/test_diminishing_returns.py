"""``saturation``, ``exhaustion``, ``gain``, ``unseen`` and ``recall`` at their boundaries and on unknown readings."""

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from round_views import AllNew, Hit

from suffice import exhaustion, gain, recall, saturation, unseen
from suffice.measure.recall import p_recall_below
from suffice.meters.base import MeterContext
from suffice.meters.semantic import CoverageMeter


def history(*pairs):
    """Rounds from (J, UPR) pairs."""
    return [{"overlap.jaccard": j, "overlap.upr": u} for j, u in pairs]


def test_saturation_stops_below_its_threshold():
    stops = [saturation().judge([{"novelty.words": value}]).stop for value in (0.0, 2.0, 3.0, 10.0)]
    assert stops == [True, True, False, False]
    by_embedding = [saturation(by="embedding").judge([{"novelty.embedding": value}]).stop for value in (2.0, 2.5)]
    assert by_embedding == [True, False]
    assert saturation().judge([{"novelty.words": 2.0}]).reason == "saturated"
    assert saturation(0).judge([{"novelty.words": 0.0}]).stop is False
    assert saturation(5).judge([{"novelty.words": 4.0}]).signals == {"novelty.words": (4.0, 5.0)}


def test_saturation_is_unknown_without_a_reading():
    assert saturation().judge([{"novelty.words": None}]).stop is None
    assert saturation().judge([{"novelty.words": 0.0}, {}]).stop is None
    assert saturation().judge([]).stop is None


@pytest.mark.parametrize("options", [{"threshold": -1}, {"threshold": 11}, {"by": "smell"}])
def test_saturation_rejects_invalid_settings(options):
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


def test_exhaustion_needs_p_rounds_in_a_row():
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


def test_a_failed_search_makes_exhaustion_unknown_unless_another_round_decides():
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


@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=40), st.integers(1, 4), shares, shares)
def test_exhaustion_follows_its_definition(pairs, p, j, u):
    stagnated = [round_j >= j and round_u <= u for round_j, round_u in pairs]
    assert exhaustion(j=j, u=u, p=p).judge(history(*pairs)).stop is (len(pairs) >= p and all(stagnated[-p:]))


def averages(values, weight):
    """x̄ₜ = w·xₜ + (1 − w)·x̄ₜ₋₁, from the first round on."""
    average, found = values[0], []
    for value in values:
        average = weight * value + (1 - weight) * average
        found.append(average)
    return found


@given(
    st.lists(st.tuples(shares, shares), min_size=1, max_size=60), st.floats(0.05, 1), st.integers(1, 3), shares, shares
)
def test_smooth_exhaustion_judges_moving_averages(pairs, weight, p, j, u):
    js, us = (averages(values, weight) for values in zip(*pairs, strict=True))
    near = 2e-3  # Rounds far back may be left out of the average; they weigh less than this.
    assume(all(abs(value - j) > near for value in js[-p:]))
    assume(all(abs(value - u) > near for value in us[-p:]))
    verdict = exhaustion(j=j, u=u, p=p, smooth=weight).judge(history(*pairs))
    stagnated = [round_j >= j and round_u <= u for round_j, round_u in zip(js, us, strict=True)]
    assert verdict.stop is (len(pairs) >= p and all(stagnated[-p:]))
    assert verdict.signals["overlap.jaccard"][0] == pytest.approx(js[-1], abs=near)
    assert verdict.signals["overlap.upr"][0] == pytest.approx(us[-1], abs=near)


def test_smooth_exhaustion_skips_unknown_rounds_but_does_not_stop_on_one():
    gate = exhaustion(p=1, smooth=0.5)
    assert gate.judge(history((0.9, 0.0), (0.9, None), (0.9, 0.0))).stop is True
    assert gate.judge(history((0.9, 0.0), (0.9, 0.0), (0.9, None))).stop is None


@pytest.mark.parametrize("weight", [1e-3, 1e-9, 1e-17])
def test_any_weight_that_is_accepted_can_be_judged(weight):
    assert exhaustion(smooth=weight).judge(history((0.9, 0.0), (0.9, 0.0), (0.9, 0.0))).stop is True


@pytest.mark.parametrize(
    "options", [{"j": 1.1}, {"u": -0.1}, {"p": 0}, {"p": 1.5}, {"window": 0}, {"smooth": 0}, {"smooth": 1.5}]
)
def test_exhaustion_rejects_invalid_settings(options):
    with pytest.raises(ValueError, match="exhaustion"):
        exhaustion(**options)


def embed(texts):
    rows = [[float("copper" in text.lower()), float("silver" in text.lower()), 0.1] for text in texts]
    return numpy.array([numpy.array(row) / numpy.linalg.norm(row) for row in rows])


COPPER, SILVER = (AllNew((Hit(word, f"{word} is a metal"),)) for word in ("copper", "silver"))


def covered(*views, outline_before=None):
    """Return the readings of a coverage meter. The topics change before round number ``outline_before``."""
    meter = CoverageMeter(MeterContext("Compare Copper with Silver", frozenset(), embed))
    readings = []
    for number, view in enumerate(views):
        if number == outline_before:
            meter.set_topics(["Copper", "Silver", "Tin"])
        readings.append(meter.read(view))
    return readings


def stop_round(gate, readings):
    return next((n for n in range(1, len(readings) + 1) if gate.judge(readings[:n]).stop), None)


def test_gain_needs_its_window_filled():
    flat = [{"coverage.gain": 0.0}] * 4
    assert gain().judge([]).stop is None
    assert gain().judge(flat[:1]).stop is False
    assert gain().judge(flat[:2]).reason == "diminished"
    assert gain(w=3).judge(flat[:2]).stop is False
    assert gain(w=3).judge(flat[:3]).stop is True


def test_gain_judges_the_mean_of_the_last_rounds_only():
    values = [{"coverage.gain": value} for value in (1.0, 0.004, 0.004)]
    assert stop_round(gain(), values) == 3
    assert gain(eps=0.004).judge(values).stop is False  # the mean has to be under, not at, the threshold
    assert gain().judge([*values, {"coverage.gain": 0.02}]).stop is False


def test_gain_abstains_while_a_gain_of_its_window_is_unknown():
    readings = [{"coverage.gain": value} for value in (0.0, None, 0.0, 0.0)]
    assert [gain().judge(readings[:n]).stop for n in (2, 3, 4)] == [None, None, True]
    assert gain().judge([{}]).stop is None


def test_gain_over_a_run_that_finds_nothing_new():
    readings = covered(COPPER, SILVER, AllNew(), AllNew())
    assert stop_round(gain(), readings) == 4
    assert readings[0]["coverage.gain"] == 1.0  # the first round counts as a full gain


def test_a_changed_outline_restarts_the_gain():
    readings = covered(COPPER, SILVER, AllNew(), AllNew(), AllNew(), outline_before=3)
    assert readings[3]["coverage.gain"] == 1.0
    assert stop_round(gain(), readings) is None


def test_searches_without_results_from_the_start():
    readings = covered(AllNew(), AllNew(), AllNew())
    assert [now["coverage.mean"] for now in readings] == [0.0, 0.0, 0.0]
    assert stop_round(gain(), readings) == 3


def test_without_an_embedding_model_gain_abstains():
    meter = CoverageMeter(MeterContext("Compare Copper with Silver"))
    assert gain().judge([meter.read(COPPER), meter.read(COPPER)]).stop is None


@pytest.mark.parametrize("options", [{"eps": 0}, {"eps": -1}, {"w": 0}, {"w": 1.5}])
def test_gain_rejects_invalid_settings(options):
    with pytest.raises(ValueError, match="gain"):
        gain(**options)


def test_unseen_is_unknown_before_the_first_hit():
    assert unseen().judge([]).stop is None
    assert unseen().judge([{}]).stop is None
    assert unseen().judge([{"unseen.mass": None}]).stop is None


def test_unseen_states_its_estimate():
    verdict = unseen(0.3).judge([{"unseen.mass": 0.25}])
    assert (verdict.stop, verdict.promise, verdict.signals) == (True, "estimate", {"unseen.mass": (0.25, 0.3)})
    assert "0.25" in verdict.because
    assert unseen(0).judge([{"unseen.mass": 0.0}]).stop is True


@pytest.mark.parametrize("mass", [-0.1, 1, 2])
def test_unseen_rejects_invalid_masses(mass):
    with pytest.raises(ValueError, match="unseen"):
        unseen(mass)


SAMPLE = {"recall.found": 18.0, "recall.unseen": 200.0, "recall.drawn": 190.0, "recall.hits": 0.0}


@pytest.mark.parametrize("missing", sorted(SAMPLE))
def test_recall_abstains_without_a_complete_sample(missing):
    verdict = recall().judge([{**SAMPLE, missing: None}])
    assert verdict.stop is None
    assert "no random sample" in verdict.because
    assert "no random sample" in recall().judge([]).because


def test_recall_reports_the_p_value():
    verdict = recall().judge([SAMPLE])
    p = p_recall_below(18, 200, 190, 0, 0.9)
    assert verdict.signals["recall.p"] == (pytest.approx(p), pytest.approx(0.05))
    assert (verdict.stop, verdict.reason, verdict.promise) == (True, "sufficient", "guarantee")
    assert f"{p:.3g}" in verdict.because


def test_recall_is_not_ruled_out_by_few_draws_or_by_many_finds():
    assert recall().judge([{**SAMPLE, "recall.drawn": 20.0}]).stop is False
    assert recall().judge([{**SAMPLE, "recall.drawn": 100.0, "recall.hits": 20.0}]).stop is False


@pytest.mark.parametrize("options", [{"target": 0}, {"target": 1}, {"confidence": 0}, {"confidence": 1}])
def test_recall_rejects_invalid_settings(options):
    with pytest.raises(ValueError, match="recall"):
        recall(**options)


@pytest.mark.attack("gate texts")
@pytest.mark.parametrize("smooth", [5e-324, 1e-300, 1e-16, 1.0])
def test_any_weight_can_be_judged(smooth):
    gate = exhaustion(p=1, smooth=smooth)
    assert gate.judge(history(*[(0.9, 0.0)] * 4)).stop is not None
