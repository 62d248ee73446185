"""ShortAnswer: what the passages of one round answer; it becomes part of the next query (Iter-RetGen, S3)."""

from dataclasses import dataclass

from suffice.asks.base import Ask
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class ShortAnswerResponse:
    """A few words or one sentence; empty when the passages say nothing."""

    text: str


@dataclass(frozen=True)
class ShortAnswer(Ask[ShortAnswerResponse]):
    role = "short_answer"
    answer = ShortAnswerResponse
    form = "line"
    max_tokens = 100
    shrinks = (("notes", "last"),)

    task: str
    notes: tuple[Note, ...]
