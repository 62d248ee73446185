"""What every single gate shares: its text, and the comparison of one reading with one threshold."""

from collections.abc import Mapping, Sequence

from suffice.gates.base import Gate, format_number
from suffice.types import Promise, Readings, Verdict


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
