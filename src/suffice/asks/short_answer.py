"""ShortAnswer: what the passages of one round answer; it becomes part of the next query (Iter-RetGen, S3)."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class ShortAnswerResponse:
    """A few words or one sentence; empty when the passages say nothing."""

    text: str


@dataclass(frozen=True)
class ShortAnswer(Prompt[ShortAnswerResponse]):
    role = "short_answer"
    response_type = ShortAnswerResponse
    output_format = "line"
    max_tokens = 100
    truncation_order = (("notes", "last"),)

    task: str
    notes: tuple[Note, ...]
