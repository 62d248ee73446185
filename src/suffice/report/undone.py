"""What a limit on time, tokens or money kept a run from doing, in sentences for its report."""

from collections.abc import Mapping
from typing import Any

from suffice.state.run import RunState
from suffice.types import Stop

MAX_QUERIES = 5  # Queries that are listed.
_BELIEF_ROLES = ("extract", "curate", "compress", "notes")


def list_undone(run: RunState, stop: Stop, review: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return what was left undone, the most important first; empty if no limit was reached."""
    refused = run.refused
    lines: list[str] = []
    if stop.reason.startswith("budget_"):
        planned = () if run.current_plan is None else run.current_plan.queries
        reflected = () if run.reflection is None else run.reflection.new_queries
        asked = {query.casefold().strip() for query in run.asked_queries}
        unasked = [one.query for one in (*reflected, *planned) if one.query.casefold().strip() not in asked]
        lines += [f"Not searched for: {query}" for query in list(dict.fromkeys(unasked))[:MAX_QUERIES]]
    if refused.get("draft"):
        lines.insert(0, "The answer was not written by the model; the sources are quoted instead.")
    if refused.get("check_draft"):
        lines.append("The claims were checked without asking the model.")
    if refused.get("compute"):
        lines.append("A computation was left out.")
    if any(refused.get(role) for role in _BELIEF_ROLES):
        lines.append("The notes were not brought up to date after the last round.")
    if review is not None and review.get("ending") == "budget":
        rounds = len(review.get("rounds") or ())
        lines.append(f"The review ended after {rounds} of its rounds." if rounds else "The answer was not reviewed.")
    return tuple(lines)
