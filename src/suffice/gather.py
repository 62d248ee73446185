"""THE LOOP: propose, search, judge, believe, judge again, until a gate says stop. It yields what happens.

It knows the seams by their one method and nothing of what is behind them.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Sequence
from dataclasses import replace
from typing import TypeVar

from suffice.errors import CutOff, InputError, SearchError
from suffice.events import Believed, Event, RoundDone, Searching, Stopped
from suffice.explanation import explain
from suffice.gates.base import Gate
from suffice.meters import Meters
from suffice.run import LATE, Run
from suffice.search.base import Search
from suffice.search.resilience import failure
from suffice.strategies.base import Choosing, Strategy
from suffice.telling import told
from suffice.types import Failure, Hits, Passage, Query, Round, RoundRecord, Stop, Verdict

T = TypeVar("T")

# Endings for want of anything new; they say nothing where search did not answer.
_FUTILE = ("saturated", "exhausted", "diminished")
REACH = 45  # How much further down a ranking to look for passages that replace those seen before.


async def gather(
    run: Run,
    search: Search,
    strategy: Strategy,
    gate: Gate,
    meters: Meters,
    *,
    k: int = 5,
    per_round: int | None = None,
) -> AsyncGenerator[Event, None]:
    """Search in rounds; the last event is ``Stopped``."""
    verdict = Verdict(str(gate), None)
    while not verdict.stop:
        queries, verdict = await _propose(run, strategy)
        if queries:
            yield Searching(len(run.records) + 1, tuple(queries))
            if run.outline is not None:
                meters.outline(run.outline.texts)
            round = await _search_all(run, search, strategy, queries, k, per_round)
            readings = meters.read("before", round) | await _asked(run, run.asked_before(round, gate.needs))
            run.readings.append(readings)
            verdict = gate.judge(run.readings, run.seed)
            accepted = not verdict.stop
            # Recorded before anything is awaited: an interrupted run keeps the round it had admitted.
            recorded = RoundRecord(round.index, accepted, round.queries, len(round.new), readings, verdict.leaves)
            run.records.append(recorded)
            if accepted:
                round = await run.admit(round)
                readings |= meters.read("after", round) | await _asked(run, run.asked_after(round, gate.needs))
                readings["belief.open"] = run.predicates.reading
                readings |= run.spend()  # After the asking: what a round's judgement cost belongs to the round.
                verdict = gate.judge(run.readings, run.seed)
                readings |= {**verdict.values, **readings}
                run.records[-1] = replace(recorded, new_passages=len(round.new), verdicts=verdict.leaves)
            tokens, belief = run.tokens_since_last(), Believed(run.believed(), run.predicates.open)
            run.records[-1] = told(run.records, round, belief.notes, belief.open, run.evidence)
            yield RoundDone(round, accepted, readings, verdict, tokens, belief)
            if run.degraded and (not verdict.stop or verdict.reason in _FUTILE):
                verdict = _unavailable(run)
        for event in run.events():
            yield event
    yield Stopped(_stop(run, gate, verdict), run.state())


async def _propose(run: Run, strategy: Strategy) -> tuple[list[Query], Verdict]:
    """The next queries, or the verdict that there are none."""
    if run.queries_left == 0:
        return [], Verdict("budget", True, "budget_queries", f"all {run.bounds.queries} queries are spent")
    if run.seconds_left == 0:
        return [], Verdict("budget", True, "budget_time", "the time was up before the next round")
    try:
        queries = run.fresh(await _in_time(run, strategy.propose(run)))
    except TimeoutError:
        return [], Verdict("budget", True, "budget_time", "the time was up before the next round")
    done = not queries
    if done and run.unanswered:
        return [], _unavailable(run)
    return queries, Verdict("planner", done, "planner_done" if done else "", "the strategy has nothing new to ask")


def _unavailable(run: Run) -> Verdict:
    """Search did not answer, and that is why nothing was found."""
    last = next(failure for failure in reversed(run.error_log) if failure.where == "search")
    return Verdict("breaker", True, "search_unavailable", f"the last search said: {last.message.rstrip('.')}")


async def _search_all(
    run: Run, search: Search, strategy: Strategy, queries: Sequence[Query], k: int, per_round: int | None
) -> Round:
    """All queries at once. A failure is recorded with its query; what was found in time is kept."""
    depth = k + min(len(run.evidence), REACH)
    tasks = [asyncio.ensure_future(_search(search, query, depth)) for query in queries]
    try:
        await asyncio.wait(tasks, timeout=run.seconds_left)
    finally:
        for task in tasks:
            task.cancel()
    found = [
        task.result() if task.done() and not task.cancelled() else Hits(query, failure=LATE)
        for query, task in zip(queries, tasks, strict=True)
    ]
    raw = {passage.id: passage for hits in found for passage in hits.passages[:k]}
    unseen = [
        replace(hits, passages=tuple(passage for passage in hits.passages if passage.id not in run.evidence)[:k])
        for hits in found
    ]
    new: dict[str, Passage] = {}
    for passage in await _ranked(run, strategy, unseen):
        new.setdefault(passage.id, passage)
    round = Round(len(run.records) + 1, tuple(found), tuple(raw.values()), tuple(new.values())[:per_round])
    run.searched(round)
    return round


async def _ranked(run: Run, strategy: Strategy, unseen: Sequence[Hits]) -> Sequence[Passage]:
    """Best first: as the strategy chooses, if it does, else by score; where there is none, first every query's first."""
    if isinstance(strategy, Choosing):
        return await strategy.choose(run, unseen)
    placed = [(place, passage) for hits in unseen for place, passage in enumerate(hits.passages)]
    return [passage for _, passage in sorted(placed, key=lambda item: (-(item[1].score or 0.0), item[0]))]


async def _search(search: Search, query: Query, depth: int) -> Hits:
    try:
        return Hits(query, tuple(await search(query, depth)))
    except SearchError as error:
        return Hits(query, failure=failure(error))
    except CutOff:
        return Hits(query, failure=LATE)
    except InputError:
        raise  # Only the user can mend it.
    except Exception as error:  # A bug in somebody's search is named as one, and does not take the run with it.
        return Hits(
            query, failure=Failure("search", type(error).__name__, f"The search broke: {error or 'no reason given'}")
        )


async def _asked(run: Run, readings: Awaitable[dict[str, float | None]]) -> dict[str, float | None]:
    """Readings that cost a model call; unknown when the time is up."""
    try:
        return await _in_time(run, readings)
    except TimeoutError:
        return {}


async def _in_time(run: Run, step: Awaitable[T]) -> T:
    async with asyncio.timeout(run.seconds_left):
        return await step


def _stop(run: Run, gate: Gate, verdict: Verdict) -> Stop:
    text = explain(verdict.reason, verdict.because, verdict.promise, run.records)
    rounds = tuple(run.records)
    return Stop(verdict.reason, verdict.gate, len(rounds), verdict.promise, text, rounds, str(gate))


def cancelled(run: Run, gate: Gate) -> Stopped:
    """How the loop ends when somebody interrupts it: with what was gathered."""
    return Stopped(_stop(run, gate, Verdict("user", True, "cancelled", "")), run.state())


def unavailable(run: Run, gate: Gate, because: str) -> Stopped:
    """How it ends when what the search rests on is gone: with what was gathered."""
    return Stopped(_stop(run, gate, Verdict("search", True, "search_unavailable", because)), run.state())
