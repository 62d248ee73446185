"""Plan without a language model: the question itself; a question that compares also asks for each named thing."""

import re
from typing import Literal

from suffice.asks import Plan, PlannedQuery, PlanResponse
from suffice.text.entities import facets
from suffice.text.kinds import expected_sections, task_type

_COMPARES = re.compile(r"\b(?:or|both|between|versus|vs|than|same|differ\w*|compar\w*)\b", re.IGNORECASE)


def plan(ask: Plan) -> PlanResponse:
    """The whole question is the best single query there is; its parts alone bring back less of what is wanted, except where
    two things stand side by side and each has its own pages."""
    parts = facets(ask.task)
    named = [facet for facet in parts if facet.named]
    queries = [PlannedQuery(ask.task, "the question itself")]
    if len(named) > 1 and _COMPARES.search(ask.task):
        rest = " ".join(facet.text for facet in parts if not facet.named)
        queries += [PlannedQuery(f"{facet.text} {rest}".strip(), f"about {facet.text}") for facet in named]
    kind, count = task_type(ask.task), expected_sections(ask.task)
    return PlanResponse(tuple(queries[: ask.most]), _complexity(len(parts)), kind, count)


def _complexity(parts: int) -> Literal["simple", "standard", "deep"]:
    if parts <= 1:
        return "simple"
    return "standard" if parts <= 4 else "deep"
