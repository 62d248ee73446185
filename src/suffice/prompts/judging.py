"""Prompts that judge: a round, an answer, a claim, a paper."""

import re
from typing import Any, Literal

from suffice.prompts.base import Prompt, Response
from suffice.types import Note

NOTHING_NEW = "(nothing new)"  # The text of a round that brought nothing.
_WHOLE_NUMBER = re.compile(r"(?<![\d.])\d{1,2}(?![\d]|\.\d)")
_VERDICT = re.compile(r"\b(PRODUCTIVE|QUERY[_ ]STALE|EXHAUSTED)\b")


class NoveltyResponse(Response):
    """From 0 (nothing new) to 10 (all new); ``None`` when the model gave no such number."""

    score: int | None


class RateNovelty(Prompt[NoveltyResponse]):
    role = "novelty"
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


class JudgeProgressResponse(Response):
    verdict: Literal["PRODUCTIVE", "QUERY_STALE", "EXHAUSTED"]


class JudgeProgress(Prompt[JudgeProgressResponse]):
    """Whether searching on will help; in doubt, yes.

    ``state`` is what the memory holds; ``rounds`` are the latest rounds, each with its queries as the title.
    """

    role = "judge"
    output_format = "line"
    max_tokens = 20
    truncation_order = (("rounds", "first"), ("state", "first"), ("open", "last"))

    task: str
    state: tuple[Note, ...]
    open: tuple[str, ...]
    rounds: tuple[Note, ...]

    @classmethod
    def parse(cls, text: str) -> JudgeProgressResponse:
        found = {match.group().replace(" ", "_") for match in _VERDICT.finditer(text.upper())}
        if len(found) != 1:
            raise ValueError("the answer must be one of the words PRODUCTIVE, QUERY_STALE, EXHAUSTED")
        verdict: Any = found.pop()
        return JudgeProgressResponse(verdict)


class JudgeNeutrally(JudgeProgress):
    """The same without that preference."""

    role = "judge_neutral"


class EvaluationIssue(Response):
    """What prevents a better score in one dimension, in which section or sentence, and what to search for."""

    dimension: str
    section: str = ""
    problem: str = ""
    sentence: str = ""
    query: str = ""


class Evaluation(Response):
    """Scores from 0 to 10; a missing one makes the whole evaluation unreadable instead of counting as 0."""

    relevance: float
    completeness: float
    depth: float
    grounded: float
    specificity: float
    structure: float
    issues: tuple[EvaluationIssue, ...] = ()

    def __post_init__(self) -> None:
        if not all(0 <= value <= 10 for value in vars(self).values() if isinstance(value, int | float)):  # Nor NaN.
            raise ValueError("each score must be a number from 0 to 10")


class Evaluate(Prompt[Evaluation]):
    role = "evaluate"
    max_tokens = 700
    omits_empty = True
    truncation_order = (("sources", "last"), ("removed", "last"), ("sections", "last"))

    task: str
    reader: str
    """The role of the reviewer: a single judge, or a member of the panel."""
    criteria: str
    sections: tuple[str, ...]
    sources: tuple[Note, ...]
    text: Note
    removed: tuple[str, ...] = ()
    """What the claim check took out, each sentence with the reason."""
    today: str = ""
    instruction: str = ""
    """What the skills of the run tell the writer."""


StatementRole = Literal["stated", "joined", "conclusion", "advice", "absence", "label", "not_supported", "contradicted"]


class CheckedStatement(Response):
    """What a statement is. ``source`` is the handle of the deciding source, ``words`` its deciding words, copied from it."""

    number: int
    role: StatementRole
    source: str = ""
    words: str = ""
    reason: str = ""


class CheckDraftResponse(Response):
    statements: tuple[CheckedStatement, ...] = ()


class CheckDraft(Prompt[CheckDraftResponse]):
    """What each statement of a draft is, and which words of which source decide it.

    ``statements`` are numbered and have their citations; ``draft`` is what they are from, if they are only a few of it.
    """

    role = "check_draft"
    omits_empty = True
    truncation_order = (("draft", "last"), ("sources", "last"))

    statements: tuple[str, ...]
    sources: tuple[Note, ...]
    draft: tuple[Note, ...] = ()
    max_tokens: int = 2000
    today: str = ""
