"""Judge: is the search still productive? The model-judged gate of S3, for comparison with those that need no model."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from suffice.asks.base import Prompt
from suffice.types import Note

_VERDICT = re.compile(r"\b(PRODUCTIVE|QUERY[_ ]STALE|EXHAUSTED)\b")


@dataclass(frozen=True, slots=True)
class JudgeProgressResponse:
    verdict: Literal["PRODUCTIVE", "QUERY_STALE", "EXHAUSTED"]


@dataclass(frozen=True)
class JudgeProgress(Prompt[JudgeProgressResponse]):
    """``doubt`` is what to answer in doubt: the conservative judge goes on, the neutral one is told nothing."""

    role = "judge"
    response_type = JudgeProgressResponse
    output_format = "line"
    max_tokens = 20
    truncation_order = (("queries", "first"), ("results", "last"))

    task: str
    doubt: str
    queries: tuple[str, ...]
    results: tuple[Note, ...]

    @classmethod
    def parse(cls, text: str) -> JudgeProgressResponse:
        found = {match.group().replace(" ", "_") for match in _VERDICT.finditer(text.upper())}
        if len(found) != 1:
            raise ValueError("the answer must be one of the words PRODUCTIVE, QUERY_STALE, EXHAUSTED")
        verdict: Any = found.pop()
        return JudgeProgressResponse(verdict)
