"""Plan without a language model: the question itself; a question that compares also asks for each named thing."""

import re
from typing import Literal

from suffice.asks import Plan, PlannedQuery, PlanResponse
from suffice.text.entities import extract_facets
from suffice.text.kinds import classify_task, parse_item_count

_COMPARISON = re.compile(r"\b(?:or|both|between|versus|vs|than|same|differ\w*|compar\w*)\b", re.IGNORECASE)


def plan_queries(prompt: Plan) -> PlanResponse:
    """The whole question is the best single query there is; its parts alone bring back less of what is wanted, except where
    two things stand side by side and each has its own pages."""
    parts = extract_facets(prompt.task)
    named = [facet for facet in parts if facet.is_named]
    queries = [PlannedQuery(prompt.task, "the question itself")]
    if len(named) > 1 and _COMPARISON.search(prompt.task):
        rest = " ".join(facet.text for facet in parts if not facet.is_named)
        queries += [PlannedQuery(f"{facet.text} {rest}".strip(), f"about {facet.text}") for facet in named]
    kind, count = classify_task(prompt.task), parse_item_count(prompt.task)
    return PlanResponse(tuple(queries[: prompt.most]), _classify_complexity(len(parts)), kind, count)


def _classify_complexity(parts: int) -> Literal["simple", "standard", "deep"]:
    if parts <= 1:
        return "simple"
    return "standard" if parts <= 4 else "deep"
