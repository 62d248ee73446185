"""The research loop: propose queries, search, read the results, update the belief, until a gate says stop.

It knows search, strategy, gate and meters by their one method each, and puts events into the run's event queue.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from suffice.errors import CutOff, InputError, SearchError
from suffice.events import RoundDone, Searching, SearchStopped, TopicsCovered
from suffice.gates.base import Gate
from suffice.gates.explanation import explain_stop
from suffice.gates.limits import LIMIT_REASONS
from suffice.meters import MeterSet
from suffice.meters.base import list_topic_coverage
from suffice.search.base import Search
from suffice.search.resilience import to_failure
from suffice.state.run import RunState
from suffice.state.search_log import SEARCH_TIMED_OUT
from suffice.state.snapshot import complete_record, snapshot_belief, snapshot_state
from suffice.strategies.base import PassageSelector, Strategy
from suffice.types import Coverage, Failure, Hits, OpenDocument, Passage, Query, Round, RoundRecord, Stop, Verdict

MAX_EXTRA_DEPTH = 45  # How much further down the ranking to look for passages that replace those seen before.
MIN_SURE_CONFIDENCE = 0.8  # A reflection that is less sure does not end a search by itself.
# Stops because nothing new was found. If search failed, they mean nothing.
_FUTILE_REASONS = ("saturated", "exhausted", "diminished")


async def run_loop(
    run: RunState,
    search: Search,
    strategy: Strategy,
    gate: Gate,
    meters: MeterSet,
    *,
    k: int = 5,
    per_round: int | None = None,
    honor_sufficient: bool = False,
    after_round: Callable[[RoundDone], Awaitable[None]] | None = None,
) -> SearchStopped:
    """Search in rounds of at most ``per_round`` new passages, ``k`` per query, and return the last event.

    With ``honor_sufficient`` a reflection that is sure of the evidence ends the search, whatever the gate says.
    ``after_round`` is called with each round before the next one begins.
    """
    emit = run.event_queue.add
    verdict = Verdict(str(gate), None)
    while not verdict.stop:
        queries, verdict = await _propose_queries(run, strategy)
        if honor_sufficient and (sure := _find_sufficient_verdict(run)) is not None:
            queries, verdict = [], sure
        if queries:
            emit(Searching(len(run.records) + 1, tuple(queries)))
            round = await _search_all(run, search, strategy, queries, k, per_round)
            done = await judge_round(run, gate, meters, round, reflects=honor_sufficient and run.is_strong)
            emit(done)
            if coverage := list_topic_coverage(done.readings):
                emit(TopicsCovered(round.index, coverage))
            if after_round is not None:
                await after_round(done)
            verdict = done.verdict
            if run.searches.is_degraded and (not verdict.stop or verdict.reason in _FUTILE_REASONS):
                verdict = _build_unavailable_verdict(run)
    stopped = build_stopped(run, gate, verdict)
    emit(stopped)
    return stopped


async def _propose_queries(run: RunState, strategy: Strategy) -> tuple[list[Query], Verdict]:
    """Return the next queries, or none and the verdict why."""
    if run.records and run.scope_size is not None and len(run.evidence) >= run.scope_size:
        return [], Verdict("read_all", True, "read_all", "every passage was found", promise="guarantee")
    if run.budget.queries_left == 0:
        return [], Verdict("budget", True, "budget_queries", f"all {run.budget.bounds.queries} queries are spent")
    if run.records and run.must_write_now:
        kept = f"what is left of {run.budget.bounds.usd:g} US dollars is kept for writing the answer"
        return [], Verdict("budget", True, "budget_cost", kept)
    time_is_up = Verdict("budget", True, "budget_time", "the time was up before the next round")
    if run.budget.seconds_left == 0:
        return [], time_is_up
    try:
        async with run.budget.time_limit():
            queries = run.filter_new_queries(await strategy.propose(run))
    except TimeoutError:
        return [], time_is_up
    if queries:
        return queries, Verdict("planner", False)
    if run.searches.has_no_answer:
        return [], _build_unavailable_verdict(run)
    return [], Verdict("planner", True, "planner_done", "the strategy has nothing new to ask")


def _find_sufficient_verdict(run: RunState) -> Verdict | None:
    """Return a stop if a language model called the evidence sufficient, with confidence and without naming a gap."""
    reflection = run.reflection
    if reflection is None or not run.is_answered_by_language_model("reflect"):
        return None
    confidence = reflection.confidence or 0.0
    if not reflection.sufficient or reflection.gaps or confidence < MIN_SURE_CONFIDENCE:
        return None
    because = f"the model judged the evidence sufficient with confidence {confidence:.2g}"
    return Verdict("sufficiency", True, "sufficient", because)


async def judge_round(
    run: RunState, gate: Gate, meters: MeterSet, round: Round, *, reflects: bool = False
) -> RoundDone:
    """Judge a round before it changes the belief; admit it if it is accepted, and judge again.

    A round after which the gate stops at once is not admitted: what it found is left out.

    With ``reflects`` the model says what is missing before the gate judges: it is believed about its gaps.
    """
    readings = await meters.read_live("before", round, run)
    run.readings.append(readings)
    verdict = gate.judge(run.readings, run.seed)
    accepted = not verdict.stop
    # Recorded before the next await, so that an interrupted run keeps the round.
    run.records.append(RoundRecord(round.index, accepted, round.queries, len(round.new), readings, verdict.leaves))
    if accepted:
        round = await run.admit(round)
        readings |= await meters.read_live("after", round, run)
        if reflects and run.budget.queries_left != 0:
            with suppress(TimeoutError):
                async with run.budget.time_limit():
                    await run.reflect()
        readings |= run.measure()  # After the model meters, so that the round includes their cost.
        verdict = gate.judge(run.readings, run.seed)
        for name, value in verdict.values.items():
            readings.setdefault(name, value)
    belief = snapshot_belief(run)
    run.records[-1] = complete_record(run, round, verdict, belief)
    return RoundDone(round, accepted, readings, verdict, run.budget.take_round_tokens(), belief)


async def _search_all(
    run: RunState, search: Search, strategy: Strategy, queries: Sequence[Query], k: int, per_round: int | None
) -> Round:
    """Search for all queries at once and record the outcome. Searches that the time limit cuts off count as failed."""
    shown = max(k, getattr(strategy, "candidates_per_query", k))  # A strategy that chooses may see more than it keeps.
    depth = k if run.is_faithful else shown + min(len(run.evidence), MAX_EXTRA_DEPTH)
    tasks = [asyncio.ensure_future(_search_one(search, query, depth)) for query in queries]
    try:
        await asyncio.wait(tasks, timeout=run.budget.seconds_left)
    finally:
        for task in tasks:
            task.cancel()
    found = [
        task.result() if task.done() and not task.cancelled() else Hits(query, failure=SEARCH_TIMED_OUT)
        for query, task in zip(queries, tasks, strict=True)
    ]
    raw = {passage.id: passage for hits in found for passage in hits.passages[:k]}
    unseen = []
    for hits in found:
        limit = None if isinstance(hits.query, OpenDocument) else shown  # An opened document brings all its passages.
        own = tuple(passage for passage in hits.passages if passage.id not in run.evidence)
        unseen.append(replace(hits, passages=own[:limit]))
    new: dict[str, Passage] = {}
    for passage in await _rank_passages(run, strategy, unseen):
        new.setdefault(passage.id, passage)
    if shown > k:
        per_round = min(k * len(queries), k * len(queries) if per_round is None else per_round)
    round = Round(len(run.records) + 1, tuple(found), tuple(raw.values()), tuple(new.values())[:per_round])
    run.record_searches(round)
    return round


async def _search_one(search: Search, query: Query, depth: int) -> Hits:
    try:
        return Hits(query, tuple(await search(query, depth)))
    except SearchError as error:
        return Hits(query, failure=to_failure(error))
    except CutOff:
        return Hits(query, failure=SEARCH_TIMED_OUT)
    except InputError:
        raise  # Only the user can fix it.
    except Exception as error:  # A bug in a search plug-in is recorded and does not end the run.
        message = f"The search raised an unexpected error: {error or 'no message'}"
        return Hits(query, failure=Failure("search", type(error).__name__, message))


async def _rank_passages(run: RunState, strategy: Strategy, unseen: Sequence[Hits]) -> Sequence[Passage]:
    """Return the passages best first: as the strategy chooses, else by score, else by rank within their query."""
    if isinstance(strategy, PassageSelector):
        return await strategy.choose(run, unseen)
    ranked = [(rank, passage) for hits in unseen for rank, passage in enumerate(hits.passages)]
    return [passage for _, passage in sorted(ranked, key=lambda item: (-(item[1].score or 0.0), item[0]))]


def _build_unavailable_verdict(run: RunState) -> Verdict:
    last = next(failure for failure in reversed(run.error_log) if failure.where == "search")
    return Verdict("breaker", True, "search_unavailable", f"the last search failed: {last.message.rstrip('.')}")


def _find_coverage(run: RunState) -> Coverage | None:
    """Return how much of what is relevant was read, as the survey or the last readings estimate it."""
    if run.survey is not None:
        return run.survey.describe()
    last = run.readings[-1] if run.readings else {}
    share, low, high = (last.get(f"relevance.{name}") for name in ("seen", "low", "high"))
    if run.breadth == "narrow" or share is None or low is None or high is None:
        return None
    found = len({passage.place.path for passage in run.evidence})
    return Coverage(share, low, high, found, round(found / share), "results that came back in several rounds (Chao)")


def build_stopped(run: RunState, gate: Gate, verdict: Verdict) -> SearchStopped:
    """Return the last event of the search, with the reason in words."""
    rounds = tuple(run.records)
    limits = {reason: kind for kind, reason in LIMIT_REASONS.items()}
    origin = run.budget.origins.get(limits.get(verdict.reason, ""))
    because = f"{verdict.because}, a limit of {origin}" if origin else verdict.because
    found = _find_coverage(run)
    is_all_read = verdict.reason == "sufficient" and found is not None and found.is_complete
    told = ("read_all", "") if is_all_read else (verdict.reason, because)
    text = explain_stop(*told, verdict.promise, run.records)
    stop = Stop(verdict.reason, verdict.gate, len(rounds), verdict.promise, text, rounds, str(gate), coverage=found)
    return SearchStopped(stop, snapshot_state(run, verdict.reason))
