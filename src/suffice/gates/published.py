"""Stop rules from the literature, as loop guards and for comparison: saturation (S2), exhaustion (S3), gain (S5), a model's
verdict, resolved predicates (S3), unseen mass (Good–Turing) and the recall test.

Measured against a fixed number of rounds at the same cost none of them wins; see ``bench/``. They are good at noticing a
run that goes in circles.
"""

from collections.abc import Sequence
from math import ceil, log, log1p

from suffice.gates.base import Dial, LeafGate
from suffice.measure.recall import p_recall_below
from suffice.types import Promise, Readings, Verdict

# Each assessor has its own scale: the same 3 does not mean the same on each (S2).
SATURATION_THRESHOLDS = {"words": 3.0, "embedding": 3.0, "model": 3.0}


class saturation(LeafGate):
    """Stop when a round's results are no longer new. Judged before the round may change the belief."""

    dials = (Dial("threshold", 0, 10, 0.5, 3),)

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
        return self.judge_below(
            self.reading, readings, self.threshold, "saturated", "the results hardly bring anything new"
        )


class exhaustion(LeafGate):
    """Stop when alike queries keep bringing back passages that were seen: J ≥ j and UPR ≤ u for p rounds running.

    ``smooth`` (0–1) judges exponential moving averages instead: x̄ₜ = smooth·xₜ + (1 − smooth)·x̄ₜ₋₁.
    """

    dials = (
        Dial("j", 0, 1, 0.05, 0.6),
        Dial("u", 0, 1, 0.05, 0.3),
        Dial("p", 1, 5, 1, 2),
    )

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
            j, u = (self._read_value(name, readings, back) for name in (self.overlap, "overlap.upr"))
            known.append(None if j is None or u is None else j >= self.j and u <= self.u)
        j, u = (self._read_value(name, readings, 0) for name in (self.overlap, "overlap.upr"))
        signals = {self.overlap: (j, self.j), "overlap.upr": (u, self.u)}
        if False in known or len(known) < self.p:
            return self.make_verdict(False, because="the search is not going in circles", signals=signals)
        if None in known:
            return self.make_verdict(None, because="a search failed, so nothing can be said", signals=signals)
        numbers = f"J {j:.2f} ≥ {self.j:g}, new share {u:.2f} ≤ {self.u:g}"
        because = f"alike queries brought back seen passages for {self.p} rounds ({numbers})"
        return self.make_verdict(True, "exhausted", because, signals)

    def _read_value(self, name: str, readings: Sequence[Readings], back: int) -> float | None:
        last = len(readings) - 1 - back
        if self.smooth is None:
            return readings[last].get(name)
        # Weights fall geometrically: what lies further back than this weighs less than a thousandth.
        depth = last + 1 if self.smooth == 1 else min(last + 1, ceil(log(1e-3) / log1p(-self.smooth)) + 1)
        values = [readings[last - i].get(name) for i in range(depth)]
        known = [value for value in reversed(values) if value is not None]
        if not known or values[0] is None:
            return None
        average = known[0]
        for value in known[1:]:
            average = self.smooth * value + (1 - self.smooth) * average
        return average


class gain(LeafGate):
    """Stop when coverage hardly grows: the mean of the last ``w`` information gains is under ``eps``."""

    needs = frozenset({"coverage.gain"})
    dials = (
        Dial("eps", 0.001, 0.2, 0.001, 0.005),
        Dial("w", 1, 5, 1, 2),
    )

    def __init__(self, eps: float = 0.005, w: int = 2) -> None:
        if eps <= 0 or w < 1 or w != int(w):
            raise ValueError("gain(eps, w) takes a threshold above 0 and a whole number of rounds, 1 or more")
        given = {"eps": (eps, 0.005), "w": (w, 2)}
        super().__init__(**{name: value for name, (value, default) in given.items() if value != default})
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
        words = f"coverage hardly grew (mean gain of {self.w} rounds {mean:.4g} < {self.eps:g})"
        return self.make_verdict(
            mean < self.eps, "diminished", words if mean < self.eps else "coverage still grows", signals
        )


class unseen(LeafGate):
    """Stop when the chance that the next hit is new is estimated at ``mass`` or less (Good–Turing)."""

    needs = frozenset({"unseen.mass"})
    dials = (Dial("mass", 0, 0.95, 0.05, 0.2),)
    promise: Promise = "estimate"

    def __init__(self, mass: float = 0.2) -> None:
        if not 0 <= mass < 1:
            raise ValueError("unseen(mass) takes a probability from 0 to below 1")
        super().__init__(**({} if mass == 0.2 else {"mass": mass}))
        self.mass = mass

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        value = readings[-1].get("unseen.mass") if readings else None
        if value is None:
            return self.abstain("unseen.mass", self.mass)
        stop = value <= self.mass
        sign = "≤" if stop else ">"
        because = f"the estimated share of hits still unseen is {value:.2f} {sign} {self.mass:g}"
        return self.make_verdict(stop, "saturated", because, {"unseen.mass": (value, self.mass)})


class predicates(LeafGate):
    """Stop when no needed predicate of the belief is open."""

    needs = frozenset({"belief.open"})

    def __init__(self) -> None:
        super().__init__()

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        return self.judge_below("belief.open", readings, 1, "sufficient", "every needed predicate is resolved")


class judged(LeafGate):
    """Stop when a model calls the search exhausted. ``conservative`` is asked to go on in doubt, ``neutral`` is not."""

    def __init__(self, style: str = "conservative") -> None:
        if style not in ("conservative", "neutral"):
            raise ValueError(f"judged(style={style}) is not known; choose conservative or neutral")
        super().__init__(**({} if style == "conservative" else {"style": style}))
        self.reading = f"judged.{style}"
        self.needs = frozenset({self.reading})

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        return self.judge_at_least(self.reading, readings, 1, "exhausted", "the model calls the search exhausted")


class recall(LeafGate):
    """Stop when a random sample of what was not looked at shows, at this confidence, that recall has reached the target.

    It needs the readings ``recall.found``, ``recall.unseen``, ``recall.drawn`` and ``recall.hits`` from whoever draws that
    sample. A search that ranks draws nothing at random, so without them the gate abstains: it never pretends.
    """

    needs = frozenset({"recall.found", "recall.unseen", "recall.drawn", "recall.hits"})
    dials = (
        Dial("target", 0.5, 0.99, 0.01, 0.9),
        Dial("confidence", 0.5, 0.99, 0.01, 0.95),
    )
    promise: Promise = "guarantee"

    def __init__(self, target: float = 0.9, confidence: float = 0.95) -> None:
        if not (0 < target < 1 and 0 < confidence < 1):
            raise ValueError("recall(target, confidence) takes shares between 0 and 1")
        given = {"target": (target, 0.9), "confidence": (confidence, 0.95)}
        super().__init__(**{name: value for name, (value, default) in given.items() if value != default})
        self.target, self.confidence = target, confidence

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        now = readings[-1] if readings else {}
        found, left, drawn, hits = (now.get(f"recall.{name}") for name in ("found", "unseen", "drawn", "hits"))
        bar = 1 - self.confidence
        if found is None or left is None or drawn is None or hits is None:
            words = "no random sample of the unseen documents was drawn, so recall cannot be tested"
            return self.make_verdict(None, because=words, signals={"recall.p": (None, bar)})
        p = p_recall_below(int(found), int(left), int(drawn), int(hits), self.target)
        because = f"recall below {self.target:g} is {'ruled out' if p < bar else 'not ruled out'} (p = {p:.3g})"
        return self.make_verdict(p < bar, "sufficient", because, {"recall.p": (p, bar)})
