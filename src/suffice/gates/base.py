"""The Gate seam: readings of all rounds so far in, a verdict out. Pure and synchronous.

A gate never looks at passages, models or the clock: whatever it needs is a reading that a meter took. So the same gate
object runs live and over a recorded run. It looks back only over its own window. Unknown is ``None`` and never stops.

    None & True = None      None & False = False      None | True = True      None | False = None
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from suffice.types import Promise, Readings, Verdict


@dataclass(frozen=True, slots=True)
class Dial:
    """A number of a gate that a person may turn: from where to where, how finely, and where it usually stands."""

    name: str
    low: float
    high: float
    step: float
    usual: float


class Gate(ABC):
    """Base of every gate: one method, ``judge``, plus the ways to compose gates."""

    needs: frozenset[str] = frozenset()
    promise: Promise = "heuristic"
    dials: tuple[Dial, ...] = ()

    @abstractmethod
    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        """The verdict after the last of ``readings`` (one mapping a round). ``seed`` identifies the run."""

    def __or__(self, other: "Gate") -> "Gate":
        return AnyOf((*_flatten(self, AnyOf), *_flatten(other, AnyOf)))

    def __and__(self, other: "Gate") -> "Gate":
        return AllOf((*_flatten(self, AllOf), *_flatten(other, AllOf)))

    def after(self, n: int) -> "Gate":
        """Silent for the first ``n`` rounds."""
        return AfterGate(self, n)

    def patience(self, p: int) -> "Gate":
        """Stops only when the gate says so for ``p`` rounds running."""
        return PatienceGate(self, p)

    def epsilon(self, e: float) -> "Gate":
        """With probability ``e`` a stop is ignored for this round; drawn from run and round, so a replay draws the same."""
        return EpsilonGate(self, e)

    def floor(self, chars: int) -> "Gate":
        """A stop with fewer characters of evidence than this is put off once, for one further round that is not judged."""
        return FloorGate(self, chars)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gate) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"<gate {self}>"


class CompositeGate(Gate):
    """What ``|`` and ``&`` have in common."""

    operator = ""

    def __init__(self, parts: tuple[Gate, ...]) -> None:
        self.parts = parts
        self.needs = frozenset[str]().union(*(part.needs for part in parts))
        self._text = f" {self.operator} ".join(
            f"({part})" if isinstance(part, CompositeGate) else str(part) for part in parts
        )

    def __str__(self) -> str:
        return self._text


class AnyOf(CompositeGate):
    """``a | b``: stops when one part stops; the first firing part from the left names the stop."""

    sign = "|"

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        verdicts = [part.judge(readings, seed) for part in self.parts]
        leaves = tuple(leaf for verdict in verdicts for leaf in verdict.leaves)
        for verdict in verdicts:
            if verdict.stop:
                return Verdict(
                    verdict.gate, True, verdict.reason, verdict.because, verdict.signals, verdict.promise, leaves
                )
        unknown = any(verdict.stop is None for verdict in verdicts)
        return Verdict(str(self), None if unknown else False, parts=leaves)


class AllOf(CompositeGate):
    """``a & b``: stops when all parts stop; the part that became true last names the stop."""

    sign = "&"

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        verdicts = [part.judge(readings, seed) for part in self.parts]
        leaves = tuple(leaf for verdict in verdicts for leaf in verdict.leaves)
        if any(verdict.stop is False for verdict in verdicts):
            return Verdict(str(self), False, parts=leaves)
        if any(verdict.stop is None for verdict in verdicts):
            return Verdict(str(self), None, parts=leaves)
        since = [_find_stop_start(part, readings, seed) for part in self.parts]
        last = max(range(len(since)), key=lambda i: (since[i], i))
        # A conjunction promises no more than its weakest part.
        promise = min((verdict.promise for verdict in verdicts), key=_PROMISE_STRENGTH.index)
        named = verdicts[last]
        return Verdict(named.gate, True, named.reason, named.because, named.signals, promise, leaves)


class GateWrapper(Gate):
    """A gate that changes when another gate may speak."""

    method = ""

    def __init__(self, inner: Gate, value: float) -> None:
        self.inner = inner
        self.value = value
        self.needs = inner.needs
        self.promise = inner.promise

    def __str__(self) -> str:
        inner = f"({self.inner})" if isinstance(self.inner, CompositeGate) else str(self.inner)
        return f"{inner}.{self.method}({format_number(self.value)})"

    def _wrap_verdict(self, verdict: Verdict, stop: bool | None, because: str) -> Verdict:
        """This gate's verdict, given the inner one: the inner's leaves are renamed where there is only one."""
        reason = verdict.reason if stop else ""
        parts = verdict.parts
        return Verdict(str(self), stop, reason, because or verdict.because, verdict.signals, verdict.promise, parts)


class AfterGate(GateWrapper):
    method = "after"

    def __init__(self, inner: Gate, n: int) -> None:
        super().__init__(inner, n)
        if n < 0 or n != int(n):
            raise ValueError("after(n) takes a whole number of rounds, 0 or more")

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        verdict = self.inner.judge(readings, seed)
        if len(readings) <= self.value:
            return self._wrap_verdict(verdict, False, f"silent until round {self.value:g} is over")
        return self._wrap_verdict(verdict, verdict.stop, "")


class PatienceGate(GateWrapper):
    method = "patience"

    def __init__(self, inner: Gate, p: int) -> None:
        super().__init__(inner, p)
        if p < 1 or p != int(p):
            raise ValueError("patience(p) takes a whole number of rounds, 1 or more")

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        verdict = self.inner.judge(readings, seed)
        if not verdict.stop or self.value == 1:
            return self._wrap_verdict(verdict, verdict.stop, "")
        for back in range(1, int(self.value)):
            earlier = self.inner.judge(_drop_last(readings, back), seed) if back < len(readings) else None
            if earlier is None or not earlier.stop:
                return self._wrap_verdict(verdict, False, f"{verdict.because}; {back} of {self.value:g} rounds running")
        return self._wrap_verdict(verdict, True, f"{verdict.because}; {self.value:g} rounds running")


class EpsilonGate(GateWrapper):
    method = "epsilon"

    def __init__(self, inner: Gate, e: float) -> None:
        super().__init__(inner, e)
        if not 0 <= e <= 1:
            raise ValueError("epsilon(e) takes a probability between 0 and 1")

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        verdict = self.inner.judge(readings, seed)
        if verdict.stop and Random(f"{seed}:{len(readings)}:{self.inner}").random() < self.value:
            return self._wrap_verdict(verdict, False, f"{verdict.because}; ignored by chance (ε = {self.value:g})")
        return self._wrap_verdict(verdict, verdict.stop, "")


class FloorGate(GateWrapper):
    """S2's quality floor, inside the one loop: a stop with too little text gathered is put off exactly once.

    The round that would have been refused is kept (with so little at hand nothing is worth refusing), one further round is
    searched and kept whatever it brings, and then the stop stands. Text that nobody measured puts nothing off.
    """

    method = "floor"
    reading = "evidence.chars"

    def __init__(self, inner: Gate, chars: int) -> None:
        super().__init__(inner, chars)
        if chars < 1 or chars != int(chars):
            raise ValueError("floor(chars) takes a whole number of characters, 1 or more")
        self.needs = inner.needs | {self.reading, "spend.rounds"}

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        before = _drop_last(readings, 1)
        verdict = self.inner.judge(before, seed) if len(before) else None
        if verdict is not None and self._is_below_floor(verdict, before):
            # What was spent is known only once a round has been accepted: until then this one is not judged.
            if "spend.rounds" not in readings[-1]:
                return Verdict(str(self), False, because="the one further search under the floor is not judged")
            return self._wrap_verdict(
                verdict, True, f"{verdict.because}; one further search followed, the text being short"
            )
        verdict = self.inner.judge(readings, seed)
        if not self._is_below_floor(verdict, readings):
            return self._wrap_verdict(verdict, verdict.stop, "")
        chars = readings[-1][self.reading]
        because = f"{verdict.because}; put off once: only {chars:g} of {self.value:g} characters"
        held = Verdict(str(self), False, "", because, {**verdict.signals, self.reading: (chars, self.value)})
        return replace(held, parts=(*verdict.parts, held)) if verdict.parts else held

    def _is_below_floor(self, verdict: Verdict, readings: Sequence[Readings]) -> bool:
        chars = readings[-1].get(self.reading) if readings else None
        return bool(verdict.stop) and chars is not None and chars < self.value


class _PrefixView(Sequence[Readings]):
    """All but the last ``back`` rounds, without copying them."""

    def __init__(self, readings: Sequence[Readings], back: int) -> None:
        self._readings, self._length = readings, max(0, len(readings) - back)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        if isinstance(index, slice):
            return [self._readings[i] for i in range(*index.indices(self._length))]
        if index < 0:
            index += self._length
        if not 0 <= index < self._length:
            raise IndexError(index)
        return self._readings[index]


def format_number(value: float) -> str:
    """The shortest text that reads back as the same number: 2.0 as 2, 0.15 as 0.15."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _drop_last(readings: Sequence[Readings], back: int) -> Sequence[Readings]:
    return _PrefixView(readings, back)


