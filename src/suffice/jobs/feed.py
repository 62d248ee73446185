"""The events of a run as they come, from any process: what is kept first, then what is added."""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

from suffice.jobs.store import Line, Store

T = TypeVar("T")
log = logging.getLogger(__name__)

POLL = 0.3  # Seconds between looks at the database for a run that another process works on.
PAGE = 100
_NO_EVENT_IS_BEHIND = 2**31 - 1


class Feed:
    """Whoever appends here wakes whoever follows here. For runs that other processes work on, one look at the database serves
    all followers."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._followed: Counter[str] = Counter()
        self._news: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._looking: asyncio.Task[None] | None = None

    async def append(self, run: str, lines: list[Line]) -> None:
        await asyncio.to_thread(self._store.append, run, lines)
        self.wake(run)

    def wake(self, run: str) -> None:
        news = self._news.pop(run, None)
        if news is not None:
            news.set()

    def close(self) -> None:
        """Nobody is told anything more."""
        if self._looking is not None:
            self._looking.cancel()

    async def ended(self, run: str) -> None:
        """Wait for the end of a run."""
        async for _ in self.follow(run, _NO_EVENT_IS_BEHIND):
            pass

    async def follow(self, run: str, after: int = 0) -> AsyncGenerator[Line, None]:
        """Every event behind ``after``; it ends when the run has ended and all was told."""
        self._followed[run] += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.ensure_future(self._look())
        try:
            while True:
                news = self._news[run]
                ended = (await asyncio.to_thread(self._store.run, run)).ended
                lines = await asyncio.to_thread(self._store.read, run, after, PAGE)
                for line in lines:
                    after = line.seq
                    yield line
                if len(lines) == PAGE:
                    continue
                if ended:
                    return
                await news.wait()
        finally:
            self._followed[run] -= 1
            if not self._followed[run]:
                del self._followed[run]
                self._news.pop(run, None)

    async def _look(self) -> None:
        """Wake the followers of every run that has moved, until nobody follows any more."""
        known: dict[str, tuple[str, int]] = {}
        while self._followed:
            await asyncio.sleep(POLL)
            try:
                heads = await asyncio.to_thread(self._store.heads, list(self._followed))
            except Exception:  # The database may be away for a while; followers wait.
                log.warning("The database did not answer when looking for events", exc_info=True)
                continue
            for run, head in heads.items():
                if known.get(run) != head:
                    self.wake(run)
            known = heads


async def quiet(items: AsyncIterator[T], silence: float) -> AsyncGenerator[T | None, None]:
    """The items, and ``None`` after every ``silence`` seconds in which none came."""
    waiting = asyncio.ensure_future(anext(items, None))
    try:
        while True:
            done, _ = await asyncio.wait([waiting], timeout=silence)
            if not done:
                yield None
                continue
            item = waiting.result()
            if item is None:
                return
            yield item
            waiting = asyncio.ensure_future(anext(items, None))
    finally:
        waiting.cancel()
