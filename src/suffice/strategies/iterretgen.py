"""Iter-RetGen: the last answer is part of the next query (Shao et al. 2023, see docs/sources.md).

    query_1 = question        query_t = question + " " + short answer from the passages of round t-1

The answer is generated from the passages of the latest round and from the belief, if the memory is one. Without a belief it has
no history, so the memory ``lobotomized`` (only the latest round) changes nothing. The strategy does not end by itself; its
preset runs four rounds.
"""

from suffice.prompts.agents import ShortAnswer
from suffice.strategies.base import RunView
from suffice.strategies.harness import can_ask, list_latest_passages, propose_fallback, propose_query
from suffice.types import BELIEF_KIND, Query


class IterRetGenStrategy:
    async def propose(self, run: RunView) -> list[Query]:
        if run.latest_round is None or not can_ask(run):
            return propose_fallback(run)
        belief = tuple(note for note in run.render_notes() if note.kind == BELIEF_KIND)
        found = map(run.evidence.make_note, list_latest_passages(run))
        answer = await run.try_ask(ShortAnswer(run.task, (*belief, *found)))
        text = "" if answer is None else answer.text.strip()
        if not text:
            return propose_fallback(run)
        return propose_query(run, f"{run.task} {text}", "the question with its last answer")
