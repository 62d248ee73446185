"""What every single gate shares: its text, and the comparison of one reading with one threshold."""

from collections.abc import Mapping, Sequence

from suffice.gates.base import Gate, number
from suffice.types import Promise, Readings, Verdict


class Leaf(Gate):
    """A gate that is not composed of others. It prints as it is written: only what differs from the default."""

    promise: Promise = "heuristic"

    def __init__(self, *args: object, **options: object) -> None:
        parts = [_text(value) for value in args] + [f"{name}={_text(value)}" for name, value in options.items()]
        self._text = f"{type(self).__name__}({', '.join(parts)})" if parts else type(self).__name__

    def __str__(self) -> str:
        return self._text

    def verdict(
        self,
        stop: bool | None,
        reason: str = "",
        because: str = "",
        signals: Mapping[str, tuple[float | None, float]] | None = None,
    ) -> Verdict:
        return Verdict(str(self), stop, reason if stop else "", because, signals or {}, self.promise)

    def abstain(self, name: str, threshold: float) -> Verdict:
        return self.verdict(None, because=f"{name} is unknown", signals={name: (None, threshold)})

    def at_least(self, name: str, readings: Sequence[Readings], bar: float, reason: str, meaning: str) -> Verdict:
        """Stop when a reading has risen to the bar."""
        value = readings[-1].get(name) if readings else None
        if value is None:
            return self.abstain(name, bar)
        stop = value >= bar
        because = f"{meaning} ({name} {value:g} ≥ {bar:g})" if stop else f"{name} {value:g} < {bar:g}"
        return self.verdict(stop, reason, because, {name: (value, bar)})

    def below(self, name: str, readings: Sequence[Readings], bar: float, reason: str, meaning: str) -> Verdict:
        """Stop when a reading has fallen under the bar."""
        value = readings[-1].get(name) if readings else None
        if value is None:
            return self.abstain(name, bar)
        stop = value < bar
        because = f"{meaning} ({name} {value:g} < {bar:g})" if stop else f"{name} {value:g} ≥ {bar:g}"
        return self.verdict(stop, reason, because, {name: (value, bar)})


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return number(value)
    return str(value)
