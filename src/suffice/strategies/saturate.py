"""Search while results are new (S2): planned queries first, then one query a round that fills a gap.

The quality floor belongs to the gate (``floor(1800)`` of the preset): it puts off a stop once when too little text was
gathered. The round it asks for is not about a gap but broader than the first query; the strategy asks it exactly once, also
when it runs out of queries with too little text. A bound on rounds or queries is a bound: the floor never exceeds it.
"""

import re

from suffice.prompts import PlanResponse, ProposeQuery
from suffice.state.run import RunState
from suffice.types import Query

SEARCHES_PER_TASK = 2  # Rounds that ask what was planned; the gate is silent for as long (S2).
QUALITY_FLOOR = 1800  # Characters of text that a report needs at least (S2).
_KNOWN_TOKENS = 1000  # What a gap query is asked from: a rolling knowledge state fits in whole.
# A subtask that puts others together is nothing to search for (S4).
_ASSEMBLY_PATTERN = re.compile(r"\b(?:synthesi[sz]e|combine|merge|write|assemble|summari[sz]e)\b", re.IGNORECASE)
_BROADER_TERMS = "overview background examples"


class SaturateStrategy:
    def __init__(self) -> None:
        self._has_broadened = False

    async def propose(self, run: RunState) -> list[Query]:
        if _is_stop_deferred(run) and (broader := self._propose_broader(run)):
            return broader
        plan = await run.plan()
        if len(run.records) < SEARCHES_PER_TASK and (planned := run.filter_new_queries(_list_planned_queries(plan))):
            return planned[:1]
        gap = await run.try_ask(_build_gap_prompt(run, plan))
        wanted = [Query(gap.query, "close a gap")] if gap is not None else []
        # Without a gap query that is new, the run follows its own leads.
        return run.filter_new_queries(wanted)[:1] or run.follow_ups.propose(1) or self._propose_if_too_little(run)

    def _propose_broader(self, run: RunState) -> list[Query]:
        if self._has_broadened or not run.asked_queries:
            return []
        self._has_broadened = True
        return run.filter_new_queries([Query(f"{run.asked_queries[0]} {_BROADER_TERMS}", "too little text so far")])

    def _propose_if_too_little(self, run: RunState) -> list[Query]:
        """Nothing is left to ask: broader, if there is too little text."""
        return self._propose_broader(run) if sum(len(passage.text) for passage in run.evidence) < QUALITY_FLOOR else []


def _is_stop_deferred(run: RunState) -> bool:
    """The gate put a stop off for want of text in the round before."""
    return bool(run.records) and any("evidence.chars" in leaf.signals for leaf in run.records[-1].verdicts)


def _list_planned_queries(plan: PlanResponse) -> list[Query]:
    """The plan's queries; its subtasks are queries too when it has too few of its own."""
    queries = [Query(planned.query, planned.intent) for planned in plan.queries]
    parts = [subtask for subtask in plan.subtasks if not _ASSEMBLY_PATTERN.search(subtask)]
    return [*queries, *(Query(subtask, "a part of the task") for subtask in parts)]


def _build_gap_prompt(run: RunState, plan: PlanResponse) -> ProposeQuery:
    leads = tuple(lead.text for lead in run.follow_ups.propose(3))
    return ProposeQuery(run.task, plan.notes, run.memory.render(_KNOWN_TOKENS), tuple(run.asked_queries[-30:]), leads)
