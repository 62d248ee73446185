"""Fit the ``worth`` gate on recorded runs, and calibrate its price without labels.

A model estimates whether the next round brings a new gold passage, from what is known after a round; there is one for each
level of available signals. Each is a logistic regression with a ridge penalty on standardised signals, fitted by Newton's
method. The signals are few because a model with forty of them over-fitted.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy
from numpy.typing import NDArray

from suffice.errors import InputError
from suffice.gates.worth import extract_signals, worth
from suffice.meters import MeterSet
from suffice.meters.base import MeterContext
from suffice.meters.worth import WorthMeter
from suffice.replay.compare import compute_recall_curve
from suffice.replay.episodes import Episode
from suffice.replay.judge import find_stop, measure_readings
from suffice.types import Readings

LEVELS: dict[str, tuple[str, ...]] = {
    "text+reader": ("log_round", "missing_names", "pair_cover", "second_adds", "standout", "reader"),
    "text": ("log_round", "missing_names", "pair_cover", "second_adds", "standout"),
    "words+reader": ("log_round", "missing_words", "pair_cover", "second_adds", "standout", "reader"),
    "words": ("log_round", "missing_words", "pair_cover", "second_adds", "standout"),
    "reader": ("log_round", "standout", "reader"),
    "bare": ("log_round", "standout"),
}
DEFAULT_PRICE = 0.10
_MIN_ROWS = 50
_RIDGE = 1.0
_CALIBRATION_STEPS = 14  # The price is found to four digits.


def build_samples(episodes: Sequence[Episode], standout: float) -> list[tuple[dict[str, float | None], bool]]:
    """Return for every round but the last of each episode with gold passages the signals after it, and whether the next
    one brought a new gold passage."""
    samples = []
    for episode in episodes:
        curve = compute_recall_curve(episode)
        if curve is None:
            continue
        readings = measure_signals(episode)
        for done in range(1, len(curve)):
            signals = extract_signals(readings[done - 1], done, standout)
            samples.append((signals, curve[done] > curve[done - 1]))
    return samples


def fit_worth(episodes: Sequence[Episode], price: float = DEFAULT_PRICE) -> dict[str, Any]:
    """Return the content of a weights file: the levels, richest first, and the price."""
    standout = compute_mean_standout(episodes)
    samples = build_samples(episodes, standout)
    fitted = [_fit_level(name, signals, samples) for name, signals in LEVELS.items()]
    levels = [level for level in fitted if level is not None]
    if not levels:
        raise InputError(
            "There is too little data to fit: episodes need gold passages, several rounds, and some gain after round 1"
        )
    return {"gate": "worth", "version": 2, "price": price, "standout": round(standout, 4), "levels": levels}


def _fit_level(
    name: str, signals: Sequence[str], samples: Sequence[tuple[dict[str, float | None], bool]]
) -> dict[str, Any] | None:
    """Return a model of these signals; ``None`` if too few samples have all of them."""
    known = [(row, gain) for row, gain in samples if None not in map(row.get, signals)]
    if len(known) < _MIN_ROWS or not any(gain for _, gain in known):
        return None
    bias, weights = fit_logistic([[row[signal] for signal in signals] for row, _ in known], [gain for _, gain in known])
    return {
        "name": name,
        "bias": round(bias, 4),
        "weights": {signal: round(weight, 4) for signal, weight in zip(signals, weights, strict=True)},
        "rows": len(known),
        "base_rate": round(sum(gain for _, gain in known) / len(known), 4),
    }


def compute_mean_standout(episodes: Sequence[Episode]) -> float:
    """Return the mean standout after round 1. It replaces the reading where scores are missing."""
    first_rounds = [replace(episode, rounds=episode.rounds[:1]) for episode in episodes]
    standouts = [measure_signals(episode)[0].get("worth.standout") for episode in first_rounds]
    known = [standout for standout in standouts if standout is not None]
    return sum(known) / len(known) if known else 0.0


def fit_logistic(rows: Sequence[Sequence[float | None]], labels: Sequence[bool]) -> tuple[float, list[float]]:
    """Return bias and weights on the scale of the signals."""
    x, y = numpy.array(rows, float), numpy.array(labels, float)
    mean, spread = x.mean(axis=0), x.std(axis=0)
    spread[spread < 1e-9] = 1.0
    z: NDArray[Any] = numpy.column_stack([numpy.ones(len(x)), (x - mean) / spread])
    penalty = numpy.full(z.shape[1], _RIDGE)
    penalty[0] = 1e-6
    b = numpy.zeros(z.shape[1])
    for _ in range(50):
        p = 1 / (1 + numpy.exp(-numpy.clip(z @ b, -30, 30)))
        curvature = (z * (p * (1 - p) + 1e-9)[:, None]).T @ z + numpy.diag(penalty)
        step = numpy.linalg.solve(curvature, z.T @ (y - p) - penalty * b)
        b += step
        if numpy.max(numpy.abs(step)) < 1e-9:
            break
    weights = b[1:] / spread
    return float(b[0] - weights @ mean), weights.tolist()


def calibrate_price(episodes: Sequence[Episode], rounds: float, file: str | None = None) -> float:
    """Return the price at which ``worth`` spends this many rounds on average over the given runs. It needs no labels."""
    longest = sum(len(episode.rounds) for episode in episodes) / len(episodes)
    if not 1 <= rounds <= longest:
        raise InputError(f"These runs allow between 1 and {longest:.1f} rounds on average, not {rounds:g}")
    runs = [(measure_signals(episode), episode.seed) for episode in episodes]
    low, high = 0.0, 1.0
    for _ in range(_CALIBRATION_STEPS):
        price = (low + high) / 2
        gate = worth(price, file)
        spent = sum(find_stop(gate, readings, seed).rounds for readings, seed in runs) / len(runs)
        low, high = (price, high) if spent > rounds else (low, price)
    return (low + high) / 2


def measure_signals(episode: Episode) -> list[Readings]:
    """Return the readings that ``worth`` uses, by its own meter only."""
    return measure_readings(episode, frozenset(), meters=MeterSet([WorthMeter(MeterContext(episode.question))]))
