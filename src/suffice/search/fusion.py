"""Several searches as one: queried at the same time and merged by reciprocal rank fusion.

    score of a passage = Σ over the searches that found it of 1 / (60 + its rank there)

Reciprocal rank fusion (Cormack, Clarke & Büttcher 2009) needs only the orders: the scores of an index over files and of a
web service are not on one scale. For the same reason the merged passages have no score.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from suffice.errors import SearchError
from suffice.search.base import Search
from suffice.search.resilience import FailureListener, combine_errors, ignore_failure, make_resilient, to_failure
from suffice.types import Passage, Query

RRF_K = 60
GRACE_SECONDS = 5.0  # How long the other searches may still take once the first one has answered.


class MergedSearch:
    """Merges the results of several named searches. A search that fails is reported; if all fail, this fails."""

    def __init__(self, searches: Mapping[str, Search], on_failure: FailureListener = ignore_failure) -> None:
        self._searches = dict(searches)
        self._on_failure = on_failure

    def with_failure_listener(self, on_failure: FailureListener) -> "MergedSearch":
        resilient = {name: make_resilient(search, on_failure) for name, search in self._searches.items()}
        return MergedSearch(resilient, on_failure)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        tasks = {name: asyncio.ensure_future(search(query, k)) for name, search in self._searches.items()}
        outcomes = await _gather_outcomes(tasks)
        errors = [outcome for outcome in outcomes if isinstance(outcome, SearchError)]
        if len(errors) == len(outcomes):
            raise combine_errors(errors)
        for error in errors:
            self._on_failure(to_failure(error))
        return fuse_rankings([outcome for outcome in outcomes if not isinstance(outcome, SearchError)], k)


def fuse_rankings(rankings: Sequence[Sequence[Passage]], k: int) -> list[Passage]:
    """Return the best ``k`` passages over all rankings. If a passage comes with two texts, the longer one is used."""
    scores: dict[str, float] = {}
    passages: dict[str, Passage] = {}
    for ranking in rankings:
        for rank, passage in enumerate(ranking, 1):
            scores[passage.id] = scores.get(passage.id, 0.0) + 1 / (RRF_K + rank)
            if passage.id not in passages or len(passage.text) > len(passages[passage.id].text):
                passages[passage.id] = replace(passage, score=None)
    # The sort is stable: of equal passages, the one from the search named first comes first.
    return [passages[key] for key in sorted(scores, key=lambda key: -scores[key])[:k]]


async def _gather_outcomes(tasks: Mapping[str, "asyncio.Task[list[Passage]]"]) -> list[list[Passage] | SearchError]:
    """Return each search's passages or its ``SearchError``. Any other exception is raised as it is."""
    pending = set(tasks.values())
    try:
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            if pending and any(task.exception() is None for task in done):
                await asyncio.wait(pending, timeout=GRACE_SECONDS)
                break
    finally:
        for task in tasks.values():
            task.cancel()
    return [_get_outcome(name, task) for name, task in tasks.items()]


def _get_outcome(name: str, task: "asyncio.Task[list[Passage]]") -> list[Passage] | SearchError:
    if not task.done():
        return SearchError(
            f"{name} had not answered {GRACE_SECONDS:g} seconds after another search answered", retryable=True
        )
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, SearchError):
        return error
    raise error
