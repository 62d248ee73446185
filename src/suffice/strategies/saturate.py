"""Search while results are new: planned queries first, then one query a round that fills a gap.

The gate of the preset has a quality floor (``floor(1800)``): it defers a stop once if too little text was found. In the round
after a deferred stop the strategy asks a broader form of the first query. It does so at most once, also when it runs out of
queries with too little text. Bounds on rounds and queries still hold.
"""

from suffice.strategies.base import RunView, ask_for_query
from suffice.types import Query

# Rounds that ask planned queries; the gate of the preset waits as long. Value of the source system, see docs/sources.md.
PLANNED_ROUNDS = 2
# Characters of text that a report needs at least. Value of the source system, see docs/sources.md.
QUALITY_FLOOR = 1800
_BROADER_TERMS = "overview background examples"


class SaturateStrategy:
    def __init__(self) -> None:
        self._has_broadened = False

    async def propose(self, run: RunView) -> list[Query]:
        # The quality floor of the gate shows ``evidence.chars`` where it deferred a stop in the last round.
        is_deferred = any("evidence.chars" in leaf.signals for record in run.records[-1:] for leaf in record.verdicts)
        if is_deferred and (broader := self._propose_broader(run)):
            return broader
        plan = await run.plan()
        subtasks = [Query(subtask, "a part of the task") for subtask in plan.subtasks]
        queries = [*(Query(planned.query, planned.intent) for planned in plan.queries), *subtasks]
        if len(run.records) < PLANNED_ROUNDS and (planned := run.filter_new_queries(queries)):
            return planned[:1]
        gap = await ask_for_query(run, plan.notes, "close a gap")
        queries = run.filter_new_queries(gap)[:1] or run.propose_follow_ups(1)
        if not queries and sum(len(passage.text) for passage in run.evidence) < QUALITY_FLOOR:
            return self._propose_broader(run)
        return queries

    def _propose_broader(self, run: RunView) -> list[Query]:
        if self._has_broadened or not run.asked_queries:
            return []
        self._has_broadened = True
        return run.filter_new_queries([Query(f"{run.asked_queries[0]} {_BROADER_TERMS}", "too little text so far")])
