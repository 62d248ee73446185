"""Curate: fewer facts, none of the needed ones lost (S3).

The answer names facts by number. So their sources are joined in code and cannot be lost or invented on the way.
"""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class CuratedFact:
    """One fact that stays: the numbers of the facts it was made of, and its text (empty: as the first of them says it)."""

    of: tuple[int, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Curation:
    """Most important first."""

    kept: tuple[CuratedFact, ...]


@dataclass(frozen=True)
class Curate(Prompt[Curation]):
    """``facts`` carry their number (from 1) in place of handles."""

    role = "curate"
    response_type = Curation
    bounded_field = "kept"
    max_tokens = 600
    truncation_order = (("open", "last"), ("facts", "last"))

    task: str
    open: tuple[str, ...]
    facts: tuple[Note, ...]
    most: int
