"""The Memory seam: what the agent keeps of the accepted rounds, and how it fits a prompt."""

from typing import Protocol, runtime_checkable

from suffice.types import Note, Round


@runtime_checkable
class Memory(Protocol):
    async def update(self, round: Round) -> None:
        """Take in an accepted round. Rejected rounds never get here."""
        ...

    def render(self, budget: int) -> tuple[Note, ...]:
        """What is known, oldest first, in at most about ``budget`` tokens. Costs O(budget), whatever came before."""
        ...
