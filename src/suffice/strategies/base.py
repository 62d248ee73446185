"""The Strategy seam: what to ask next, given the run so far."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from suffice.state.run import RunState
from suffice.types import Hits, Passage, Query


@runtime_checkable
class Strategy(Protocol):
    async def propose(self, run: RunState) -> list[Query]:
        """The next round's queries; an empty list when nothing is left to ask."""
        ...


@runtime_checkable
class PassageSelector(Protocol):
    """A strategy that also has a say in which of the passages found are kept."""

    async def choose(self, run: RunState, unseen: Sequence[Hits]) -> list[Passage]:
        """The passages worth keeping, best first, out of those not seen before."""
        ...
