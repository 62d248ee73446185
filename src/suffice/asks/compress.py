"""Compress: the knowledge state with a round's results worked into it (S2)."""

from dataclasses import dataclass

from suffice.asks.base import Ask
from suffice.asks.extract import Finding
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class Compression:
    bullets: tuple[Finding, ...]


@dataclass(frozen=True)
class Compress(Ask[Compression]):
    role = "compress"
    answer = Compression
    temperature = 0.1
    max_tokens = 400
    shrinks = (("results", "last"), ("known", "last"))

    task: str
    known: tuple[Note, ...]
    results: tuple[Note, ...]
