"""Searches that survive faults: retries, rate limits, circuit breakers and fallbacks.

``make_resilient`` wraps a search in retries, unless the search handles faults itself (``ResilientSearch``). A listener
receives the failures that did not end the search.

A circuit breaker stops calls to a service that keeps failing, until a cool-down is over.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol, runtime_checkable

from suffice.errors import SearchError, SearchRefused
from suffice.search.base import Search
from suffice.types import Failure, Passage, Query

MAX_ATTEMPTS = 3  # Value of the source system, see docs/sources.md.
MAX_WAIT_SECONDS = 10.0  # Longest wait before a retry.

# A breaker opens after so many failures in a row (value of the source system, see docs/sources.md) …
MAX_CONSECUTIVE_FAILURES = 3
MAX_FAILURE_SHARE = 0.5  # … or when this share of all calls failed,
MIN_CALLS = 4  # once at least this many calls were made.
COOL_DOWN_SECONDS = 30.0
MAX_COOL_DOWN_SECONDS = 3_600.0  # Upper bound, however long a service asks to wait.
SLOW_SECONDS = 4.0  # A cancelled search that had run this long counts as failed.

FailureListener = Callable[[Failure], None]


@runtime_checkable
class ResilientSearch(Protocol):
    """A search that handles faults itself."""

    def with_failure_listener(self, on_failure: FailureListener) -> Search:
        """Return the same search; ``on_failure`` receives the failures that did not end it."""


def make_resilient(search: Search, on_failure: FailureListener) -> Search:
    """Return the search with retries, or with its own handling of faults if it has one."""
    if isinstance(search, ResilientSearch):
        return search.with_failure_listener(on_failure)
    return RetryingSearch(search, on_failure)


def to_failure(error: SearchError) -> Failure:
    return Failure("search", type(error).__name__, str(error), error.retryable, error.attempt)


def ignore_failure(failure: Failure) -> None:
    """A failure listener that does nothing."""


@dataclass(frozen=True, slots=True)
class RetryingSearch:
    """Retries after transient errors: up to 3 attempts, min(2ⁿ + U(0, 1), 10) seconds apart.

    A longer wait that the service asks for is respected, but above 10 seconds there is no retry. ``on_failure`` receives every
    failed attempt that is retried; the last failure is raised.
    """

    search: Search
    on_failure: FailureListener
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Random = field(default_factory=Random)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                return await self.search(query, k)
            except SearchError as error:
                error.attempt = attempt
                retry_after = get_retry_after(error)
                if not error.retryable or attempt == MAX_ATTEMPTS or retry_after > MAX_WAIT_SECONDS:
                    raise
                self.on_failure(to_failure(error))
                await self.sleep(max(retry_after, min(2 ** (attempt - 1) + self.random.random(), MAX_WAIT_SECONDS)))
        raise AssertionError("the last attempt returns or raises")


def get_retry_after(error: BaseException) -> float:
    """Return how many seconds the service asked to wait; 0 if it did not ask."""
    return (error.retry_after or 0.0) if isinstance(error, SearchRefused) else 0.0


class RateLimitedSearch:
    """Sends at most ``per_second`` queries a second; further calls wait."""

    def __init__(self, search: Search, per_second: float) -> None:
        from aiolimiter import AsyncLimiter

        burst = max(1.0, per_second)
        self._search, self._limiter = search, AsyncLimiter(burst, burst / per_second)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        async with self._limiter:
            return await self._search(query, k)


class FallbackSearch:
    """Tries searches in order until one answers. An empty answer is an answer."""

    def __init__(self, searches: Sequence[Search], on_failure: FailureListener = ignore_failure) -> None:
        self._searches = tuple(searches)
        self._on_failure = on_failure

    def with_failure_listener(self, on_failure: FailureListener) -> "FallbackSearch":
        return FallbackSearch([make_resilient(search, on_failure) for search in self._searches], on_failure)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        errors: list[SearchError] = []
        for search in self._searches:
            if errors:
                self._on_failure(to_failure(errors[-1]))
            try:
                return await search(query, k)
            except SearchError as error:
                errors.append(error)
        raise combine_errors(errors)


def combine_errors(errors: Sequence[SearchError]) -> SearchError:
    """Return one error for several searches that all failed; it is a refusal only if every one was."""
    if len(errors) == 1:
        return errors[0]
    kind = SearchRefused if all(isinstance(error, SearchRefused) for error in errors) else SearchError
    return kind("; ".join(dict.fromkeys(map(str, errors))), retryable=any(error.retryable for error in errors))


@dataclass(frozen=True, slots=True)
class CircuitBreakerSearch:
    """Does not query a service whose breaker is open.

    An empty answer is a success. A cancelled search counts as failed if it had been slow.
    """

    name: str
    search: Search
    breaker: "CircuitBreaker"

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        if self.breaker.is_open:
            raise SearchError(f"{self.name} has failed too often and is not queried for a while")
        start = time.monotonic()
        try:
            found = await self.search(query, k)
        except asyncio.CancelledError:
            if time.monotonic() - start >= SLOW_SECONDS:
                self.breaker.record(failed=True)
            raise
        except BaseException as error:
            retry_after = get_retry_after(error)
            self.breaker.record(failed=True, retry_after=retry_after if retry_after > MAX_WAIT_SECONDS else 0.0)
            raise
        self.breaker.record(failed=False)
        return found


class CircuitBreaker:
    """The circuit breaker of one service: open for a while after 3 failures in a row, or half of at least 4 calls."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counter = FailureCounter()
        self._open_until = clock()

    @property
    def is_open(self) -> bool:
        return self._clock() < self._open_until

    def record(self, *, failed: bool, retry_after: float = 0.0) -> None:
        """Count a call. If the service asked to wait ``retry_after`` seconds, the breaker opens at once."""
        self._counter.record(failed)
        if retry_after or (failed and self._counter.is_exceeded):
            self._open_until = self._clock() + min(max(retry_after, COOL_DOWN_SECONDS), MAX_COOL_DOWN_SECONDS)
            self._counter = FailureCounter()


@dataclass(slots=True)
class FailureCounter:
    """Counts calls, failures, and the failures in a row at the end."""

    calls: int = 0
    failures: int = 0
    consecutive_failures: int = 0

    def record(self, failed: bool) -> None:
        self.calls += 1
        self.failures += failed
        self.consecutive_failures = self.consecutive_failures + 1 if failed else 0

    @property
    def is_exceeded(self) -> bool:
        return self.consecutive_failures >= MAX_CONSECUTIVE_FAILURES or (
            self.calls >= MIN_CALLS and self.failures >= MAX_FAILURE_SHARE * self.calls
        )
