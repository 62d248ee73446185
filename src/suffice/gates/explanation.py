"""Explain in words why a run stopped."""

from collections.abc import Sequence

from suffice.text.plain import count
from suffice.types import Promise, Report, RoundRecord, Sufficiency

STOP_REASON_TEXT = {
    "sufficient": "what was found was judged to be enough",
    "saturated": "more searching mostly brought back what was known",
    "exhausted": "the search had begun to go in circles",
    "diminished": "another round was not expected to be worth its price",
    "budget_rounds": "the limit on rounds was reached",
    "budget_queries": "the limit on queries was reached",
    "budget_time": "the time limit was reached",
    "budget_tokens": "the limit on tokens was reached",
    "budget_cost": "the limit on cost was reached",
    "search_unavailable": "search failed too often to be relied on",
    "model_unavailable": "the language model cannot be used",
    "planner_done": "nothing was left to ask",
    "read_all": "everything in scope was read",
    "cancelled": "the run was interrupted",
}
PROMISE_TEXT: dict[Promise, str] = {
    "heuristic": "a rule of thumb; it does not promise that nothing is left to find",
    "estimate": "a statistical estimate; it does not mean that the evidence is complete",
    "guarantee": "it holds with the stated confidence under the gate's assumptions",
}
JUDGED_REASONS = ("sufficient", "saturated", "exhausted", "diminished")


def explain_stop(reason: str, because: str, promise: Promise, rounds: Sequence[RoundRecord]) -> str:
    """Return one paragraph: the reason, what was found, and how far the decision can be trusted."""
    passages = sum(record.new_passages for record in rounds if record.accepted)
    queries = sum(len(record.queries) for record in rounds)
    detail = f": {because}" if because else ""
    when = f"after {count(len(rounds), 'round')}" if rounds else "before the first round"
    parts = [f"Stopped {when} because {STOP_REASON_TEXT.get(reason, reason)}{detail}."]
    if reason == "read_all" or not rounds:
        return parts[0]
    found = f"{count(queries, 'query', 'queries')} brought {count(passages, 'passage')}"
    if not rounds[-1].accepted:
        found += "; the last round was rejected and not used"
    else:
        found += f", {rounds[-1].new_passages} of them in the last round"
    parts.append(f"{found}.")
    if reason in JUDGED_REASONS:
        parts.append(
            f"This is {PROMISE_TEXT[promise]}." if promise != "guarantee" else f"{PROMISE_TEXT[promise].capitalize()}."
        )
    return " ".join(parts)


_SUFFICIENCY_TEXT: dict[Sufficiency, str] = {
    "yes": "yes (the evidence answers the question)",
    "partly": "partly (the evidence is about the question but may not answer all of it)",
    "no": "no (nothing that was found answers the question)",
}


def describe_sufficiency(report: Report) -> str:
    """Say whether the evidence was judged sufficient, of a broad question or a list how much was read instead."""
    sufficient, confidence, sufficiency = report.sufficient, report.confidence, report.stop.sufficiency
    if confidence is None and sufficiency == "yes" and (coverage := report.stop.coverage):
        share = f"an estimated {coverage.share:.0%} of the relevant passages were read"
        return "everything was read" if coverage.is_complete else share
    if confidence is None and sufficiency in _SUFFICIENCY_TEXT:
        return _SUFFICIENCY_TEXT[sufficiency]
    if sufficient is None:
        return "not judged"
    basis = f"{'every' if sufficient else 'not every'} part of the question was found"
    if confidence is not None:
        basis = f"confidence {confidence:.2g}"
    return f"{'yes' if sufficient else 'no'} ({basis})"
