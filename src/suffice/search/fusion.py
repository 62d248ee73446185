"""Several searches as one: asked at once, fused by reciprocal rank, each passage once.

    a passage's place = Σ over the searches that found it of 1 / (60 + its rank there)

Reciprocal rank fusion (Cormack, Clarke & Büttcher 2009) needs only the orders: the scores of an index over files and of a
web service are not of one scale. For the same reason what comes out has no score.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from suffice.errors import SearchError
from suffice.search.base import Search
from suffice.search.resilience import FailureListener, combine_errors, ignore_failure, make_resilient, to_failure
from suffice.types import Passage, Query

RRF_K = 60
GRACE_SECONDS = 5.0  # Seconds that the others have once the first search has answered.


class MergedSearch:
    """What all searches find, by their names. One that fails is reported and done without; if all fail, this fails."""

    def __init__(self, searches: Mapping[str, Search], report: FailureListener = ignore_failure) -> None:
        self._searches = dict(searches)
        self._report = report

    def with_failure_listener(self, report: FailureListener) -> "MergedSearch":
        return MergedSearch({name: make_resilient(search, report) for name, search in self._searches.items()}, report)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        outcomes = await _gather_outcomes(
            {name: asyncio.ensure_future(search(query, k)) for name, search in self._searches.items()}
        )
        errors = [outcome for outcome in outcomes if isinstance(outcome, SearchError)]
        if len(errors) == len(outcomes):
            raise combine_errors(errors)
        for error in errors:
            self._report(to_failure(error))
        return fuse_rankings([outcome for outcome in outcomes if not isinstance(outcome, SearchError)], k)


def fuse_rankings(rankings: Sequence[Sequence[Passage]], k: int) -> list[Passage]:
    """The best ``k`` over all rankings; of two texts of one passage the longer is kept."""
    places: dict[str, float] = {}
    kept: dict[str, Passage] = {}
    for ranking in rankings:
        for rank, passage in enumerate(ranking, 1):
            places[passage.id] = places.get(passage.id, 0.0) + 1 / (RRF_K + rank)
            if passage.id not in kept or len(passage.text) > len(kept[passage.id].text):
                kept[passage.id] = replace(passage, score=None)
    # The sort is stable: of equals the one from the search named first comes first.
    return [kept[key] for key in sorted(places, key=lambda key: -places[key])[:k]]


async def _gather_outcomes(tasks: Mapping[str, "asyncio.Task[list[Passage]]"]) -> list[list[Passage] | SearchError]:
    """What each search answered or why it could not. A bug in one is raised as it is."""
    waiting = set(tasks.values())
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if waiting and any(task.exception() is None for task in done):
                await asyncio.wait(waiting, timeout=GRACE_SECONDS)
                break
    finally:
        for task in tasks.values():
            task.cancel()
    return [_get_outcome(name, task) for name, task in tasks.items()]


def _get_outcome(name: str, task: "asyncio.Task[list[Passage]]") -> list[Passage] | SearchError:
    if not task.done():
        return SearchError(f"{name} was given up {GRACE_SECONDS:g} seconds after others had answered", retryable=True)
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, SearchError):
        return error
    raise error
