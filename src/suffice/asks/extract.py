"""Extract: what a round's passages add to the belief (S3). Sees the belief and the new observation, never the history."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A fact as a source states it, the handles of its sources, and the open question it speaks to, if any."""

    text: str
    handles: tuple[str, ...]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Extraction:
    facts: tuple[ExtractedFact, ...] = ()
    resolved: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Extract(Prompt[Extraction]):
    role = "extract"
    response_type = Extraction
    max_tokens = 600
    truncation_order = (("observation", "last"), ("open", "last"), ("known", "last"))

    task: str
    known: tuple[Note, ...]
    open: tuple[str, ...]
    observation: tuple[Note, ...]
