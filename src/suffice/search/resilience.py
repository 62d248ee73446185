"""When a search has failed too often to be asked again: a count, and a switch on top of it that closes again.

closed ──3 failures in a row, or half of at least 4──▶ open ──cool-down over──▶ half-open ──the one trial──▶ closed or open
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from suffice.errors import SearchError, SearchRefused
from suffice.search.base import Search
from suffice.types import Failure, Passage, Query

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

MAX_CONSECUTIVE_FAILURES = 3  # Failures in a row (S1) …
MAX_FAILURE_SHARE = 0.5  # … or this share of all,
MIN_CALLS = 4  # once at least this many were made.
COOL_DOWN_SECONDS = 30.0  # Seconds.
MAX_COOL_DOWN_SECONDS = 3_600.0  # However long a service asks to be left alone.

BreakerState = Literal["closed", "open", "half-open"]


@dataclass(slots=True)
class FailureCounter:
    """How many were asked, how many of them failed, and how many in a row at the end."""

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


class CircuitBreaker:
    """The switch of one service. Every ``admit`` that said yes is followed by one of ``succeeded``, ``failed`` and
    ``released``; the last says that nobody waited for the outcome."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counter = FailureCounter()
        self._open_until: float | None = None
        self._trial_running = False

    @property
    def state(self) -> BreakerState:
        if self._open_until is None:
            return "closed"
        return "open" if self._clock() < self._open_until else "half-open"

    def try_acquire(self) -> bool:
        """Whether the service may be asked now; half-open, only once at a time."""
        if self.state == "half-open" and not self._trial_running:
            self._trial_running = True
            return True
        return self.state == "closed"

    def record_success(self) -> None:
        if self._open_until is None:
            self._counter.record(failed=False)
        elif self._trial_running:  # An answer to a question from before it opened does not close it.
            self._open_until, self._trial_running, self._counter = None, False, FailureCounter()

    def record_failure(self, wait: float = 0.0) -> None:
        """``wait`` is how long the service wants to be left alone; that opens it at once."""
        if self._open_until is None:
            self._counter.record(failed=True)
        if wait or self._trial_running or (self._open_until is None and self._counter.is_exceeded):
            self._open_until = self._clock() + min(max(wait, COOL_DOWN_SECONDS), MAX_COOL_DOWN_SECONDS)
            self._trial_running = False

    def release(self) -> None:
        self._trial_running = False


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
