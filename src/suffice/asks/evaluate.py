"""Evaluate: a reader scores the answer by S4's rubric and names what is missing, and where."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class EvaluationIssue:
    """What keeps one dimension from a better score, and in which section."""

    dimension: str
    section: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Each dimension from 0 to 10; one that is missing makes the whole evaluation unreadable, never a 0."""

    relevance: float | None = None
    completeness: float | None = None
    depth: float | None = None
    grounded: float | None = None
    specificity: float | None = None
    structure: float | None = None
    issues: tuple[EvaluationIssue, ...] = ()


@dataclass(frozen=True)
class Evaluate(Prompt[Evaluation]):
    role = "evaluate"
    response_type = Evaluation
    max_tokens = 700
    truncation_order = (("sources", "last"), ("sections", "last"))

    task: str
    reader: str
    """Who reads: one judge, or a member of the panel."""
    criteria: str
    sections: tuple[str, ...]
    sources: tuple[str, ...]
    text: Note
    reminder: str = ""
    """What was wrong with the last evaluation, when it could not be read."""
