"""Judge: is the search still productive? The model-judged gate of S3, for comparison with those that need no model."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from suffice.asks.base import Ask
from suffice.types import Note

_VERDICT = re.compile(r"\b(PRODUCTIVE|QUERY[_ ]STALE|EXHAUSTED)\b")


@dataclass(frozen=True, slots=True)
class JudgeResponse:
    verdict: Literal["PRODUCTIVE", "QUERY_STALE", "EXHAUSTED"]


@dataclass(frozen=True)
class Judge(Ask[JudgeResponse]):
    """``doubt`` is what to answer in doubt: the conservative judge goes on, the neutral one is told nothing."""

    role = "judge"
    answer = JudgeResponse
    form = "line"
    max_tokens = 20
    shrinks = (("queries", "first"), ("results", "last"))

    task: str
    doubt: str
    queries: tuple[str, ...]
    results: tuple[Note, ...]

    @classmethod
    def read(cls, text: str) -> JudgeResponse:
        found = {match.group().replace(" ", "_") for match in _VERDICT.finditer(text.upper())}
        if len(found) != 1:
            raise ValueError("the answer must be one of the words PRODUCTIVE, QUERY_STALE, EXHAUSTED")
        verdict: Any = found.pop()
        return JudgeResponse(verdict)
