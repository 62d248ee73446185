"""Gates that stop when further search finds little: stop rules from the literature.

``saturation``, ``exhaustion`` and ``gain`` come from three of the source systems (docs/sources.md), ``unseen`` is the
Good–Turing estimate, ``recall`` a statistical test on a random sample.

At the same cost, none of them beats a fixed number of rounds on average (see ``bench/stopping.md``). They are good at
noticing a run that goes in circles.
"""

from collections.abc import Sequence
from functools import reduce

from suffice.gates.base import Dial
from suffice.gates.leaf import LeafGate
from suffice.measure.recall import p_recall_below
from suffice.types import Promise, Readings, Verdict

# Default threshold for each novelty meter, whose scales differ (bench/assessors.md). ``embedding`` is fitted on
# MuSiQue: below it, rounds brought needed passages at most half as often as rounds in general. The same rule gives 4 for
# ``words``, which does not do better than 3 on the other set, so the source's value stays. ``model`` is the source's too.
SATURATION_THRESHOLDS = {"words": 3.0, "embedding": 2.25, "model": 3.0}


class saturation(LeafGate):
    """Stop when a round's results are no longer new. It judges before the round may change the belief."""

    dials = (Dial("threshold", 0, 10, 0.5, 3),)

    def __init__(self, threshold: float | None = None, by: str = "words") -> None:
        if by not in SATURATION_THRESHOLDS:
            raise ValueError(f"saturation(by={by}) is not known; choose one of {', '.join(SATURATION_THRESHOLDS)}")
        default = SATURATION_THRESHOLDS[by]
        self.threshold = default if threshold is None else float(threshold)
        if not 0 <= self.threshold <= 10:
            raise ValueError(f"saturation(threshold={self.threshold:g}) must lie between 0 and 10")
        super().__init__(threshold=None if self.threshold == default else self.threshold, by=by)
        self.reading = f"novelty.{by}"
        self.needs = frozenset({self.reading})

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        return self.judge_below(
            self.reading, readings, self.threshold, "saturated", "the results hardly bring anything new"
        )


class exhaustion(LeafGate):
    """Stop when similar queries bring back known passages: J ≥ ``j`` and UPR ≤ ``u`` for ``p`` rounds in a row.

    J is the Jaccard overlap with the queries of the last ``window`` rounds, UPR the share of new passages. ``smooth`` (0–1)
    judges exponential moving averages instead: x̄ₜ = smooth·xₜ + (1 − smooth)·x̄ₜ₋₁.

    With ``d`` the belief must stand still too: its state difference, the share of its words that differ from the round
    before, is at most ``d``.
    """

    dials = (Dial("j", 0, 1, 0.05, 0.6), Dial("u", 0, 1, 0.05, 0.3), Dial("p", 1, 5, 1, 2))

    def __init__(
        self,
        j: float = 0.6,
        u: float = 0.3,
        p: int = 2,
        window: int = 5,
        smooth: float | None = None,
        *,
        d: float | None = None,
    ) -> None:
        if not (0 <= j <= 1 and 0 <= u <= 1 and (d is None or 0 <= d <= 1)):
            raise ValueError("exhaustion(j, u, d) takes shares between 0 and 1")
        if p < 1 or p != int(p) or window < 1 or window != int(window):
            raise ValueError("exhaustion(p, window) takes whole numbers, 1 or more")
        if smooth is not None and not 0 < smooth <= 1:
            raise ValueError("exhaustion(smooth) takes a weight above 0 and up to 1")
        super().__init__(j=j, u=u, p=p, window=window, smooth=smooth, d=d)
        self.j, self.u, self.p, self.smooth, self.d = j, u, int(p), smooth, d
        self.overlap = "overlap.jaccard" if window == 5 else f"overlap.jaccard@{int(window)}"
        self.thresholds = {self.overlap: j, "overlap.upr": u, **({} if d is None else {"belief.difference": d})}
        self.needs = frozenset(self.thresholds)

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        if not readings:
            return self.abstain("overlap.upr", self.u)
        lengths = range(len(readings), max(0, len(readings) - self.p), -1)
        stagnated = [self._is_stagnated(readings[:length]) for length in lengths]
        signals = {name: (self._read_value(name, readings), at) for name, at in self.thresholds.items()}
        if False in stagnated or len(stagnated) < self.p:
            return self.make_verdict(False, because="the search is not going in circles", signals=signals)
        if None in stagnated:
            because = "a search failed or there is no belief to compare, so that circles cannot be told"
            return self.make_verdict(None, because=because, signals=signals)
        numbers = (
            f"J {signals[self.overlap][0]:.2f} ≥ {self.j:g}, new share {signals['overlap.upr'][0]:.2f} ≤ {self.u:g}"
        )
        because = f"similar queries returned passages already seen for {self.p} rounds ({numbers})"
        return self.make_verdict(True, "exhausted", because, signals)

    def _is_stagnated(self, readings: Sequence[Readings]) -> bool | None:
        """Return whether the last round brought nothing new; unknown if one of its readings is."""
        values = {name: self._read_value(name, readings) for name in self.thresholds}
        known = {name: value for name, value in values.items() if value is not None}
        if len(known) < len(values):
            return None
        return all(
            value >= self.j if name == self.overlap else value <= self.thresholds[name] for name, value in known.items()
        )

    def _read_value(self, name: str, readings: Sequence[Readings]) -> float | None:
        last = readings[-1].get(name)
        if self.smooth is None or last is None:
            return last
        weight = self.smooth
        known = [value for round in readings if (value := round.get(name)) is not None]
        return reduce(lambda average, value: weight * value + (1 - weight) * average, known)


