"""The events of a run as they come, from any process: what is kept first, then what is added."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

from suffice.jobs.store import Line, Store

T = TypeVar("T")

POLL = 0.3  # Seconds between looks at the database for a run that another process works on.
PAGE = 100
_NO_EVENT_IS_BEHIND = 2**31 - 1


class Feed:
    """Whoever appends here wakes whoever follows here; followers of other processes' runs look for themselves."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._news: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def append(self, run: str, lines: list[Line]) -> None:
        await asyncio.to_thread(self._store.append, run, lines)
        self.wake(run)

    def wake(self, run: str) -> None:
        news = self._news.pop(run, None)
        if news is not None:
            news.set()

    async def ended(self, run: str) -> None:
        """Wait for the end of a run."""
        async for _ in self.follow(run, _NO_EVENT_IS_BEHIND):
            pass

    async def follow(self, run: str, after: int = 0) -> AsyncGenerator[Line, None]:
        """Every event behind ``after``; it ends when the run has ended and all was told."""
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
                self._news.pop(run, None)
                return
            try:
                async with asyncio.timeout(POLL):
                    await news.wait()
            except TimeoutError:
                continue


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
