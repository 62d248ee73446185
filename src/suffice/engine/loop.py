"""THE LOOP: propose, search, judge, believe, judge again, until a gate says stop. It yields what happens.

It knows the seams by their one method and nothing of what is behind them.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Sequence
from dataclasses import replace
from typing import TypeVar

from suffice.engine.round_summary import summarize_round
from suffice.errors import CutOff, InputError, SearchError
from suffice.events import BeliefSnapshot, Event, RoundDone, Searching, SearchStopped
from suffice.gates.base import Gate
from suffice.gates.explanation import explain_stop
from suffice.meters import MeterSet
from suffice.search.base import Search
from suffice.search.resilience import to_failure
from suffice.state.run import SEARCH_TIMED_OUT, RunState
from suffice.strategies.base import PassageSelector, Strategy
from suffice.types import Failure, Hits, Passage, Query, Round, RoundRecord, Stop, Verdict

T = TypeVar("T")

# Endings for want of anything new; they say nothing where search did not answer.
_FUTILE_REASONS = ("saturated", "exhausted", "diminished")
MAX_EXTRA_DEPTH = 45  # How much further down a ranking to look for passages that replace those seen before.


async def run_loop(
    run: RunState,
    search: Search,
    strategy: Strategy,
    gate: Gate,
    meters: MeterSet,
    *,
    k: int = 5,
    per_round: int | None = None,
) -> AsyncGenerator[Event, None]:
    """Search in rounds; the last event is ``Stopped``."""
    verdict = Verdict(str(gate), None)
    while not verdict.stop:
        queries, verdict = await _propose_queries(run, strategy)
        if queries:
            yield Searching(len(run.records) + 1, tuple(queries))
            if run.outline is not None:
                meters.set_topics(run.outline.hypothetical_answers)
            round = await _search_all(run, search, strategy, queries, k, per_round)
            readings = meters.read("before", round) | await _take_readings(
                run, run.take_readings_before(round, gate.needs)
            )
            run.readings.append(readings)
            verdict = gate.judge(run.readings, run.seed)
            accepted = not verdict.stop
            # Recorded before anything is awaited: an interrupted run keeps the round it had admitted.
            recorded = RoundRecord(round.index, accepted, round.queries, len(round.new), readings, verdict.leaves)
            run.records.append(recorded)
            if accepted:
                round = await run.admit(round)
                readings |= meters.read("after", round) | await _take_readings(
                    run, run.take_readings_after(round, gate.needs)
                )
                readings["belief.open"] = run.predicates.open_count
                readings |= run.read_spending()  # After the asking: what a round's judgement cost belongs to the round.
                verdict = gate.judge(run.readings, run.seed)
                readings |= {**verdict.values, **readings}
                run.records[-1] = replace(recorded, new_passages=len(round.new), verdicts=verdict.leaves)
            tokens, belief = run.take_round_tokens(), BeliefSnapshot(run.render_belief(), run.predicates.open)
            run.records[-1] = summarize_round(run.records, round, belief.notes, belief.open, run.evidence)
            yield RoundDone(round, accepted, readings, verdict, tokens, belief)
            if run.is_degraded and (not verdict.stop or verdict.reason in _FUTILE_REASONS):
                verdict = _build_unavailable_verdict(run)
        for event in run.take_events():
            yield event
    yield SearchStopped(_build_stop(run, gate, verdict), run.snapshot())


async def _propose_queries(run: RunState, strategy: Strategy) -> tuple[list[Query], Verdict]:
    """The next queries, or the verdict that there are none."""
    if run.queries_left == 0:
        return [], Verdict("budget", True, "budget_queries", f"all {run.bounds.queries} queries are spent")
    if run.seconds_left == 0:
        return [], Verdict("budget", True, "budget_time", "the time was up before the next round")
    try:
        queries = run.filter_new_queries(await _await_in_time(run, strategy.propose(run)))
    except TimeoutError:
        return [], Verdict("budget", True, "budget_time", "the time was up before the next round")
    done = not queries
    if done and run.has_no_answered_search:
        return [], _build_unavailable_verdict(run)
    return queries, Verdict("planner", done, "planner_done" if done else "", "the strategy has nothing new to ask")


def _build_unavailable_verdict(run: RunState) -> Verdict:
    """Search did not answer, and that is why nothing was found."""
    last = next(failure for failure in reversed(run.error_log) if failure.where == "search")
    return Verdict("breaker", True, "search_unavailable", f"the last search said: {last.message.rstrip('.')}")


async def _search_all(
    run: RunState, search: Search, strategy: Strategy, queries: Sequence[Query], k: int, per_round: int | None
) -> Round:
    """All queries at once. A failure is recorded with its query; what was found in time is kept."""
    depth = k + min(len(run.evidence), MAX_EXTRA_DEPTH)
    tasks = [asyncio.ensure_future(_search_one(search, query, depth)) for query in queries]
    try:
        await asyncio.wait(tasks, timeout=run.seconds_left)
    finally:
        for task in tasks:
            task.cancel()
    found = [
        task.result() if task.done() and not task.cancelled() else Hits(query, failure=SEARCH_TIMED_OUT)
        for query, task in zip(queries, tasks, strict=True)
    ]
    raw = {passage.id: passage for hits in found for passage in hits.passages[:k]}
    unseen = [
        replace(hits, passages=tuple(passage for passage in hits.passages if passage.id not in run.evidence)[:k])
        for hits in found
    ]
    new: dict[str, Passage] = {}
    for passage in await _rank_passages(run, strategy, unseen):
        new.setdefault(passage.id, passage)
    round = Round(len(run.records) + 1, tuple(found), tuple(raw.values()), tuple(new.values())[:per_round])
    run.record_searches(round)
    return round


async def _rank_passages(run: RunState, strategy: Strategy, unseen: Sequence[Hits]) -> Sequence[Passage]:
    """Best first: as the strategy chooses, if it does, else by score; where there is none, first every query's first."""
    if isinstance(strategy, PassageSelector):
        return await strategy.choose(run, unseen)
    placed = [(place, passage) for hits in unseen for place, passage in enumerate(hits.passages)]
    return [passage for _, passage in sorted(placed, key=lambda item: (-(item[1].score or 0.0), item[0]))]


