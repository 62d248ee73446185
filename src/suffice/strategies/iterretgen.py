"""Iter-RetGen: the last answer is part of the next query (S3).

    query_1 = question        query_t = question + " " + short answer from the passages of round t-1

The answer is generated from the current passages only, never from the memory. So no memory changes what this strategy asks, and
the condition ``lobotomized`` (only the current observation) is what it always does: running it with that memory is harmless and
measures nothing new. It has no finish of its own; its preset runs four rounds.
"""

from suffice.asks import ShortAnswer
from suffice.run import Run
from suffice.strategies.harness import ask_for, spent, way_on
from suffice.types import Note, Query


class IterRetGenStrategy:
    async def propose(self, run: Run) -> list[Query]:
        if run.latest is None or spent(run):
            return way_on(run)
        answer = await run.attempt(ShortAnswer(run.task, current(run)))
        text = "" if answer is None else answer.text.strip()
        return ask_for(run, f"{run.task} {text}", "the question with its last answer") if text else way_on(run)


def current(run: Run) -> tuple[Note, ...]:
    """What the latest round showed, also what had been seen before."""
    if run.latest is None:
        return ()
    shown = {passage.id: passage for passage in (*run.latest.raw, *run.latest.new) if passage.id in run.evidence}
    return tuple(
        Note(passage.text, (run.evidence.handle(passage),), passage.title, passage.kind) for passage in shown.values()
    )
