"""Thought: the next sentence of a chain of reasoning (IRCoT, S3)."""

from dataclasses import dataclass

from suffice.asks.base import Ask
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class ThoughtResponse:
    """One sentence; empty when the model has nothing to add."""

    sentence: str


@dataclass(frozen=True)
class Thought(Ask[ThoughtResponse]):
    role = "thought"
    answer = ThoughtResponse
    form = "line"
    max_tokens = 120
    shrinks = (("thoughts", "first"), ("notes", "first"))

    task: str
    notes: tuple[Note, ...]
    thoughts: tuple[str, ...]
