"""Plan without a language model: the question itself, then its facets."""

from typing import Literal

from suffice.asks import Plan, PlannedQuery, PlanResponse
from suffice.text.entities import facets


def plan(ask: Plan) -> PlanResponse:
    """The question comes first: it is the best single query there is. A survey's named parts get a query each."""
    parts = facets(ask.task)
    named = [facet for facet in parts if facet.named]
    queries = [PlannedQuery(ask.task, "the question itself")]
    if len(named) > 1:
        rest = " ".join(facet.text for facet in parts if not facet.named)
        queries += [PlannedQuery(f"{facet.text} {rest}".strip(), f"about {facet.text}") for facet in named]
    complexity: Literal["simple", "standard", "deep"] = (
        "simple" if len(parts) <= 1 else "standard" if len(parts) <= 4 else "deep"
    )
    return PlanResponse(tuple(queries[: ask.most]), complexity)
