"""Iter-RetGen: the last answer is part of the next query (S3).

    query_1 = question        query_t = question + " " + short answer from the passages of round t-1

The answer is generated from the current passages only, never from the memory. So no memory changes what this strategy asks, and
the condition ``lobotomized`` (only the current observation) is what it always does: running it with that memory is harmless and
measures nothing new. It has no finish of its own; its preset runs four rounds.
"""

from suffice.prompts import ShortAnswer
from suffice.state.run import RunState
from suffice.strategies.harness import is_model_budget_spent, propose_fallback, propose_query
from suffice.types import Note, Query


class IterRetGenStrategy:
    async def propose(self, run: RunState) -> list[Query]:
        if run.latest_round is None or is_model_budget_spent(run):
            return propose_fallback(run)
        answer = await run.try_ask(ShortAnswer(run.task, render_latest_round(run)))
        text = "" if answer is None else answer.text.strip()
        return (
            propose_query(run, f"{run.task} {text}", "the question with its last answer")
            if text
            else propose_fallback(run)
        )


def render_latest_round(run: RunState) -> tuple[Note, ...]:
    """What the latest round showed, also what had been seen before."""
    if run.latest_round is None:
        return ()
    shown = {
        passage.id: passage for passage in (*run.latest_round.raw, *run.latest_round.new) if passage.id in run.evidence
    }
    return tuple(
        Note(passage.text, (run.evidence.get_handle(passage),), passage.title, passage.kind)
        for passage in shown.values()
    )
