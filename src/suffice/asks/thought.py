"""Thought: the next sentence of a chain of reasoning (IRCoT, S3)."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class IRCoTStepResponse:
    """One sentence; empty when the model has nothing to add."""

    sentence: str


@dataclass(frozen=True)
class IRCoTStep(Prompt[IRCoTStepResponse]):
    role = "thought"
    response_type = IRCoTStepResponse
    output_format = "line"
    max_tokens = 120
    truncation_order = (("thoughts", "first"), ("notes", "first"))

    task: str
    notes: tuple[Note, ...]
    thoughts: tuple[str, ...]
