"""The Strategy seam: what to ask next, given the run so far."""

from typing import Protocol, runtime_checkable

from suffice.run import Run
from suffice.types import Query


@runtime_checkable
class Strategy(Protocol):
    async def propose(self, run: Run) -> list[Query]:
        """The next round's queries; an empty list when nothing is left to ask."""
        ...
