"""Support: does a source say what a claim says? The model checker's question, asked where words and vectors leave it open."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from suffice.asks.base import Ask
from suffice.types import Note

_ANSWER = re.compile(r"\b(SUPPORTS|CONTRADICTS|NEITHER)\b\W*(10|\d)?\b")


@dataclass(frozen=True, slots=True)
class SupportResponse:
    """``sure`` is 0 to 10; ``None`` when the model did not say. ``shares``: how likely each of the three words was, where the
    provider tells; they sum to 1."""

    stance: Literal["SUPPORTS", "CONTRADICTS", "NEITHER"]
    sure: int | None = None
    shares: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Support(Ask[SupportResponse]):
    role = "support"
    answer = SupportResponse
    form = "line"
    max_tokens = 20
    choices = ("SUPPORTS", "CONTRADICTS", "NEITHER")
    shrinks = (("sources", "last"),)

    claim: str
    sources: tuple[Note, ...]

    @classmethod
    def read(cls, text: str) -> SupportResponse:
        found = {match.group(1): match.group(2) for match in _ANSWER.finditer(text.upper())}
        if len(found) != 1:
            raise ValueError("the answer must be SUPPORTS, CONTRADICTS or NEITHER, and a whole number from 0 to 10")
        stance: Any
        [(stance, sure)] = found.items()
        return SupportResponse(stance, None if sure is None else int(sure))

    @classmethod
    def weighed(cls, answer: SupportResponse, shares: Mapping[str, float]) -> SupportResponse:
        return replace(answer, shares=shares)
