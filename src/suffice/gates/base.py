"""The Gate interface, and how gates are combined.

A gate maps the readings of all rounds so far to a verdict. It is pure and synchronous: it never looks at passages, models
or the clock, only at readings that a meter took. So the same gate object judges a live run and a recorded one.

A gate answers stop, go on, or unknown (``None``). Unknown never stops a run. ``&`` and ``|`` follow Kleene's logic:

    None & True = None      None & False = False      None | True = True      None | False = None

This module also holds the gates that are made of other gates: ``a | b``, ``a & b`` and wrappers such as ``a.after(2)``.
Each looks back only as far as its own window. They judge their inner gates through ``_Prefix``, which judges a gate at most
once for each round, so the cost of a verdict grows linearly with the number of gates, however deeply they are nested.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import ClassVar

from suffice.types import Promise, Readings, Verdict

_PROMISES_WEAKEST_FIRST: tuple[Promise, ...] = ("heuristic", "estimate", "guarantee")


@dataclass(frozen=True, slots=True)
class Dial:
    """A number of a gate that a user interface offers to change: its range, its step and its usual value."""

    name: str
    low: float
    high: float
    step: float
    usual: float


class Gate(ABC):
    """Base of every gate. A new gate subclasses ``LeafGate`` and implements ``judge``; ``docs/extend.md`` has an example.

    ``needs`` names the readings that ``judge`` uses. ``promise`` says how far a stop can be trusted. ``dials`` lists the
    parameters that a user interface may offer. ``bounds`` are the limits at which the gate certainly ends a run, by kind.
    """

    needs: frozenset[str] = frozenset()
    bounds: Mapping[str, float] = MappingProxyType({})
    promise: Promise = "heuristic"
    dials: tuple[Dial, ...] = ()
    _text: str

    @abstractmethod
    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        """Return the verdict after the last of ``readings``, which has one mapping per round. ``seed`` identifies the run."""

    def __or__(self, other: "Gate") -> "Gate":
        return AnyOf.combine(self, other)

    def __and__(self, other: "Gate") -> "Gate":
        return AllOf.combine(self, other)

    def after(self, n: int) -> "Gate":
        """Do not stop in the first ``n`` rounds."""
        return AfterGate(self, n)

    def patience(self, p: int) -> "Gate":
        """Stop only when this gate has said stop for ``p`` rounds in a row."""
        return PatienceGate(self, p)

    def epsilon(self, e: float) -> "Gate":
        """Ignore a stop with probability ``e``. The draw depends on run and round only, so a replay draws the same."""
        return EpsilonGate(self, e)

    def floor(self, chars: int) -> "Gate":
        """Put off a stop once, for one further round, while the evidence has fewer than ``chars`` characters.

        If the amount of evidence is unknown, nothing is put off.
        """
        return FloorGate(self, chars)

    def gap_aware(self, n: int = 0) -> "Gate":
        """Do not stop while more than ``n`` questions are open, unless search is exhausted or the budget is spent.

        If the number of open questions is unknown, nothing is put off.
        """
        return GapAwareGate(self, n)

    def resample(self, n: int = 1) -> "Gate":
        """When a stagnation begins, put off an exhausted stop for ``n`` rounds, in which the strategy tries other queries."""
        return ResampleGate(self, n)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gate) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<gate {self}>"


class CompositeGate(Gate):
    operator: ClassVar[str]

    def __init__(self, parts: tuple[Gate, ...]) -> None:
        self.parts = parts
        self.needs = frozenset[str]().union(*(part.needs for part in parts))
        self._text = f" {self.operator} ".join(
            f"({part})" if isinstance(part, CompositeGate) else str(part) for part in parts
        )

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        prefix = _Prefix.of(readings, seed)
        verdicts = [prefix.judge(part) for part in self.parts]
        leaves = tuple(leaf for verdict in verdicts for leaf in verdict.leaves)
        return replace(self.decide(verdicts, prefix), parts=leaves)

    @abstractmethod
    def decide(self, verdicts: Sequence[Verdict], prefix: "_Prefix") -> Verdict:
        """Return the verdict of this gate, given those of its parts after the last round of ``prefix``."""

    @classmethod
    def combine(cls, *gates: Gate) -> Gate:
        """Combine gates into one. Parts that are combined by the same operator already are merged, not nested."""
        for gate in gates:
            if not isinstance(gate, Gate):
                raise TypeError(f"{cls.operator} combines gates, not {gate!r}; turn a text into a gate with parse_gate")
        return cls(tuple(part for gate in gates for part in (gate.parts if isinstance(gate, cls) else (gate,))))


class AnyOf(CompositeGate):
    """``a | b``: stop when one part stops. The first stopping part from the left gives the reason."""

    operator = "|"

    def __init__(self, parts: tuple[Gate, ...]) -> None:
        super().__init__(parts)
        limits = [limit for part in parts for limit in part.bounds.items()]
        self.bounds = {kind: min(value for name, value in limits if name == kind) for kind, _ in limits}

    def decide(self, verdicts: Sequence[Verdict], prefix: "_Prefix") -> Verdict:
        is_unknown = any(verdict.stop is None for verdict in verdicts)
        goes_on = Verdict(str(self), None if is_unknown else False)
        return next((verdict for verdict in verdicts if verdict.stop), goes_on)


class AllOf(CompositeGate):
    """``a & b``: stop when all parts stop. The part that became true last gives the reason."""

    operator = "&"

    def decide(self, verdicts: Sequence[Verdict], prefix: "_Prefix") -> Verdict:
        for undecided in (False, None):
            if any(verdict.stop is undecided for verdict in verdicts):
                return Verdict(str(self), undecided)
        starts = [_find_stop_start(part, prefix) for part in self.parts]
        last = max(range(len(starts)), key=lambda i: (starts[i], i))
        # A conjunction promises no more than its weakest part.
        promise = min((verdict.promise for verdict in verdicts), key=_PROMISES_WEAKEST_FIRST.index)
        return replace(verdicts[last], promise=promise)


class GateWrapper(Gate):
    """Base of the gates that the methods of ``Gate`` make. ``takes`` says which number, ``least`` is the smallest.

    ``own_needs`` are the readings that it uses itself.
    """

    method: ClassVar[str]
    own_needs: ClassVar[frozenset[str]] = frozenset()
    takes: ClassVar[str] = "(n) takes a whole number of rounds"
    least: ClassVar[int] = 0

    def __init__(self, inner: Gate, value: float) -> None:
        self.inner = inner
        self.value = value
        self.needs = inner.needs | self.own_needs
        self.bounds = inner.bounds
        self.promise = inner.promise
        text = f"({inner})" if isinstance(inner, CompositeGate) else str(inner)
        self._text = f"{text}.{self.method}({format_number(value)})"
        self._validate()

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        prefix = _Prefix.of(readings, seed)
        return self.reconsider(prefix.judge(self.inner), prefix)

    @abstractmethod
    def reconsider(self, verdict: Verdict, prefix: "_Prefix") -> Verdict:
        """Return the verdict of this gate, given that of the inner gate after the last round of ``prefix``."""

    def _validate(self) -> None:
        if not (self.value >= self.least and self.value % 1 == 0):  # False for nan and inf.
            raise ValueError(f"{self.method}{self.takes}, {self.least} or more")

    def _adopt(self, verdict: Verdict, stop: bool | None, because: str = "") -> Verdict:
        """Return the inner gate's verdict as this gate's own, with another decision and reasoning if given."""
        reason = verdict.reason if stop else ""
        return replace(verdict, gate=str(self), stop=stop, reason=reason, because=because or verdict.because)

    def _put_off(
        self, verdict: Verdict, because: str, signals: dict[str, tuple[float | None, float]] | None = None
    ) -> Verdict:
        """Return a verdict that goes on although the inner gate stops; it is shown as a leaf of its own."""
        held = Verdict(str(self), False, "", f"{verdict.because}; {because}", {**verdict.signals, **(signals or {})})
        return replace(held, parts=(*verdict.parts, held)) if verdict.parts else held


class AfterGate(GateWrapper):
    method = "after"

    def reconsider(self, verdict: Verdict, prefix: "_Prefix") -> Verdict:
        if len(prefix) <= self.value:
            return self._adopt(verdict, False, f"may not stop before round {self.value + 1:g}")
        return self._adopt(verdict, verdict.stop)


class PatienceGate(GateWrapper):
    method = "patience"
    takes = "(p) takes a whole number of rounds"
    least = 1

    def reconsider(self, verdict: Verdict, prefix: "_Prefix") -> Verdict:
        if not verdict.stop or self.value == 1:
            return self._adopt(verdict, verdict.stop)
        for back in range(1, int(self.value)):
            if back >= len(prefix) or not prefix.drop_last(back).judge(self.inner).stop:
                return self._adopt(verdict, False, f"{verdict.because}; for {back} of {self.value:g} rounds in a row")
        return self._adopt(verdict, True, f"{verdict.because}; for {self.value:g} rounds in a row")


class EpsilonGate(GateWrapper):
    method = "epsilon"

    def _validate(self) -> None:
        if not 0 <= self.value <= 1:
            raise ValueError("epsilon(e) takes a probability between 0 and 1")

    def reconsider(self, verdict: Verdict, prefix: "_Prefix") -> Verdict:
        if verdict.stop and Random(f"{prefix.seed}:{len(prefix)}:{self.inner}").random() < self.value:
            return self._adopt(verdict, False, f"{verdict.because}; ignored by chance (ε = {self.value:g})")
        return self._adopt(verdict, verdict.stop)


class FloorGate(GateWrapper):
    """The round at which the inner gate stopped is accepted; the extra round is accepted without a judgement."""

    method = "floor"
    takes = "(chars) takes a whole number of characters"
    least = 1
    reading = "evidence.chars"
    own_needs = frozenset({reading, "spend.rounds"})

    def reconsider(self, verdict: Verdict, prefix: "_Prefix") -> Verdict:
        before = prefix.drop_last(1)
        if len(before) and self._is_below_floor(held := before.judge(self.inner), before):
            # The spend is read after a round was accepted. Without it, the extra round is not accepted yet.
            if "spend.rounds" not in prefix[-1]:
                return Verdict(str(self), False, because="the extra round is accepted without a judgement")
            because = f"{held.because}; one extra round was searched because there was little text"
            return self._adopt(held, True, because)
        if not self._is_below_floor(verdict, prefix):
            return self._adopt(verdict, verdict.stop)
        chars = prefix[-1][self.reading]
        because = f"continues for one round: only {chars:g} of {self.value:g} characters"
        return self._put_off(verdict, because, {self.reading: (chars, self.value)})

    def _is_below_floor(self, verdict: Verdict, readings: Sequence[Readings]) -> bool:
        chars = readings[-1].get(self.reading) if readings else None
        return bool(verdict.stop) and chars is not None and chars < self.value


class GapAwareGate(GateWrapper):
    method = "gap_aware"
    takes = "(n) takes a whole number of open questions"
    reading = "belief.open"
    own_needs = frozenset({reading})

    def reconsider(self, verdict: Verdict, prefix: "_Prefix") -> Verdict:
        # A round that is judged before it is accepted has no count yet; the count of the round before applies.
        recent = [prefix[-back].get(self.reading) for back in (1, 2) if back <= len(prefix)]
        still_open = next((value for value in recent if value is not None), 0.0)
        reasons = {leaf.reason for leaf in verdict.leaves if leaf.stop}
        is_final = "exhausted" in reasons or any(reason.startswith("budget_") for reason in reasons)
        if not verdict.stop or still_open <= self.value or is_final:
            return self._adopt(verdict, verdict.stop)
        because = f"continues: {still_open:g} open question{'' if still_open == 1 else 's'}"
        return self._put_off(verdict, because, {self.reading: (still_open, self.value + 1)})


class ResampleGate(GateWrapper):
    method = "resample"
    least = 1

    def reconsider(self, verdict: Verdict, prefix: "_Prefix") -> Verdict:
        if not verdict.stop or verdict.reason != "exhausted":
            return self._adopt(verdict, verdict.stop)
        running = 1
        while running <= self.value and running < len(prefix):
            if prefix.drop_last(running).judge(self.inner).reason != "exhausted":
                break
            running += 1
        if running > self.value:
            return self._adopt(verdict, True, f"{verdict.because}; other queries found nothing new")
        return self._put_off(verdict, "continues: other queries are tried")


def format_number(value: float) -> str:
    """Return the shortest text that reads back as the same number: 2.0 as 2, 0.15 as 0.15."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