async def _search_one(search: Search, query: Query, depth: int) -> Hits:
    try:
        return Hits(query, tuple(await search(query, depth)))
    except SearchError as error:
        return Hits(query, failure=to_failure(error))
    except CutOff:
        return Hits(query, failure=SEARCH_TIMED_OUT)
    except InputError:
        raise  # Only the user can mend it.
    except Exception as error:  # A bug in somebody's search is named as one, and does not take the run with it.
        return Hits(
            query, failure=Failure("search", type(error).__name__, f"The search broke: {error or 'no reason given'}")
        )


async def _take_readings(run: RunState, readings: Awaitable[dict[str, float | None]]) -> dict[str, float | None]:
    """Readings that cost a model call; unknown when the time is up."""
    try:
        return await _await_in_time(run, readings)
    except TimeoutError:
        return {}


async def _await_in_time(run: RunState, step: Awaitable[T]) -> T:
    async with asyncio.timeout(run.seconds_left):
        return await step


def _build_stop(run: RunState, gate: Gate, verdict: Verdict) -> Stop:
    text = explain_stop(verdict.reason, verdict.because, verdict.promise, run.records)
    rounds = tuple(run.records)
    return Stop(verdict.reason, verdict.gate, len(rounds), verdict.promise, text, rounds, str(gate))


def stop_cancelled(run: RunState, gate: Gate) -> SearchStopped:
    """How the loop ends when somebody interrupts it: with what was gathered."""
    return SearchStopped(_build_stop(run, gate, Verdict("user", True, "cancelled", "")), run.snapshot())


def stop_unavailable(run: RunState, gate: Gate, because: str) -> SearchStopped:
    """How it ends when what the search rests on is gone: with what was gathered."""
    return SearchStopped(_build_stop(run, gate, Verdict("search", True, "search_unavailable", because)), run.snapshot())
