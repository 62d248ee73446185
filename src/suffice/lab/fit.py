"""Fit the ``worth`` gate on recorded runs, and calibrate its price without labels.

The label is the gain of the next round: does it bring a new gold passage? The model is a logistic regression with a ridge
penalty on standardised signals, fitted by Newton's method, one per level of available signals. The signals are few because
a model with forty of them over-fitted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.errors import InputError
from suffice.gates.worth import WorthWeights, estimate_gain, extract_signals, load_weights
from suffice.replay.compare import compute_recall_curve
from suffice.replay.episodes import Episode
from suffice.replay.judge import measure_readings
from suffice.types import Readings

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """The signals after one round, and whether the next round brought a new gold passage."""

    signals: dict[str, float | None]
    has_gain: bool


def build_samples(episodes: Sequence[Episode], standout: float) -> list[TrainingSample]:
    """Return a sample for every round but the last of each episode with gold passages."""
    samples = []
    for episode in episodes:
        curve = compute_recall_curve(episode)
        if curve is None:
            continue
        readings = measure_readings(episode, frozenset())
        for done in range(1, len(curve)):
            signals = extract_signals(readings[done - 1], done, standout)
            samples.append(TrainingSample(signals, curve[done] > curve[done - 1]))
    return samples


def fit_worth(episodes: Sequence[Episode], price: float = DEFAULT_PRICE) -> dict[str, Any]:
    """Return the content of a weights file: the levels, richest first, and the price."""
    standout = compute_mean_standout(episodes)
    rows = build_samples(episodes, standout)
    levels = []
    for name, signals in LEVELS.items():
        known = [row for row in rows if all(row.signals[signal] is not None for signal in signals)]
        if len(known) < _MIN_ROWS or not any(row.has_gain for row in known):
            continue
        inputs = [[row.signals[signal] for signal in signals] for row in known]
        bias, weights = fit_logistic(inputs, [row.has_gain for row in known])
        levels.append(
            {
                "name": name,
                "bias": round(bias, 4),
                "weights": {signal: round(weight, 4) for signal, weight in zip(signals, weights, strict=True)},
                "rows": len(known),
                "base_rate": round(sum(row.has_gain for row in known) / len(known), 4),
            }
        )
    if not levels:
        raise InputError(
            "There is too little data to fit: episodes need gold passages, several rounds, and some gain after round 1"
        )
    return {"gate": "worth", "version": 1, "price": price, "standout": round(standout, 4), "levels": levels}


def compute_mean_standout(episodes: Sequence[Episode]) -> float:
    """Return the mean standout after round 1. It replaces the reading where scores are missing."""
    standouts = [measure_readings(episode, frozenset())[0].get("worth.standout") for episode in episodes]
    known = [standout for standout in standouts if standout is not None]
    return sum(known) / len(known) if known else 0.0


def fit_logistic(rows: Sequence[Sequence[float | None]], labels: Sequence[bool]) -> tuple[float, list[float]]:
    """Return bias and weights on the scale of the signals."""
    import numpy

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
        if abs(step).max() < 1e-9:
            break
    weights = b[1:] / spread
    return float(b[0] - weights @ mean), weights.tolist()


def calibrate_price(episodes: Sequence[Episode], rounds: float, file: str | None = None) -> float:
    """Return the price at which ``worth`` uses this many rounds on average over the given runs. It needs no labels."""
    weights = load_weights(file)
    longest = sum(len(episode.rounds) for episode in episodes) / len(episodes)
    if not 1 <= rounds <= longest:
        raise InputError(f"These runs allow between 1 and {longest:.1f} rounds on average, not {rounds:g}")
    gains = [_estimate_gains(measure_readings(episode, frozenset()), weights) for episode in episodes]
    low, high = 0.0, 1.0
    for _ in range(40):
        price = (low + high) / 2
        spent = sum(_count_rounds(estimates, price) for estimates in gains) / len(gains)
        low, high = (price, high) if spent > rounds else (low, price)
    return (low + high) / 2


def _estimate_gains(readings: Sequence[Readings], weights: WorthWeights) -> list[float]:
    estimates = [estimate_gain(now, number, weights) for number, now in enumerate(readings, 1)]
    return [1.0 if estimate is None else estimate.p for estimate in estimates]


def _count_rounds(estimates: Sequence[float], price: float) -> int:
    return next((number for number, p in enumerate(estimates, 1) if p < price), len(estimates))
