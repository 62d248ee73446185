"""Plan: from the task to the first queries (S1), and what kind of task it is (S4)."""

from dataclasses import dataclass
from typing import Literal

from suffice.asks.base import Prompt
from suffice.text.kinds import TaskType


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
