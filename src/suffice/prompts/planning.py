"""Plan: from the task to the first queries (S1), and what kind of task it is (S4)."""

from dataclasses import dataclass
from typing import Literal

from suffice.prompts.base import Prompt
from suffice.text.task_type import TaskType
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    query: str
    intent: str = ""


@dataclass(frozen=True, slots=True)
class PlanResponse:
    """``expected_sections``: how many things a list must have, if the task says so. ``known_facts`` are the model's own: the
    writer is told them as what was believed beforehand, and they are never evidence. ``notes`` is one sentence of advice;
    ``subtasks`` are parts of the task that can be searched for and written about on their own (S4)."""

    queries: tuple[PlannedQuery, ...]
    complexity: Literal["simple", "standard", "deep"] = "standard"
    task_type: TaskType = "research"
    expected_sections: int | None = None
    known_facts: tuple[str, ...] = ()
    notes: str = ""
    subtasks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan(Prompt[PlanResponse]):
    """3–6 focused queries, each with an intent, and how demanding the task is."""

    role = "plan"
    response_type = PlanResponse
    bounded_field = "queries"

    task: str
    most: int


@dataclass(frozen=True, slots=True)
class ReflectionResponse:
    sufficient: bool
    confidence: float | None
    gaps: tuple[str, ...] = ()
    new_queries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reflect(Prompt[ReflectionResponse]):
    """Judge sufficiency, name the gaps, propose queries; thin queries (few results) are to be put differently."""

    role = "reflect"
    response_type = ReflectionResponse
    truncation_order = (("asked", "first"), ("leads", "last"), ("thin", "first"), ("notes", "first"))
    bounded_field = "new_queries"

    task: str
    notes: tuple[Note, ...]
    asked: tuple[str, ...]
    thin: tuple[str, ...]
    leads: tuple[str, ...]
    most: int


@dataclass(frozen=True, slots=True)
class ProposeQueryResponse:
    """``query`` is empty when the model knows of nothing to look for."""

    query: str


@dataclass(frozen=True)
class ProposeQuery(Prompt[ProposeQueryResponse]):
    """``part`` is the part of the task to look into; empty for all of it. ``leads`` are open ends of the evidence."""

    role = "gap"
    response_type = ProposeQueryResponse
    output_format = "line"
    temperature = 0.3
    max_tokens = 60
    truncation_order = (("asked", "first"), ("leads", "last"), ("known", "first"))

    task: str
    part: str
    known: tuple[Note, ...]
    asked: tuple[str, ...]
    leads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    text: str
    query: str


@dataclass(frozen=True, slots=True)
class HypothesesResponse:
    rivals: tuple[Hypothesis, ...]


@dataclass(frozen=True)
class Hypothesize(Prompt[HypothesesResponse]):
    """``standing`` are the rivals so far with their weight; ``leads`` are open ends of the evidence."""

    role = "hypotheses"
    response_type = HypothesesResponse
    bounded_field = "rivals"
    temperature = 0.3
    max_tokens = 400
    truncation_order = (("asked", "first"), ("leads", "last"), ("notes", "first"), ("standing", "last"))

    task: str
    notes: tuple[Note, ...]
    standing: tuple[Note, ...]
    asked: tuple[str, ...]
    leads: tuple[str, ...]
    most: int
