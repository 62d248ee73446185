"""The base classes of stop gates.

A gate maps the readings of all rounds so far to a verdict. It is pure and synchronous: it never looks at passages, models
or the clock, only at readings that a meter took. So the same gate object judges a live run and a recorded one.

A gate answers stop, go on, or unknown (``None``). Unknown never stops a run. ``&`` and ``|`` follow Kleene's logic:

    None & True = None      None & False = False      None | True = True      None | False = None

How gates are combined and wrapped is in ``compose.py``; how they are written as text is in ``parse.py``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature

from suffice.types import Promise, Readings, Verdict


@dataclass(frozen=True, slots=True)
class Dial:
    """A number of a gate that a user interface offers to change: its range, its step and its usual value."""

    name: str
    low: float
    high: float
    step: float
    usual: float


class Gate(ABC):
    """Base of every gate. A new gate subclasses ``LeafGate`` and implements ``judge``:

        class quiet(LeafGate):
            needs = frozenset({"novelty.words"})

            def __init__(self, below: float = 2.0) -> None:
                super().__init__(below=below)
                self.below = below

            def judge(self, readings, seed=0):
                return self.judge_below("novelty.words", readings, self.below, "saturated", "little is new")

    Register it under the entry-point group ``suffice.gates``; then ``quiet(below=3) | budget(rounds=5)`` parses.

    ``needs`` names the readings that ``judge`` uses. ``promise`` says how far a stop can be trusted. ``dials`` lists the
    parameters that a user interface may offer.
    """

    needs: frozenset[str] = frozenset()
    promise: Promise = "heuristic"
    dials: tuple[Dial, ...] = ()

    @abstractmethod
    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        """Return the verdict after the last of ``readings``, which has one mapping per round. ``seed`` identifies the run."""

    def __or__(self, other: "Gate") -> "Gate":
        from suffice.gates.compose import AnyOf

        return AnyOf.combine(self, other)

    def __and__(self, other: "Gate") -> "Gate":
        from suffice.gates.compose import AllOf

        return AllOf.combine(self, other)

    def after(self, n: int) -> "Gate":
        """Do not stop in the first ``n`` rounds."""
        from suffice.gates.compose import AfterGate

        return AfterGate(self, n)

    def patience(self, p: int) -> "Gate":
        """Stop only when this gate has said stop for ``p`` rounds in a row."""
        from suffice.gates.compose import PatienceGate

        return PatienceGate(self, p)

    def epsilon(self, e: float) -> "Gate":
        """Ignore a stop with probability ``e``. The draw depends on run and round only, so a replay draws the same."""
        from suffice.gates.compose import EpsilonGate

        return EpsilonGate(self, e)

    def floor(self, chars: int) -> "Gate":
        """Put off a stop once, for one further round, while the evidence has fewer than ``chars`` characters."""
        from suffice.gates.compose import FloorGate

        return FloorGate(self, chars)

    def gap_aware(self, n: int = 0) -> "Gate":
        """Do not stop while more than ``n`` questions are open, unless search is exhausted or the budget is spent."""
        from suffice.gates.compose import GapAwareGate

        return GapAwareGate(self, n)

    def resample(self, n: int = 1) -> "Gate":
        """Put off an exhausted stop for ``n`` rounds, in which the strategy tries other queries."""
        from suffice.gates.compose import ResampleGate

        return ResampleGate(self, n)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gate) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"<gate {self}>"


class LeafGate(Gate):
    """A gate that is not composed of others.

    Pass ``__init__`` the arguments of the gate: ``str(gate)`` shows them as they are written in an expression. Named
    arguments that equal their default are left out.
    """

    def __init__(self, *args: object, **options: object) -> None:
        parameters = get_signature(type(self)).parameters
        shown = [_format_value(value) for value in args]
        for name, value in options.items():
            default = parameters[name].default if name in parameters else Parameter.empty
            if default is Parameter.empty or value != default:
                shown.append(f"{name}={_format_value(value)}")
        self._text = f"{type(self).__name__}({', '.join(shown)})" if shown else type(self).__name__

    def __str__(self) -> str:
        return self._text

    def make_verdict(
        self,
        stop: bool | None,
        reason: str = "",
        because: str = "",
        signals: Mapping[str, tuple[float | None, float]] | None = None,
    ) -> Verdict:
        """Build this gate's verdict. ``reason`` is dropped unless the gate stops."""
        return Verdict(str(self), stop, reason if stop else "", because, signals or {}, self.promise)

    def abstain(self, name: str, threshold: float) -> Verdict:
        """Return an unknown verdict because the reading ``name`` is missing."""
        return self.make_verdict(None, because=f"{name} is unknown", signals={name: (None, threshold)})

    def judge_at_least(
        self, name: str, readings: Sequence[Readings], threshold: float, reason: str, meaning: str
    ) -> Verdict:
        """Stop when the last reading ``name`` is at least ``threshold``."""
        value = readings[-1].get(name) if readings else None
        if value is None:
            return self.abstain(name, threshold)
        stop = value >= threshold
        because = f"{meaning} ({name} {value:g} ≥ {threshold:g})" if stop else f"{name} {value:g} < {threshold:g}"
        return self.make_verdict(stop, reason, because, {name: (value, threshold)})

    def judge_below(
        self, name: str, readings: Sequence[Readings], threshold: float, reason: str, meaning: str
    ) -> Verdict:
        """Stop when the last reading ``name`` is below ``threshold``."""
        value = readings[-1].get(name) if readings else None
        if value is None:
            return self.abstain(name, threshold)
        stop = value < threshold
        because = f"{meaning} ({name} {value:g} < {threshold:g})" if stop else f"{name} {value:g} ≥ {threshold:g}"
        return self.make_verdict(stop, reason, because, {name: (value, threshold)})


get_signature = cache(signature)


def format_number(value: float) -> str:
    """Return the shortest text that reads back as the same number: 2.0 as 2, 0.15 as 0.15."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return format_number(value)
    return str(value)
