"""Reflect: is what was found sufficient, what is missing, and what to ask next (S1)."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class ReflectionResponse:
    sufficient: bool
    confidence: float | None
    gaps: tuple[str, ...] = ()
    new_queries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reflect(Prompt[ReflectionResponse]):
    """Judge sufficiency, name the gaps, propose queries; thin queries (few results) are to be put differently."""

    role = "reflect"
    response_type = ReflectionResponse
    truncation_order = (("asked", "first"), ("leads", "last"), ("thin", "first"), ("notes", "first"))
    bounded_field = "new_queries"

    task: str
    notes: tuple[Note, ...]
    asked: tuple[str, ...]
    thin: tuple[str, ...]
    leads: tuple[str, ...]
    most: int
