"""The Checker seam: what a passage says to a claim.

A checker never decides on a claim as a whole; it says, for one passage, which exact stretch speaks to the claim, which way
and how strongly. ``write/verify.py`` puts the passages together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from suffice.types import Passage

Stance = Literal["supports", "contradicts"]


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """An exact stretch of a passage and how it stands to a claim.

    ``stance`` is ``None`` when the stretch is merely the nearest one. ``score`` (0 to 1) is how surely; ``near`` (0 to 1) how
    much the stretch is about what the claim is about; ``why`` says in a few words what speaks against the claim.
    """

    start: int
    end: int
    stance: Stance | None
    score: float
    overlap: float
    reason: str = ""


class Checker(Protocol):
    name: str

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        """For each passage the stretch that speaks to the claim most; ``None`` where nothing does."""
        ...
