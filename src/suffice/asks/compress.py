"""Compress: the knowledge state with a round's results worked into it (S2)."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.asks.extract import ExtractedFact
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class Compression:
    bullets: tuple[ExtractedFact, ...]


@dataclass(frozen=True)
class Compress(Prompt[Compression]):
    role = "compress"
    response_type = Compression
    temperature = 0.1
    max_tokens = 400
    truncation_order = (("results", "last"), ("known", "last"))

    task: str
    known: tuple[Note, ...]
    results: tuple[Note, ...]
