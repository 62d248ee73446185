"""Stop rules from the literature, as loop guards and for comparison: saturation (S2) and exhaustion (S3).

Measured against a fixed number of rounds at the same cost none of them wins; see ``bench/``. They are good at noticing a
run that goes in circles.
"""

from collections.abc import Sequence
from math import ceil, log

from suffice.gates.leaf import Leaf
from suffice.types import Readings, Verdict

# Each assessor has its own scale: the same 3 does not mean the same on each (S2).
SATURATION_THRESHOLDS = {"words": 3.0}


class saturation(Leaf):
    """Stop when a round's results are no longer new. Judged before the round may change the belief."""

    def __init__(self, threshold: float | None = None, by: str = "words") -> None:
        if by not in SATURATION_THRESHOLDS:
            raise ValueError(f"saturation(by={by}) is not known; choose one of {', '.join(SATURATION_THRESHOLDS)}")
        default = SATURATION_THRESHOLDS[by]
        self.threshold = default if threshold is None else float(threshold)
        if not 0 <= self.threshold <= 10:
            raise ValueError(f"saturation(threshold={self.threshold:g}) must lie between 0 and 10")
        shown: dict[str, object] = {} if self.threshold == default else {"threshold": self.threshold}
        super().__init__(**shown, **({} if by == "words" else {"by": by}))
        self.reading = f"novelty.{by}"
        self.needs = frozenset({self.reading})

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        return self.below(self.reading, readings, self.threshold, "saturated", "the results hardly bring anything new")


class exhaustion(Leaf):
    """Stop when alike queries keep bringing back passages that were seen: J ≥ j and UPR ≤ u for p rounds running.

    ``smooth`` (0–1) judges exponential moving averages instead: x̄ₜ = smooth·xₜ + (1 − smooth)·x̄ₜ₋₁.
    """

    def __init__(
        self, j: float = 0.6, u: float = 0.3, p: int = 2, window: int = 5, smooth: float | None = None
    ) -> None:
        if not (0 <= j <= 1 and 0 <= u <= 1):
            raise ValueError("exhaustion(j, u) takes shares between 0 and 1")
        if p < 1 or p != int(p) or window < 1 or window != int(window):
            raise ValueError("exhaustion(p, window) takes whole numbers, 1 or more")
        if smooth is not None and not 0 < smooth <= 1:
            raise ValueError("exhaustion(smooth) takes a weight above 0 and up to 1")
        defaults = {"j": 0.6, "u": 0.3, "p": 2, "window": 5, "smooth": None}
        given = {"j": j, "u": u, "p": p, "window": window, "smooth": smooth}
        super().__init__(**{name: value for name, value in given.items() if value != defaults[name]})
        self.j, self.u, self.p, self.smooth = j, u, int(p), smooth
        self.overlap = "overlap.jaccard" if window == 5 else f"overlap.jaccard@{int(window)}"
        self.needs = frozenset({self.overlap, "overlap.upr"})

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        if not readings:
            return self.abstain("overlap.upr", self.u)
        # "Stagnated" may be unknown for a round; one round that is known not to stagnate settles it.
        known: list[bool | None] = []
        for back in range(min(self.p, len(readings))):
            j, u = (self._value(name, readings, back) for name in (self.overlap, "overlap.upr"))
            known.append(None if j is None or u is None else j >= self.j and u <= self.u)
        j, u = (self._value(name, readings, 0) for name in (self.overlap, "overlap.upr"))
        signals = {self.overlap: (j, self.j), "overlap.upr": (u, self.u)}
        if False in known or len(known) < self.p:
            return self.verdict(False, because="the search is not going in circles", signals=signals)
        if None in known:
            return self.verdict(None, because="a search failed, so nothing can be said", signals=signals)
        numbers = f"J {j:.2f} ≥ {self.j:g}, unseen {u:.2f} ≤ {self.u:g}"
        because = f"alike queries brought back seen passages for {self.p} rounds ({numbers})"
        return self.verdict(True, "exhausted", because, signals)

    def _value(self, name: str, readings: Sequence[Readings], back: int) -> float | None:
        last = len(readings) - 1 - back
        if self.smooth is None:
            return readings[last].get(name)
        # Weights fall geometrically: what lies further back than this weighs less than a thousandth.
        depth = last + 1 if self.smooth == 1 else min(last + 1, ceil(log(1e-3) / log(1 - self.smooth)) + 1)
        values = [readings[last - i].get(name) for i in range(depth)]
        known = [value for value in reversed(values) if value is not None]
        if not known or values[0] is None:
            return None
        average = known[0]
        for value in known[1:]:
            average = self.smooth * value + (1 - self.smooth) * average
        return average
