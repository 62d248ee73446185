"""Support: does a source say what a claim says? The model checker's question, asked where words and vectors leave it open.

Asked for one word, a provider can tell how likely each of the two words was. A provider that cannot is asked for a mark.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from suffice.asks.base import Prompt
from suffice.types import Note

_WORD = re.compile(r"\b(YES|NO)\b")
_SCORE = re.compile(r"(?<![\d.])(10|\d)(?![\d.]*\d)")


@dataclass(frozen=True, slots=True)
class SupportResponse:
    """``sure``: how surely the source says it, from 0 to 1; ``None`` when all there is is a word."""

    yes: bool
    sure: float | None = None


@dataclass(frozen=True)
class CheckSupport(Prompt[SupportResponse]):
    role = "support"
    response_type = SupportResponse
    output_format = "line"
    max_tokens = 20
    truncation_order = (("sources", "last"),)
    choices: ClassVar[tuple[str, ...]] = ("YES", "NO")

    claim: str
    sources: tuple[Note, ...]

    @classmethod
    def parse(cls, text: str) -> SupportResponse:
        if len(found := set(_WORD.findall(text.upper()))) != 1:
            raise ValueError("the answer must be YES or NO")
        return SupportResponse(found == {"YES"})

    @classmethod
    def with_probabilities(cls, answer: SupportResponse, probabilities: Mapping[str, float]) -> SupportResponse:
        return replace(answer, sure=probabilities["YES"])


@dataclass(frozen=True)
class GradeSupport(CheckSupport):
    role = "support_graded"
    choices = ()

    @classmethod
    def parse(cls, text: str) -> SupportResponse:
        if len(found := set(_SCORE.findall(text))) != 1:
            raise ValueError("the answer must be a whole number from 0 to 10")
        [mark] = found
        return SupportResponse(int(mark) >= 5, int(mark) / 10)
