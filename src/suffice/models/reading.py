"""The seam for a reader: a small model that finds the answer to a question in a passage.

The extractive model works without one. With one, its excerpts, short answer and judgement of sufficiency rest on it too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

_REMEMBERED = 2_000  # Pairs of question and passage, a few megabytes.


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """Where a passage answers a question: ``passage[start:end]``, and the probability that it answers it at all."""

    probability: float
    start: int
    end: int


class PassageReader(Protocol):
    """Reads passages with a question in mind."""

    def read(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        """Return the answer span of each passage, in order."""

    def reread(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        """Return the same after a more careful look."""


class RememberingReader:
    """Reads the same passage with the same question once; the oldest of many are forgotten."""

    def __init__(self, reader: PassageReader) -> None:
        self._read = lru_cache(maxsize=_REMEMBERED)(lambda question, passage: reader.read(question, [passage])[0])
        self.reread = reader.reread

    def read(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        """Return the answer span of each passage, in order."""
        return [self._read(question, passage) for passage in passages]
