"""LeafGate: the base class for gates that are not composed of others. ``docs/extend.md`` shows how to write one."""

from collections.abc import Mapping, Sequence
from functools import cache, partialmethod
from inspect import Parameter, signature

from suffice.gates.base import Gate, format_number
from suffice.types import Readings, Verdict

get_signature = cache(signature)


class LeafGate(Gate):
    """A gate that is not composed of others.

    Pass ``__init__`` the arguments of the gate: ``str(gate)`` shows them as they are written in an expression. Named
    arguments that equal their default are left out. Gate classes have lower-case names because expressions call them like
    functions: ``saturation(2) | fixed(5)``.
    """

    def __init__(self, *args: object, **options: object) -> None:
        parameters = get_signature(type(self)).parameters
        shown = [_format_value(value) for value in args]
        for name, value in options.items():
            default = parameters[name].default if name in parameters else Parameter.empty
            if default is Parameter.empty or value != default:
                shown.append(f"{name}={_format_value(value)}")
        self._text = f"{type(self).__name__}({', '.join(shown)})" if shown else type(self).__name__

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

    def _compare(
        self, name: str, readings: Sequence[Readings], threshold: float, reason: str, meaning: str, *, is_below: bool
    ) -> Verdict:
        value = readings[-1].get(name) if readings else None
        if value is None:
            return self.abstain(name, threshold)
        stop = (value < threshold) == is_below
        comparison = f"{name} {value:g} {'<' if value < threshold else '≥'} {threshold:g}"
        because = f"{meaning} ({comparison})" if stop else comparison
        return self.make_verdict(stop, reason, because, {name: (value, threshold)})

    judge_at_least = partialmethod(_compare, is_below=False)
    """Stop when the last reading ``name`` is at least ``threshold``."""
    judge_below = partialmethod(_compare, is_below=True)
    """Stop when it is below."""


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return format_number(value)
    return str(value)
