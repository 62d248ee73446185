"""Rounds as a meter sees them, for tests of meters and gates."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hit:
    id: str
    text: str | None = ""
    title: str | None = None
    score: float | None = None


@dataclass(frozen=True)
class RoundView:
    raw: tuple[Hit, ...] = ()
    new: tuple[Hit, ...] = ()
    queries: tuple[str, ...] = ("q",)
    failed: bool = False
    index: int = 1


@dataclass(frozen=True)
class AllNew:
    """A round whose hits are all new."""

    raw: tuple[Hit, ...] = ()
    failed: bool = False
    queries: tuple[str, ...] = ("q",)
    index: int = 1

    @property
    def new(self) -> tuple[Hit, ...]:
        return self.raw
