"""Why a run stopped, in words. Pure: from the recorded rounds and the verdict to a paragraph."""

from collections.abc import Sequence

from suffice.types import Promise, RoundRecord

_MEANING = {
    "sufficient": "What was found was judged to answer the question.",
    "saturated": "More searching mostly brought back what was known.",
    "exhausted": "The search had begun to go in circles.",
    "diminished": "Another round was not expected to bring enough to be worth its price.",
    "budget_rounds": "The limit on rounds was reached before the search was done.",
    "budget_queries": "The limit on queries was reached before the search was done.",
    "budget_time": "The time limit was reached before the search was done.",
    "budget_tokens": "The token limit was reached before the search was done.",
    "budget_cost": "The cost limit was reached before the search was done.",
    "search_unavailable": "Search failed too often to be relied on.",
    "planner_done": "Nothing was left to ask.",
    "cancelled": "The run was interrupted.",
}
_PROMISES: dict[Promise, str] = {
    "heuristic": "This is a rule of thumb: it does not promise that nothing is left to find.",
    "estimate": "This rests on a statistical estimate, not on a proof that nothing is left to find.",
    "guarantee": "This holds with the stated confidence under the gate's assumptions.",
}


def explain(reason: str, because: str, promise: Promise, rounds: Sequence[RoundRecord]) -> str:
    """One readable paragraph."""
    kept = sum(record.new_passages for record in rounds if record.accepted)
    queries = sum(len(record.queries) for record in rounds)
    parts = [f"Stopped after {_count(len(rounds), 'round')}: {because}." if because else "", _MEANING[reason]]
    parts.append(f"{_count(queries, 'query', 'queries')} brought {_count(kept, 'passage')}")
    if rounds:
        last = rounds[-1]
        if last.accepted:
            parts[-1] += f", {last.new_passages} of them in the last round."
        else:
            parts[-1] += "; the last round was judged before it could change anything and was left out."
    else:
        parts[-1] += "."
    if not reason.startswith("budget") and reason not in ("cancelled", "search_unavailable", "planner_done"):
        parts.append(_PROMISES[promise])
    return " ".join(part for part in parts if part)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
