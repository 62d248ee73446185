"""Gain, unseen, predicates, judged and recall at their edges, on readings as the meters give them."""

import numpy
import pytest
from round_views import AllNew as Sight
from round_views import Hit

from suffice.gates import gain, judged, predicates, recall, unseen
from suffice.measure.recall import p_recall_below
from suffice.meters.base import MeterContext
from suffice.meters.semantic import CoverageMeter


def embed(texts):
    rows = [[float("copper" in text.lower()), float("silver" in text.lower()), 0.1] for text in texts]
    return numpy.array([numpy.array(row) / numpy.linalg.norm(row) for row in rows])


COPPER, SILVER = (Sight((Hit(word, f"{word} is a metal"),)) for word in ("copper", "silver"))


def covered(*sights, outline_before=None):
    """Readings of a coverage meter; ``outline_before`` says before which round the topics change."""
    meter = CoverageMeter(MeterContext("Compare Copper with Silver", frozenset(), embed))
    readings = []
    for number, sight in enumerate(sights):
        if number == outline_before:
            meter.set_topics(["Copper", "Silver", "Tin"])
        readings.append(meter.read(sight))
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
    readings = covered(COPPER, SILVER, Sight(), Sight())
    assert stop_round(gain(), readings) == 4
    assert readings[0]["coverage.gain"] == 1.0  # the first round counts as a full gain


def test_a_changed_outline_restarts_the_gain():
    readings = covered(COPPER, SILVER, Sight(), Sight(), Sight(), outline_before=3)
    assert readings[3]["coverage.gain"] == 1.0
    assert stop_round(gain(), readings) is None


def test_searches_without_results_from_the_start():
    readings = covered(Sight(), Sight(), Sight())
    assert [now["coverage.mean"] for now in readings] == [0.0, 0.0, 0.0]
    assert stop_round(gain(), readings) == 3


def test_without_an_embedding_model_gain_abstains():
    meter = CoverageMeter(MeterContext("Compare Copper with Silver"))
    assert gain().judge([meter.read(COPPER), meter.read(COPPER)]).stop is None


@pytest.mark.parametrize("options", [{"eps": 0}, {"eps": -1}, {"w": 0}, {"w": 1.5}])
def test_gain_refuses_settings_without_meaning(options):
    with pytest.raises(ValueError, match="gain"):
        gain(**options)


def test_unseen_says_nothing_before_the_first_hit():
    assert unseen().judge([]).stop is None
    assert unseen().judge([{}]).stop is None
    assert unseen().judge([{"unseen.mass": None}]).stop is None


def test_unseen_states_its_estimate():
    verdict = unseen(0.3).judge([{"unseen.mass": 0.25}])
    assert (verdict.stop, verdict.promise, verdict.signals) == (True, "estimate", {"unseen.mass": (0.25, 0.3)})
    assert "0.25" in verdict.because
    assert unseen(0).judge([{"unseen.mass": 0.0}]).stop is True


@pytest.mark.parametrize("mass", [-0.1, 1, 2])
def test_unseen_refuses_masses_without_meaning(mass):
    with pytest.raises(ValueError, match="unseen"):
        unseen(mass)


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


SAMPLE = {"recall.found": 18.0, "recall.unseen": 200.0, "recall.drawn": 190.0, "recall.hits": 0.0}


@pytest.mark.parametrize("missing", sorted(SAMPLE))
def test_recall_without_a_whole_sample_abstains_and_says_so(missing):
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
def test_recall_refuses_settings_without_meaning(options):
    with pytest.raises(ValueError, match="recall"):
        recall(**options)