@dataclass(frozen=True, slots=True, eq=False)
class _Prefix(Sequence[Readings]):
    """The first rounds of a run, without copying them, and the verdicts that gates gave on these and on shorter prefixes.

    Without these verdicts, gates that look back would judge their inner gates again for each level of nesting, and the cost
    of a verdict would double with every level.
    """

    readings: Sequence[Readings]
    length: int
    seed: int
    # By the identity of the gate and the length of the prefix. The gate is kept, so that no other gets its identity.
    verdicts: dict[tuple[int, int], tuple[Gate, Verdict]]

    @classmethod
    def of(cls, readings: Sequence[Readings], seed: int) -> "_Prefix":
        """Return the readings as a prefix. A gate that an outer gate judges is given one, and shares its verdicts."""
        if isinstance(readings, cls) and readings.seed == seed:
            return readings
        return cls(readings, len(readings), seed, {})

    def drop_last(self, rounds: int) -> "_Prefix":
        return replace(self, length=max(0, self.length - rounds))

    def judge(self, gate: Gate) -> Verdict:
        """Return the verdict of a gate after the last round of this prefix."""
        key = (id(gate), self.length)
        if key not in self.verdicts:
            self.verdicts[key] = gate, gate.judge(self, self.seed)
        return self.verdicts[key][1]

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        place = range(self.length)[index]  # It counts negative numbers from the end, and knows which are out of range.
        return [self.readings[i] for i in place] if isinstance(index, slice) else self.readings[place]


def _find_stop_start(gate: Gate, prefix: _Prefix) -> int:
    """Return the first round of the unbroken series of stops that ends with the last round."""
    back = 0
    while back + 1 < len(prefix) and prefix.drop_last(back + 1).judge(gate).stop:
        back += 1
    return len(prefix) - back
