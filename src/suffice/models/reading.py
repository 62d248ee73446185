"""The seam for a reader: a small model that finds the answer to a question in a passage.

The extractive model works without one. With one, its excerpts, short answer and judgement of sufficiency rest on it too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """Where a passage answers a question: ``passage[start:end]``, and the probability that it answers it at all."""

    probability: float
    start: int
    end: int


class PassageReader(Protocol):
    def read(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        """Return the answer span of each passage, in order."""

    def reread(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        """Return the same after a more careful look."""
