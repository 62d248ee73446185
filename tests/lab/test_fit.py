"""Fitting recovers known weights; calibration reaches the requested mean number of rounds."""

import json
import math
from random import Random

import numpy
import pytest

from suffice.errors import InputError
from suffice.gates.worth import estimate_gain, load_weights, worth
from suffice.lab.fit import build_samples, calibrate_price, fit_logistic, fit_worth
from suffice.replay.episodes import Episode, RecordedHit, RecordedRound
from suffice.replay.judge import find_stop, measure_readings

BIAS, WEIGHTS = -0.5, {"log_round": -0.8, "pair_cover": -1.5, "standout": 0.0, "reader": -0.7}


def episode(number, *, rounds=8, with_readings=True, gold=True):
    """Return a run whose gains are drawn from known odds. Its signals are recorded, so it needs no texts."""
    random = Random(number)
    made, found = [], ["g0"]
    for index in range(1, rounds + 1):
        readings = {
            "worth.missing_names": float(random.randint(0, 3)),
            "worth.missing_words": float(random.randint(0, 6)),
            "worth.pair_cover": random.random(),
            "worth.second_adds": random.random() / 2,
            "worth.standout": random.random() if index == 1 else 0.0,
            "sufficiency.model": random.uniform(0.1, 0.9),
        }
        hits = tuple(RecordedHit(name) for name in found)
        made.append(RecordedRound(index, ("q",), hits, hits, readings if with_readings else {}))
        sure = readings["sufficiency.model"]
        z = BIAS + WEIGHTS["log_round"] * math.log(index) + WEIGHTS["pair_cover"] * readings["worth.pair_cover"]
        z += WEIGHTS["reader"] * math.log(sure / (1 - sure))
        gained = random.random() < 1 / (1 + math.exp(-z))
        found = [f"g{index}"] if gained else ["x"]
    names = frozenset(f"g{index}" for index in range(rounds + 1))
    return Episode(f"q{number}", "Who?", names if gold else frozenset(), (), None, tuple(made))


@pytest.fixture(scope="module")
def runs():
    return [episode(number) for number in range(1000)]


@pytest.fixture(scope="module")
def fitted(runs):
    return fit_worth(runs)


@pytest.fixture
def file(tmp_path, fitted):
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(fitted), encoding="utf-8")
    return str(path)


def test_known_weights_are_recovered(fitted):
    level = fitted["levels"][0]
    assert level["name"] == "text+reader"
    assert level["bias"] == pytest.approx(BIAS, abs=0.2)
    for name, weight in level["weights"].items():
        assert weight == pytest.approx(WEIGHTS.get(name, 0.0), abs=0.25), name


def test_every_level_is_fitted_richest_first(fitted):
    names = [level["name"] for level in fitted["levels"]]
    assert names == ["text+reader", "text", "words+reader", "words", "reader", "bare"]
    assert {level["rows"] for level in fitted["levels"]} == {1000 * 7}
    assert all(0 < level["base_rate"] < 1 for level in fitted["levels"])


def test_the_estimate_is_calibrated(runs, file):
    """Among rounds with an estimate of 20 %, about one in five is followed by a gain."""
    weights = load_weights(file)
    bins = {}
    for run in runs[:600]:
        readings = measure_readings(run, frozenset())
        for index, after in enumerate(run.rounds[1:], 1):
            p = estimate_gain(readings[index - 1], index, weights)
            bins.setdefault(int(p * 5), []).append((p, after.raw[0].id != "x"))
    for pairs in bins.values():
        if len(pairs) > 300:
            estimated, observed = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
            assert observed == pytest.approx(estimated, abs=0.07)


def test_labels_are_the_gain_of_the_next_round():
    rounds = [("a",), ("x",), ("b",)]
    made = tuple(
        RecordedRound(n, ("q",), tuple(map(RecordedHit, ids)), tuple(map(RecordedHit, ids)), {})
        for n, ids in enumerate(rounds, 1)
    )
    samples = build_samples([Episode("e", "Who?", frozenset("ab"), (), None, made)], 0.2)
    assert [has_gain for _, has_gain in samples] == [False, True]  # the last round has no next one
    assert [signals["log_round"] for signals, _ in samples] == [0.0, pytest.approx(math.log(2))]
    assert samples[0][0]["standout"] == 0.2  # replaces scores that were not recorded
    assert samples[0][0]["pair_cover"] is None


def test_logistic_finds_the_ridge_optimum():
    """The penalised loss rises in every direction from the solution."""
    random = numpy.random.default_rng(0)
    x = random.normal(size=(200, 2)) * [1.0, 10.0] + [0.0, 5.0]
    y = random.random(200) < 1 / (1 + numpy.exp(-(0.3 + x[:, 0] - 0.1 * x[:, 1])))
    bias, weights = fit_logistic(x.tolist(), y.tolist())

    def loss(bias, weights):
        z = bias + x @ weights
        return numpy.sum(numpy.log1p(numpy.exp(z)) - y * z) + numpy.sum((weights * x.std(axis=0)) ** 2) / 2

    # The bias is moved with the weights' mean, as the penalty is on standardised signals.
    best = loss(bias, numpy.array(weights))
    for step in ([0.01, 0], [-0.01, 0], [0, 0.001], [0, -0.001]):
        moved = numpy.array(weights) + step
        assert loss(bias - numpy.array(step) @ x.mean(axis=0), moved) > best
    assert loss(bias + 0.01, numpy.array(weights)) > best
    assert loss(bias - 0.01, numpy.array(weights)) > best


def test_a_signal_that_never_varies_gets_no_weight():
    bias, weights = fit_logistic([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0], [4.0, 7.0]] * 20, [False, False, True, True] * 20)
    assert weights[1] == pytest.approx(0.0, abs=1e-6)
    assert math.isfinite(bias)


@pytest.mark.parametrize("target", [1.5, 2.0, 2.5, 3.0, 5.0])
def test_calibration_reaches_the_mean_rounds_without_labels(runs, file, target):
    unlabelled = [Episode(run.id, run.question, frozenset(), (), None, run.rounds) for run in runs[:400]]
    price = calibrate_price(unlabelled, target, file)
    stops = [find_stop(worth(price, file), measure_readings(run, frozenset())).rounds for run in unlabelled]
    assert sum(stops) / len(stops) == pytest.approx(target, abs=0.02)


def test_calibration_uses_the_shipped_weights_without_a_file(runs):
    price = calibrate_price(runs[:200], 2.0)
    stops = [find_stop(worth(price), measure_readings(run, frozenset())).rounds for run in runs[:200]]
    assert sum(stops) / len(stops) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("target", [0.5, 8.5, -1])
def test_calibration_rejects_an_unreachable_number_of_rounds(runs, target):
    with pytest.raises(InputError, match=r"1 and 8\.0"):
        calibrate_price(runs[:10], target)


def test_fitting_needs_enough_data():
    for few in ([], [episode(1)], [episode(number, gold=False) for number in range(60)]):
        with pytest.raises(InputError, match="too little"):
            fit_worth(few)


def test_levels_without_data_are_left_out():
    names = [
        level["name"] for level in fit_worth([episode(number, with_readings=False) for number in range(60)])["levels"]
    ]
    assert names == ["bare"]
