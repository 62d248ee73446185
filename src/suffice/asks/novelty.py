"""Novelty: how much of a round's results is new, as the model sees it (S2's third assessor)."""

import re
from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note

_WHOLE_NUMBER = re.compile(r"(?<![\d.])\d{1,2}(?![\d]|\.\d)")


@dataclass(frozen=True, slots=True)
class NoveltyResponse:
    """0 (nothing new) to 10 (all new); ``None`` when the model's answer was no such number: unknown, never a made-up 5."""

    score: int | None


@dataclass(frozen=True)
class RateNovelty(Prompt[NoveltyResponse]):
    role = "novelty"
    response_type = NoveltyResponse
    output_format = "line"
    max_tokens = 3
    truncation_order = (("results", "last"), ("known", "first"))

    task: str
    known: tuple[Note, ...]
    results: tuple[Note, ...]

    @classmethod
    def parse(cls, text: str) -> NoveltyResponse:
        number = _WHOLE_NUMBER.search(text)
        if number is None or int(number.group()) > 10:
            raise ValueError("the answer must be one whole number from 0 to 10")
        return NoveltyResponse(int(number.group()))