class gain(LeafGate):
    """Stop when coverage hardly grows: the mean of the last ``w`` information gains is below ``eps``."""

    needs = frozenset({"coverage.gain"})
    dials = (Dial("eps", 0.001, 0.2, 0.001, 0.005), Dial("w", 1, 5, 1, 2))

    def __init__(self, eps: float = 0.005, w: int = 2) -> None:
        if eps <= 0 or w < 1 or w != int(w):
            raise ValueError("gain(eps, w) takes a threshold above 0 and a whole number of rounds, 1 or more")
        super().__init__(eps=eps, w=w)
        self.eps, self.w = eps, int(w)

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        gains = [readings[i].get("coverage.gain") for i in range(max(0, len(readings) - self.w), len(readings))]
        known = [value for value in gains if value is not None]
        if not gains or len(known) < len(gains):
            return self.abstain("coverage.gain", self.eps)
        mean = sum(known) / len(known)
        signals = {"coverage.gain": (mean, self.eps)}
        if len(known) < self.w:
            return self.make_verdict(False, because=f"fewer than {self.w} gains so far", signals=signals)
        stop = mean < self.eps
        because = f"coverage hardly grew (mean gain of {self.w} rounds {mean:.4g} < {self.eps:g})"
        return self.make_verdict(stop, "diminished", because if stop else "coverage still grows", signals)


class unseen(LeafGate):
    """Stop when the chance that the next hit is new is estimated at ``mass`` or less (Good–Turing)."""

    needs = frozenset({"unseen.mass"})
    dials = (Dial("mass", 0, 0.95, 0.05, 0.2),)
    promise: Promise = "estimate"

    def __init__(self, mass: float = 0.2) -> None:
        if not 0 <= mass < 1:
            raise ValueError("unseen(mass) takes a probability from 0 to below 1")
        super().__init__(mass=mass)
        self.mass = mass

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        value = readings[-1].get("unseen.mass") if readings else None
        if value is None:
            return self.abstain("unseen.mass", self.mass)
        stop = value <= self.mass
        sign = "≤" if stop else ">"
        because = f"the estimated share of hits still unseen is {value:.2f} {sign} {self.mass:g}"
        return self.make_verdict(stop, "saturated", because, {"unseen.mass": (value, self.mass)})


class recall(LeafGate):
    """Stop when a random sample of the unseen documents shows, at this confidence, that recall has reached the target.

    The caller draws the sample and supplies the readings ``recall.found``, ``recall.unseen``, ``recall.drawn`` and
    ``recall.hits``. A ranked search draws nothing at random; without these readings the gate abstains.
    """

    needs = frozenset({"recall.found", "recall.unseen", "recall.drawn", "recall.hits"})
    dials = (Dial("target", 0.5, 0.99, 0.01, 0.9), Dial("confidence", 0.5, 0.99, 0.01, 0.95))
    promise: Promise = "guarantee"

    def __init__(self, target: float = 0.9, confidence: float = 0.95) -> None:
        if not (0 < target < 1 and 0 < confidence < 1):
            raise ValueError("recall(target, confidence) takes shares between 0 and 1")
        super().__init__(target=target, confidence=confidence)
        self.target, self.confidence = target, confidence

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        now = readings[-1] if readings else {}
        found, unseen, drawn, hits = (now.get(f"recall.{name}") for name in ("found", "unseen", "drawn", "hits"))
        limit = 1 - self.confidence
        if found is None or unseen is None or drawn is None or hits is None:
            because = "no random sample of the unseen documents was drawn, so recall cannot be tested"
            return self.make_verdict(None, because=because, signals={"recall.p": (None, limit)})
        p = p_recall_below(int(found), int(unseen), int(drawn), int(hits), self.target)
        because = f"recall below {self.target:g} is {'ruled out' if p < limit else 'not ruled out'} (p = {p:.3g})"
        return self.make_verdict(p < limit, "sufficient", because, {"recall.p": (p, limit)})
