"""Revise: the answer, or one section of it, written again so that the reviewer's issues are gone."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.asks.synthesis import SynthesisResponse, parse_markdown_answer
from suffice.types import Note


@dataclass(frozen=True)
class Revise(Prompt[SynthesisResponse]):
    role = "revise"
    response_type = SynthesisResponse
    output_format = "text"
    temperature = 0.1
    max_tokens = 2500
    truncation_order = (("issues", "last"), ("notes", "first"))

    task: str
    instruction: str
    section: str
    """The one section that ``text`` is; empty for the whole answer."""
    issues: tuple[str, ...]
    text: Note
    notes: tuple[Note, ...]

    @classmethod
    def parse(cls, text: str) -> SynthesisResponse:
        return parse_markdown_answer(text)
