"""Wrappers that make a search survive faults. Each is a Search over a Search, or over several.

A search made of several goes on when one of them fails, and says so to whoever listens: ``reporting`` binds it to a run.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from suffice.errors import SearchError, SearchRefused
from suffice.search.base import Search
from suffice.search.breaker import CircuitBreaker
from suffice.types import Failure, Passage, Query

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

MAX_ATTEMPTS = 3
MAX_WAIT_SECONDS = 10.0
SLOW_SECONDS = 4.0  # Seconds.

FailureListener = Callable[[Failure], None]


@runtime_checkable
class ResilientSearch(Protocol):
    """A search that survives faults by itself."""

    def with_failure_listener(self, report: FailureListener) -> Search:
        """The same search; ``report`` hears of what failed although the search went on."""
        ...


def make_resilient(search: Search, report: FailureListener) -> Search:
    """The search with whatever it needs to survive passing faults."""
    return (
        search.with_failure_listener(report) if isinstance(search, ResilientSearch) else RetryingSearch(search, report)
    )


def to_failure(error: SearchError) -> Failure:
    return Failure("search", type(error).__name__, str(error), error.retryable, error.attempt)


def ignore_failure(failure: Failure) -> None:
    """Whom a search reports to that no run listens to."""


class RetryingSearch:
    """Tries again after a transient error: up to 3 attempts, waiting min(2ⁿ + U(0, 1), 10) seconds (S1), or as long as the
    service asks for. One that asks for longer is not tried again.

    ``report`` hears of every attempt that failed and is tried again; the last failure is raised.
    """

    def __init__(
        self,
        search: Search,
        report: FailureListener,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self._search = search
        self._report = report
        self._sleep = sleep
        self._random = random or Random()

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                return await self._search(query, k)
            except SearchError as error:
                error.attempt = attempt
                wanted = get_retry_after(error)
                if not error.retryable or attempt == MAX_ATTEMPTS or wanted > MAX_WAIT_SECONDS:
                    raise
                self._report(to_failure(error))
                await self._sleep(max(wanted, min(2**attempt + self._random.random(), MAX_WAIT_SECONDS)))
        raise AssertionError("the last attempt returns or raises")


def get_retry_after(error: SearchError) -> float:
    """How long the service asked to be left alone."""
    return (error.retry_after or 0.0) if isinstance(error, SearchRefused) else 0.0


class RateLimitedSearch:
    """Asks no more often than ``per_second``; who comes too early waits."""

    def __init__(self, search: Search, per_second: float) -> None:
        self._search = search
        self._per_second = per_second
        self._limiter: AsyncLimiter | None = None

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        if self._limiter is None:
            from aiolimiter import AsyncLimiter

            burst = max(1.0, self._per_second)
            self._limiter = AsyncLimiter(burst, burst / self._per_second)
        async with self._limiter:
            return await self._search(query, k)


class CircuitBreakerSearch:
    """Does not ask a service whose breaker is open. An empty answer is a success; a search that somebody gave up waiting for
    has failed if it was slow."""

    def __init__(self, name: str, search: Search, breaker: CircuitBreaker) -> None:
        self._name = name
        self._search = search
        self._breaker = breaker

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        if not self._breaker.try_acquire():
            raise SearchError(f"{self._name} has failed too often and is left alone for a while")
        began = time.monotonic()
        try:
            found = await self._search(query, k)
        except SearchError as error:
            wait = get_retry_after(error)
            self._breaker.record_failure(wait if wait > MAX_WAIT_SECONDS else 0.0)
            raise
        except asyncio.CancelledError:
            slow = time.monotonic() - began >= SLOW_SECONDS
            self._breaker.record_failure() if slow else self._breaker.release()
            raise
        except BaseException:
            self._breaker.record_failure()
            raise
        self._breaker.record_success()
        return found


class FallbackSearch:
    """Asks the first search; where it fails, the next. An empty answer is an answer."""

    def __init__(self, searches: Sequence[Search], report: FailureListener = ignore_failure) -> None:
        self._searches = tuple(searches)
        self._report = report

    def with_failure_listener(self, report: FailureListener) -> "FallbackSearch":
        return FallbackSearch([make_resilient(search, report) for search in self._searches], report)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        errors: list[SearchError] = []
        for search in self._searches:
            for error in errors[-1:]:
                self._report(to_failure(error))
            try:
                return await search(query, k)
            except SearchError as error:
                errors.append(error)
        raise combine_errors(errors)


def combine_errors(errors: Sequence[SearchError]) -> SearchError:
    """One error for several searches that all failed: refused only if every one refused."""
    if len(errors) == 1:
        return errors[0]
    kind = SearchRefused if all(isinstance(error, SearchRefused) for error in errors) else SearchError
    return kind("; ".join(dict.fromkeys(map(str, errors))), retryable=any(error.retryable for error in errors))
