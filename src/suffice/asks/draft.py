"""Draft: the answer from the evidence, cited by handle only (S1's synthesis)."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.asks.synthesis import SynthesisResponse, parse_markdown_answer
from suffice.types import Note


@dataclass(frozen=True)
class Draft(Prompt[SynthesisResponse]):
    role = "draft"
    response_type = SynthesisResponse
    output_format = "text"
    temperature = 0.1
    max_tokens = 2000
    truncation_order = (("advice", "last"), ("gaps", "last"), ("notes", "first"))

    task: str
    notes: tuple[Note, ...]
    gaps: tuple[str, ...]
    caveats: tuple[str, ...]
    section: str = ""
    """The one section to write; empty for the whole answer."""
    instruction: str = ""
    """How to write: one of S4's variants."""
    count: int = 0
    """How many sections a list must have; 0 when the task says no number."""
    advice: tuple[str, ...] = ()
    """What the planner noted before the search: advice, never evidence."""
    correction: str = ""
    """What was wrong with the last draft, when it is asked for again."""

    @classmethod
    def parse(cls, text: str) -> SynthesisResponse:
        return parse_markdown_answer(text)
