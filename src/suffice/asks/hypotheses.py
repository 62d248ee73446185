"""Hypothesize: rival answers that the evidence leaves possible, each with the query that would tell (S3)."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class Hypothesis:
    text: str
    query: str


@dataclass(frozen=True, slots=True)
class HypothesesResponse:
    rivals: tuple[Hypothesis, ...]


@dataclass(frozen=True)
class Hypothesize(Prompt[HypothesesResponse]):
    """``standing`` are the rivals so far with their weight; ``leads`` are open ends of the evidence."""

    role = "hypotheses"
    response_type = HypothesesResponse
    bounded_field = "rivals"
    temperature = 0.3
    max_tokens = 400
    truncation_order = (("asked", "first"), ("leads", "last"), ("notes", "first"), ("standing", "last"))

    task: str
    notes: tuple[Note, ...]
    standing: tuple[Note, ...]
    asked: tuple[str, ...]
    leads: tuple[str, ...]
    most: int
