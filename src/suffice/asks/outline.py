"""Outline: the topics that an answer to the task has to cover (S5)."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class OutlineResponse:
    topics: tuple[str, ...]


@dataclass(frozen=True)
class DraftOutline(Prompt[OutlineResponse]):
    """Four or five topics, drawn from the task and what the first searches brought."""

    role = "outline"
    response_type = OutlineResponse
    bounded_field = "topics"
    temperature = 0.2
    max_tokens = 300
    truncation_order = (("notes", "first"),)

    task: str
    notes: tuple[Note, ...]
    most: int
