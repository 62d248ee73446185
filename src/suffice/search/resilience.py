"""Wrappers that make a search survive passing faults. Each is a Search over a Search."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

from suffice.errors import SearchError
from suffice.search.base import Search
from suffice.types import Failure, Passage, Query

ATTEMPTS = 3
LONGEST_WAIT = 10.0


class Retrying:
    """Tries again after a transient error: up to 3 attempts, waiting min(2ⁿ + U(0, 1), 10) seconds (S1).

    ``report`` hears of every attempt that failed and is tried again; the last failure is raised.
    """

    def __init__(
        self,
        search: Search,
        report: Callable[[Failure], None],
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self._search = search
        self._report = report
        self._sleep = sleep
        self._random = random or Random()

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._search(query, k)
            except SearchError as error:
                error.attempt = attempt
                if not error.retryable or attempt == ATTEMPTS:
                    raise
                self._report(Failure("search", type(error).__name__, str(error), True, attempt))
                await self._sleep(min(2**attempt + self._random.random(), LONGEST_WAIT))
        raise AssertionError("the last attempt returns or raises")
