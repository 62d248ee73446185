"""Plan: from the task to the first queries (S1)."""

from dataclasses import dataclass
from typing import Literal

from suffice.asks.base import Ask


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    query: str
    intent: str = ""


@dataclass(frozen=True, slots=True)
class PlanResponse:
    queries: tuple[PlannedQuery, ...]
    complexity: Literal["simple", "standard", "deep"] = "standard"


@dataclass(frozen=True)
class Plan(Ask[PlanResponse]):
    """3–6 focused queries, each with an intent, and how demanding the task is."""

    role = "plan"
    answer = PlanResponse

    task: str
    most: int
