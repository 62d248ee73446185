"""The default gate: stop when another round is not worth its price.

A logistic model of the signals of ``meters/worth.py`` gives ``worth.p``, the chance that the next round brings new evidence.
It also uses a reader model's own probability of sufficiency where there is one. The gate stops when the chance is below its
price.

``suffice lab fit`` fits the weights on recorded runs. They are stored in a small versioned file (``worth.json``). ``worth.p``
has several levels; the richest level whose signals are all known is used. The gate judges futility, not sufficiency: a stop
does not mean that the evidence is complete.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from suffice.gates.base import Dial
from suffice.gates.leaf import LeafGate
from suffice.text.plain import count
from suffice.types import Promise, Readings, Verdict

_SHIPPED = Path(__file__).with_name("worth.json")
_MEASURED_SIGNALS = ("missing_names", "missing_words", "pair_cover", "second_adds")
LOGIT_LIMIT = 3.0  # A reader's certainty counts up to 95 %, because small models are often overconfident.

Level = tuple[float, Mapping[str, float]]
"""The bias and the weights of a model."""


@dataclass(frozen=True, slots=True)
class WorthWeights:
    """Fitted models, richest first, the default price, and the substitute for a missing standout."""

    levels: tuple[Level, ...]
    price: float
    standout: float


def load_weights(path: str | None) -> WorthWeights:
    """Return the shipped weights, or those of a file. Raises ``ValueError`` if the file is not a weights file."""
    return _parse_weights((_SHIPPED if path is None else Path(path)).read_text(encoding="utf-8"))


def extract_signals(readings: Readings, rounds: int, standout: float) -> dict[str, float | None]:
    """Return the model's inputs from a round's readings. ``standout`` replaces a missing reading of that name."""
    sufficiency = readings.get("sufficiency.model")
    measured_standout = readings.get("worth.standout")
    return {
        "log_round": math.log(rounds),
        **{name: readings.get(f"worth.{name}") for name in _MEASURED_SIGNALS},
        "standout": standout if measured_standout is None else measured_standout,
        # 0 and 1 come from models that answer yes or no; they carry no probability.
        "reader": None
        if sufficiency is None or not 0 < sufficiency < 1
        else max(-LOGIT_LIMIT, min(LOGIT_LIMIT, math.log(sufficiency / (1 - sufficiency)))),
    }


def estimate_gain(readings: Readings, rounds: int, weights: WorthWeights) -> float | None:
    """Return P(new evidence in the next round); ``None`` when no level has all its signals."""
    signals = extract_signals(readings, rounds, weights.standout)
    known = {name: value for name, value in signals.items() if value is not None}
    for bias, own in weights.levels:
        if own.keys() <= known.keys():
            z = sum((weight * known[name] for name, weight in own.items()), bias)
            return 1 / (1 + math.exp(min(-z, 700.0)))
    return None


class worth(LeafGate):
    """Stop when the chance of new evidence in the next round is below ``price``.

    With ``unit`` tokens or usd, ``price`` is what a piece of new evidence may cost, and the chance is compared with what a
    round has cost on average, divided by it.
    """

    needs = frozenset({"worth.pair_cover", "worth.second_adds", "spend.rounds"})
    promise: Promise = "estimate"
    dials = (Dial("price", 0.01, 0.5, 0.01, 0.1),)

    def __init__(self, price: float | None = None, file: str | None = None, *, unit: str = "rounds") -> None:
        try:
            self.weights = load_weights(file)
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"worth(file={file!r}) cannot be read: {error}; make one with: suffice lab fit") from error
        if unit not in ("rounds", "tokens", "usd"):
            raise ValueError(f"worth(unit={unit}) is not known; choose rounds, tokens or usd")
        if unit != "rounds" and price is None:
            raise ValueError(f"worth(unit={unit}) needs a price: what a piece of new evidence may cost")
        self.price = self.weights.price if price is None else float(price)
        if not 0 < self.price < (1 if unit == "rounds" else math.inf):
            limit = "lie between 0 and 1" if unit == "rounds" else "be greater than 0"
            raise ValueError(f"worth(price={self.price:g}) must {limit}")
        self.unit = unit
        if unit != "rounds":
            self.needs = self.needs | {f"spend.{unit}"}
        shown_file = None if file is None else (f'"{file}"' if "'" in file else f"'{file}'")
        shown_price = None if self.price == self.weights.price else self.price
        super().__init__(price=shown_price, file=shown_file, unit=unit)

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        now: Readings = readings[-1] if readings else {}
        threshold = self._compute_threshold(now)
        if threshold is None:
            return self.abstain(f"spend.{self.unit}", self.price)
        # The spend is read last; without it the round is not read yet. A round whose searches all failed predicts nothing.
        is_known = now.get("spend.rounds") is not None and now.get("overlap.upr", 0.0) is not None
        p = estimate_gain(now, len(readings), self.weights) if is_known else None
        if p is None:
            return self.abstain("worth.p", threshold)
        named = int(now.get("gaps.named") or 0)
        if named:  # A strong model knows what it lacks; the estimate was fitted on agents that do not.
            because = f"the model names {count(named, 'new query', 'new queries')} for what is missing"
            return self.make_verdict(False, "diminished", because, {"worth.p": (p, threshold)})
        stop = p < threshold
        is_fine = min(p, threshold) < 0.01 or round(100 * p) == round(100 * threshold)
        chance, price = (f"{100 * value:{'.2g' if is_fine else '.0f'}} %" for value in (p, threshold))
        relation = "below" if stop else "at least"
        because = f"the chance that another round brings new evidence is {chance}, {relation} {price}"
        return self.make_verdict(stop, "diminished", because, {"worth.p": (p, threshold)})

    def _compute_threshold(self, now: Readings) -> float | None:
        """Return the chance at which another round pays; ``None`` if the cost of a round is unknown."""
        if self.unit == "rounds":
            return self.price
        spent, rounds = now.get(f"spend.{self.unit}"), now.get("spend.rounds")
        return None if spent is None or not rounds else min(1.0, spent / rounds / self.price)


@cache
def _parse_weights(text: str) -> WorthWeights:
    data = json.loads(text)
    levels = [
        (float(level["bias"]), {name: float(value) for name, value in level["weights"].items()})
        for level in data["levels"]
    ]
    if not levels:
        raise ValueError("it has no levels")
    unknown = {signal for _, weights in levels for signal in weights} - extract_signals({}, 1, 0.0).keys()
    if unknown:
        raise ValueError(f"there is no signal named {', '.join(sorted(unknown))}")
    return WorthWeights(tuple(levels), float(data["price"]), float(data["standout"]))
