"""Judge: is the search still productive? The model-judged gate of S3, for comparison with those that need no model."""

from dataclasses import dataclass
from typing import Literal

from suffice.asks.base import Ask
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class JudgeResponse:
    verdict: Literal["PRODUCTIVE", "QUERY_STALE", "EXHAUSTED"]


@dataclass(frozen=True)
class Judge(Ask[JudgeResponse]):
    """``doubt`` is what to answer in doubt: the conservative judge goes on, the neutral one is told nothing."""

    role = "judge"
    answer = JudgeResponse
    max_tokens = 20
    shrinks = (("queries", "first"), ("results", "last"))

    task: str
    doubt: str
    queries: tuple[str, ...]
    results: tuple[Note, ...]
