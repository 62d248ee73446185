"""Stops that are held back: while something needed is open, or for one more try after a stagnation (S3's interventions)."""

from collections.abc import Sequence
from dataclasses import replace

from suffice.gates.base import Gate, GateWrapper
from suffice.types import Readings, Verdict


class GapAwareGate(GateWrapper):
    """``g.gap_aware(n)``: a stop does not count while more than ``n`` questions are open, unless search is exhausted or the
    budget spent. Without open questions on record nothing is held back."""

    method = "gap_aware"
    reading = "belief.open"

    def __init__(self, inner: Gate, n: int = 0) -> None:
        super().__init__(inner, n)
        if n < 0 or n != int(n):
            raise ValueError("gap_aware(n) takes a whole number of open questions, 0 or more")
        self.needs = inner.needs | {self.reading}

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        verdict = self.inner.judge(readings, seed)
        # A round that is judged before it may change the belief is held against the belief as it was.
        known = [readings[-back].get(self.reading) for back in (1, 2) if back <= len(readings)]
        still = next((value for value in known if value is not None), 0.0)
        ends = {leaf.reason for leaf in verdict.leaves if leaf.stop}
        final = "exhausted" in ends or any(reason.startswith("budget_") for reason in ends)
        if not verdict.stop or still <= self.value or final:
            return self._wrap_verdict(verdict, verdict.stop, "")
        because = f"{verdict.because}; held back: {still:g} needed questions are open"
        return _hold_back(self, verdict, because, {self.reading: (still, self.value + 1)})


class ResampleGate(GateWrapper):
    """``g.resample(n)``: when a stagnation begins, an exhausted stop is put off for ``n`` rounds, in which the strategy asks
    what it has not tried. If that brings nothing either, the stop counts."""

    method = "resample"

    def __init__(self, inner: Gate, n: int = 1) -> None:
        super().__init__(inner, n)
        if n < 1 or n != int(n):
            raise ValueError("resample(n) takes a whole number of rounds, 1 or more")

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        verdict = self.inner.judge(readings, seed)
        if not verdict.stop or verdict.reason != "exhausted":
            return self._wrap_verdict(verdict, verdict.stop, "")
        running = 1
        while running <= self.value and running < len(readings):
            if self.inner.judge(readings[: len(readings) - running], seed).reason != "exhausted":
                break
            running += 1
        if running > self.value:
            return self._wrap_verdict(verdict, True, f"{verdict.because}; another try brought nothing either")
        return _hold_back(self, verdict, f"{verdict.because}; put off for another try", {})


def _hold_back(gate: Gate, verdict: Verdict, because: str, signals: dict[str, tuple[float | None, float]]) -> Verdict:
    held = Verdict(str(gate), False, "", because, {**verdict.signals, **signals})
    return replace(held, parts=(*verdict.parts, held)) if verdict.parts else held