_PROMISE_STRENGTH: tuple[Promise, ...] = ("heuristic", "estimate", "guarantee")


def _flatten(gate: Gate, kind: type[CompositeGate]) -> tuple[Gate, ...]:
    return gate.parts if isinstance(gate, kind) and type(gate) is kind else (gate,)


def _find_stop_start(gate: Gate, readings: Sequence[Readings], seed: int) -> int:
    """The round from which on the gate has been saying stop without a break."""
    back = 0
    while back + 1 < len(readings) and gate.judge(_drop_last(readings, back + 1), seed).stop:
        back += 1
    return len(readings) - back


class LeafGate(Gate):
    """A gate that is not composed of others. It prints as it is written: only what differs from the default."""

    promise: Promise = "heuristic"

    def __init__(self, *args: object, **options: object) -> None:
        parts = [_format_value(value) for value in args] + [
            f"{name}={_format_value(value)}" for name, value in options.items()
        ]
        self._text = f"{type(self).__name__}({', '.join(parts)})" if parts else type(self).__name__

    def __str__(self) -> str:
        return self._text

    def make_verdict(
        self,
        stop: bool | None,
        reason: str = "",
        because: str = "",
        signals: Mapping[str, tuple[float | None, float]] | None = None,
    ) -> Verdict:
        return Verdict(str(self), stop, reason if stop else "", because, signals or {}, self.promise)

    def abstain(self, name: str, threshold: float) -> Verdict:
        return self.make_verdict(None, because=f"{name} is unknown", signals={name: (None, threshold)})

    def judge_at_least(
        self, name: str, readings: Sequence[Readings], threshold: float, reason: str, meaning: str
    ) -> Verdict:
        """Stop when a reading has risen to the bar."""
        value = readings[-1].get(name) if readings else None
        if value is None:
            return self.abstain(name, threshold)
        stop = value >= threshold
        because = f"{meaning} ({name} {value:g} ≥ {threshold:g})" if stop else f"{name} {value:g} < {threshold:g}"
        return self.make_verdict(stop, reason, because, {name: (value, threshold)})

    def judge_below(
        self, name: str, readings: Sequence[Readings], threshold: float, reason: str, meaning: str
    ) -> Verdict:
        """Stop when a reading has fallen under the bar."""
        value = readings[-1].get(name) if readings else None
        if value is None:
            return self.abstain(name, threshold)
        stop = value < threshold
        because = f"{meaning} ({name} {value:g} < {threshold:g})" if stop else f"{name} {value:g} ≥ {threshold:g}"
        return self.make_verdict(stop, reason, because, {name: (value, threshold)})


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return format_number(value)
    return str(value)


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
