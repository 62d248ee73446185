"""Gap: the one query that would close most of what is still open (S2, S5)."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class ProposeQueryResponse:
    """``query`` is empty when the model knows of nothing to look for."""

    query: str


@dataclass(frozen=True)
class ProposeQuery(Prompt[ProposeQueryResponse]):
    """``part`` is the part of the task to look into; empty for all of it. ``leads`` are open ends of the evidence."""

    role = "gap"
    response_type = ProposeQueryResponse
    output_format = "line"
    temperature = 0.3
    max_tokens = 60
    truncation_order = (("asked", "first"), ("leads", "last"), ("known", "first"))

    task: str
    part: str
    known: tuple[Note, ...]
    asked: tuple[str, ...]
    leads: tuple[str, ...]
