"""The default gate: stop when another round is not worth its price.

A logistic model estimates P(the next round brings new evidence) from the round number and the signals of
``meters/worth.py``, plus a reader model's own probability of sufficiency where there is one. The gate stops when this
chance is below the price of a round. ``suffice lab fit`` fits the weights on recorded runs. They are stored in a small
versioned file (``worth.json``) with several levels; the richest level whose signals are all known is used.

The gate judges futility, not sufficiency: a stop does not mean that the evidence is complete.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from suffice.gates.base import Dial
from suffice.gates.leaf import LeafGate
from suffice.types import Promise, Readings, Verdict

LOGIT_LIMIT = 3.0  # A reader's certainty counts up to 95 %, because small models are often overconfident.

Level = tuple[str, float, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class WorthWeights:
    """A fitted model: its levels, richest first, the default price, and the substitute for a missing standout."""

    levels: tuple[Level, ...]
    price: float
    standout: float


@dataclass(frozen=True, slots=True)
class GainEstimate:
    """The estimated chance, the level that gave it, and each signal's contribution to the log-odds."""

    p: float
    level: str
    contributions: Mapping[str, float]


def load_weights(path: str | None) -> WorthWeights:
    """Return the shipped weights, or those of a file. Raises ``ValueError`` if the file is not a weights file."""
    return _load_default_weights() if path is None else _parse_weights(Path(path).read_text(encoding="utf-8"))


def extract_signals(readings: Readings, rounds: int, standout: float) -> dict[str, float | None]:
    """Return the model's inputs from a round's readings. ``standout`` replaces a missing reading of that name."""
    sufficiency = readings.get("sufficiency.model")
    measured_standout = readings.get("worth.standout")
    return {
        "log_round": math.log(rounds),
        "missing_names": readings.get("worth.missing_names"),
        "missing_words": readings.get("worth.missing_words"),
        "pair_cover": readings.get("worth.pair_cover"),
        "second_adds": readings.get("worth.second_adds"),
        "standout": standout if measured_standout is None else measured_standout,
        # 0 and 1 come from models that answer yes or no; they carry no probability.
        "reader": None if sufficiency is None or not 0 < sufficiency < 1 else _clamp_logit(sufficiency),
    }


def estimate_gain(readings: Readings, rounds: int, weights: WorthWeights) -> GainEstimate | None:
    """Return P(new evidence in the next round); ``None`` when no level has all its signals."""
    known = extract_signals(readings, rounds, weights.standout)
    for name, bias, weight in weights.levels:
        parts = {signal: known.get(signal) for signal in weight}
        if all(value is not None for value in parts.values()):
            contributions = {signal: weight[signal] * value for signal, value in parts.items() if value is not None}
            z = bias + sum(contributions.values())
            return GainEstimate(1 / (1 + math.exp(min(-z, 700.0))), name, contributions)
    return None


class worth(LeafGate):
    """Stop when the chance of new evidence in the next round is below ``price``."""

    needs = frozenset({"worth.pair_cover", "worth.second_adds", "spend.rounds"})
    promise: Promise = "estimate"
    dials = (Dial("price", 0.01, 0.5, 0.01, 0.1),)

    def __init__(self, price: float | None = None, file: str | None = None) -> None:
        try:
            self.weights = load_weights(file)
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"worth(file={file!r}) cannot be read: {error}; make one with: suffice lab fit") from error
        self.price = self.weights.price if price is None else float(price)
        if not 0 < self.price < 1:
            raise ValueError(f"worth(price={self.price:g}) must lie between 0 and 1")
        shown_file = None if file is None else (f'"{file}"' if "'" in file else f"'{file}'")
        super().__init__(price=None if self.price == self.weights.price else self.price, file=shown_file)

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        # Abstain when every search of the round failed (it predicts nothing about the next round), and before the round
        # was accepted (its signals are not complete; the spend is read last).
        failed = bool(readings) and readings[-1].get("overlap.upr", 0.0) is None
        if not readings or failed or readings[-1].get("spend.rounds") is None:
            return self.abstain("worth.p", self.price)
        estimate = estimate_gain(readings[-1], len(readings), self.weights)
        if estimate is None:
            return self.abstain("worth.p", self.price)
        stop = estimate.p < self.price
        strongest = sorted(estimate.contributions.items(), key=lambda item: -abs(item[1]))
        weighed = ", ".join(
            f"{name.replace('_', ' ')} {value:+.2f}" for name, value in strongest if abs(value) >= 0.005
        )
        because = (
            f"the chance that another round brings new evidence is {estimate.p:.3f} {'<' if stop else '≥'} "
            f"{self.price:g} (log-odds: {weighed or 'none'})"
        )
        return self.make_verdict(stop, "diminished", because, {"worth.p": (estimate.p, self.price)})


@cache
def _load_default_weights() -> WorthWeights:
    return _parse_weights((files("suffice.gates") / "worth.json").read_text(encoding="utf-8"))


def _parse_weights(text: str) -> WorthWeights:
    data = json.loads(text)
    levels = [(str(level["name"]), float(level["bias"]), _parse_numbers(level["weights"])) for level in data["levels"]]
    if not levels:
        raise ValueError("it has no levels")
    unknown = {signal for _, _, weights in levels for signal in weights} - extract_signals({}, 1, 0.0).keys()
    if unknown:
        raise ValueError(f"there is no signal named {', '.join(sorted(unknown))}")
    return WorthWeights(tuple(levels), float(data["price"]), float(data["standout"]))


def _parse_numbers(weights: Mapping[str, float]) -> dict[str, float]:
    return {str(name): float(value) for name, value in weights.items()}


def _clamp_logit(p: float) -> float:
    return max(-LOGIT_LIMIT, min(LOGIT_LIMIT, math.log(p / (1 - p))))
