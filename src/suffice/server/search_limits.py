"""Limits on ``/search``: how many searches run at the same time, how many may wait, and how many a key may ask for."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from suffice.server.errors import ApiError

MAX_CONCURRENT = 8  # Searches of one process at the same time; each uses a thread, and the embedding model one core.
MAX_WAITING = 1000  # Searches that wait for their turn; more are refused.
_WINDOW_SECONDS = 60.0


class SearchLimiter:
    """The limits of one serving process."""

    def __init__(self) -> None:
        self._semaphore = asyncio.Semaphore(MAX_CONCURRENT)
        self._admitted = 0
        self._recent: dict[str, deque[float]] = {}

    @asynccontextmanager
    async def admit(self, owner: str, per_minute: int | None) -> AsyncIterator[None]:
        """Wait for a turn and hold it; raise ``ApiError`` if the owner or everyone asks too much."""
        if per_minute is not None:
            self._count(owner, per_minute)
        if self._admitted >= MAX_CONCURRENT + MAX_WAITING:
            raise ApiError(503, "Too many searches are waiting", retryable=True, headers={"retry-after": "5"})
        self._admitted += 1
        try:
            async with self._semaphore:
                yield
        finally:
            self._admitted -= 1

    def _count(self, owner: str, per_minute: int) -> None:
        now = time.monotonic()
        recent = self._recent.setdefault(owner, deque())
        while recent and recent[0] <= now - _WINDOW_SECONDS:
            recent.popleft()
        if len(recent) >= per_minute:
            wait = max(1, round(recent[0] + _WINDOW_SECONDS - now))
            headers = {"retry-after": str(wait)}
            raise ApiError(429, f"This key allows {per_minute} searches a minute", retryable=True, headers=headers)
        recent.append(now)
