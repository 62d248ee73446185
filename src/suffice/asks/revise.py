"""Revise: the answer, or one section of it, written again so that the reviewer's issues are gone."""

from dataclasses import dataclass

from suffice.asks.base import Ask
from suffice.asks.synthesis import SynthesisResponse, from_markdown
from suffice.types import Note


@dataclass(frozen=True)
class Revise(Ask[SynthesisResponse]):
    role = "revise"
    answer = SynthesisResponse
    form = "text"
    temperature = 0.1
    max_tokens = 2500
    shrinks = (("issues", "last"), ("notes", "first"))

    task: str
    instruction: str
    section: str
    """The one section that ``text`` is; empty for the whole answer."""
    issues: tuple[str, ...]
    text: Note
    notes: tuple[Note, ...]

    @classmethod
    def read(cls, text: str) -> SynthesisResponse:
        return from_markdown(text)
