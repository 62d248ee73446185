"""The default gate: stop, or skip results, when they are not worth their price.

Two logistic models share the signals of ``meters/worth.py``:

    preview.p   P(these results hold new evidence), from the preview of a round, before anything reads it
    worth.p     P(the next round brings new evidence), after a round; it also uses a reader model's own probability of
                sufficiency where there is one

The gate stops when the chance of the next round is below its price. With ``preview`` below 1, results whose chance is below
the price are skipped instead. A look at them costs only a search, a share ``preview`` of a round, so the gate then stops
when the chance of the next round is below this share of the price. Without texts nothing is skipped.

``suffice lab fit`` fits the weights on recorded runs. They are stored in a small versioned file (``worth.json``). ``worth.p``
has several levels; the richest level whose signals are all known is used. The gate judges futility, not sufficiency: a stop
does not mean that the evidence is complete.
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

PREVIEW_PRICE = 0.1  # What a search without reading usually costs, as a share of a round. Measured at 0, 0.1 and 0.2.

Level = tuple[str, float, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class WorthWeights:
    """Fitted models: the levels of ``worth.p``, richest first, and the model of ``preview.p``, which older files lack.

    ``price`` is the default price, ``standout`` the substitute for a missing standout.
    """

    levels: tuple[Level, ...]
    price: float
    standout: float
    preview: Level | None = None


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


def extract_preview_signals(preview: Readings, belief: Readings) -> dict[str, float | None]:
    """Return the inputs of ``preview.p``: what the results look like, and the readings after the last round that was read."""
    index = preview.get("preview.round")
    return {
        "log_round": None if index is None else math.log(max(1.0, index)),
        "new": preview.get("preview.new"),
        "adds": preview.get("preview.adds"),
        "linked": preview.get("preview.linked"),
        "named": preview.get("preview.named"),
        "pair_cover": belief.get("worth.pair_cover"),
        "second_adds": belief.get("worth.second_adds"),
    }


def estimate_gain(readings: Readings, rounds: int, weights: WorthWeights) -> GainEstimate | None:
    """Return P(new evidence in the next round); ``None`` when no level has all its signals."""
    known = extract_signals(readings, rounds, weights.standout)
    estimates = (_apply_level(level, known) for level in weights.levels)
    return next((estimate for estimate in estimates if estimate is not None), None)


def estimate_preview(preview: Readings, belief: Readings, weights: WorthWeights) -> GainEstimate | None:
    """Return P(these results hold new evidence); ``None`` when a signal is unknown."""
    known = extract_preview_signals(preview, belief)
    return None if weights.preview is None else _apply_level(weights.preview, known)


def _apply_level(level: Level, known: Mapping[str, float | None]) -> GainEstimate | None:
    name, bias, weights = level
    contributions: dict[str, float] = {}
    for signal, weight in weights.items():
        value = known.get(signal)
        if value is None:
            return None
        contributions[signal] = weight * value
    z = bias + sum(contributions.values())
    return GainEstimate(1 / (1 + math.exp(min(-z, 700.0))), name, contributions)


class worth(LeafGate):
    """Stop when the chance of new evidence in the next round is below ``price``.

    ``preview`` is what a search costs as a share of a round that is read. Below 1, results whose chance of new evidence is
    below ``price`` are skipped, and the search stops when another search is not worth its share of the price either.

    With ``unit`` tokens or usd, ``price`` is what a piece of new evidence may cost, and the chance is compared with what a
    round has cost on average, divided by it.
    """

    needs = frozenset({"worth.pair_cover", "worth.second_adds", "spend.rounds"})
    promise: Promise = "estimate"
    dials = (Dial("price", 0.01, 0.5, 0.01, 0.1), Dial("preview", 0.05, 1, 0.05, 1))

    def __init__(
        self,
        price: float | None = None,
        file: str | None = None,
        *,
        preview: float = 1.0,
        unit: str = "rounds",
    ) -> None:
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
        if not 0 <= preview <= 1:
            raise ValueError(f"worth(preview={preview:g}) takes a share of a round, from 0 to 1")
        self.preview, self.unit = float(preview), unit
        self.skips = self.preview < 1 and self.weights.preview is not None
        if unit != "rounds":
            self.needs = self.needs | {f"spend.{unit}"}
        shown_file = None if file is None else (f'"{file}"' if "'" in file else f"'{file}'")
        shown_price = None if self.price == self.weights.price else self.price
        super().__init__(price=shown_price, file=shown_file, preview=self.preview, unit=unit)

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        now: Readings = readings[-1] if readings else {}
        # The spend is read last. A round that is not read (yet) leaves the belief as the round before did.
        is_open = now.get("spend.rounds") is None
        before: Readings = readings[-2] if len(readings) > 1 else {}
        belief = before if is_open or now.get("preview.skipped") else now
        threshold = self._compute_threshold(now, belief)
        if threshold is None:
            return self.abstain(f"spend.{self.unit}", self.price)
        preview = None
        if self.skips and len(readings) > 1:  # The first results are always read.
            preview = estimate_preview(now, before, self.weights)
        signals = {} if preview is None else {"preview.p": (preview.p, threshold)}
        if is_open:
            if preview is None:
                return self.abstain("worth.p", threshold)
            skip = preview.p < threshold
            because = _explain("these results hold new evidence", preview, threshold, skip)
            return self.make_verdict(None, because=because, signals=signals, skip=skip)
        # A round whose searches all failed predicts nothing about the next round.
        failed = now.get("overlap.upr", 0.0) is None
        index = now.get("preview.round")
        estimate = estimate_gain(belief, len(readings) if index is None else int(index), self.weights)
        if failed or estimate is None:
            return self.abstain("worth.p", threshold)
        if self.skips and now.get("preview.adds") is not None:
            threshold *= self.preview
        stop = estimate.p < threshold
        because = _explain("another round brings new evidence", estimate, threshold, stop)
        return self.make_verdict(stop, "diminished", because, {"worth.p": (estimate.p, threshold), **signals})

    def _compute_threshold(self, now: Readings, belief: Readings) -> float | None:
        """Return the chance at which reading a round pays; ``None`` if its cost is unknown."""
        if self.unit == "rounds":
            return self.price
        name = f"spend.{self.unit}"
        measured = now if name in now else belief
        spent, rounds = measured.get(name), measured.get("spend.rounds")
        return None if spent is None or not rounds else min(1.0, spent / rounds / self.price)


def _explain(event: str, estimate: GainEstimate, threshold: float, is_below: bool) -> str:
    strongest = sorted(estimate.contributions.items(), key=lambda item: -abs(item[1]))
    weighed = ", ".join(f"{name.replace('_', ' ')} {value:+.2f}" for name, value in strongest if abs(value) >= 0.005)
    sign = "<" if is_below else "≥"
    return f"the chance that {event} is {estimate.p:.3f} {sign} {threshold:g} (log-odds: {weighed or 'none'})"


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
    preview = None
    if "preview" in data:
        preview = ("preview", float(data["preview"]["bias"]), _parse_numbers(data["preview"]["weights"]))
        if unknown := preview[2].keys() - extract_preview_signals({}, {}).keys():
            raise ValueError(f"a preview has no signal named {', '.join(sorted(unknown))}")
    return WorthWeights(tuple(levels), float(data["price"]), float(data["standout"]), preview)


def _parse_numbers(weights: Mapping[str, float]) -> dict[str, float]:
    return {str(name): float(value) for name, value in weights.items()}


def _clamp_logit(p: float) -> float:
    return max(-LOGIT_LIMIT, min(LOGIT_LIMIT, math.log(p / (1 - p))))
