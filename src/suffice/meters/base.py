"""A meter reads a round once and adds named readings to it. It measures; it never judges.

Meters are incremental: they keep what they need of the rounds before, so a reading costs O(what is new). They see only
what a recorded run also holds (queries and hits), so the same meter works live, in a replay and in somebody else's loop.
What cannot be measured is ``None``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from suffice.types import Embed, Readings

Moment = Literal["before", "after"]


class Hit(Protocol):
    """What a meter needs of a passage; a recorded hit may lack its text or score."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str | None: ...
    @property
    def text(self) -> str | None: ...
    @property
    def score(self) -> float | None: ...


class RoundView(Protocol):
    """What a meter sees of a round. ``raw`` are all hits, also those seen before; ``new`` are the admitted ones."""

    @property
    def index(self) -> int: ...
    @property
    def queries(self) -> Sequence[str]: ...
    @property
    def raw(self) -> Sequence[Hit]: ...
    @property
    def new(self) -> Sequence[Hit]: ...
    @property
    def failed(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class MeterContext:
    """What a meter is made from: the question, the readings that gates ask for by name, and an embedding model if any."""

    question: str | None = None
    needs: frozenset[str] = frozenset()
    embed: Embed | None = None


class Meter(Protocol):
    """Made from a ``Context``. ``moment``: before readings may reject a round, so they are taken before the belief changes."""

    moment: Moment
    names: tuple[str, ...]

    def read(self, view: RoundView) -> Readings:
        """The readings of this round. Called once a round, in order; a rejected round is always the last."""
        ...
