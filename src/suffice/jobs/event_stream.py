"""Numbers for the events of a run, the same ones whenever the run is gone through again.

Lasting events are ``APART`` apart. The pieces of a draft stand between them: they come only while it is being written, not when
it is taken from the journal, so they may not shift the others. If the writing begins again after a crash, its pieces go behind
those that are there, after an empty one that says so.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import TypeVar

from suffice.events import Drafting, Event
from suffice.jobs.store import RunStore, StoredEvent

EVENT_STRIDE = 1000


class EventNumbering:
    """``last`` is the last number that is kept of the run; 0: none."""

    def __init__(self, last: int) -> None:
        self._last = last
        self._current = 0

    def assign(self, event: Event) -> Iterator[tuple[int, Event]]:
        """The event with its number; a piece of a draft that is longer than any page has none and is left out."""
        if not isinstance(event, Drafting):
            self._current = (self._current // EVENT_STRIDE + 1) * EVENT_STRIDE
            yield self._current, event
            return
        if self._current < self._last < self._current // EVENT_STRIDE * EVENT_STRIDE + EVENT_STRIDE:
            self._current = self._last
            yield from self._assign_draft(Drafting("", event.section))
        yield from self._assign_draft(event)

    def _assign_draft(self, event: Drafting) -> Iterator[tuple[int, Event]]:
        if (self._current + 1) % EVENT_STRIDE:
            self._current += 1
            yield self._current, event


def count_lasting_events(number: int) -> int:
    """How many lasting events there are up to this number."""
    return number // EVENT_STRIDE


T = TypeVar("T")
log = logging.getLogger(__name__)

POLL_SECONDS = 0.3  # Seconds between looks at the database for a run that another process works on.
PAGE_SIZE = 100
_AFTER_LAST_EVENT = 2**31 - 1


class EventStream:
    """Whoever appends here wakes whoever follows here. For runs that other processes work on, one look at the database serves
    all followers."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._follower_counts: Counter[str] = Counter()
        self._wakeups: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._poll_task: asyncio.Task[None] | None = None

    async def append(self, run: str, lines: list[StoredEvent]) -> None:
        await asyncio.to_thread(self._store.append_events, run, lines)
        self.notify(run)

    def notify(self, run: str) -> None:
        news = self._wakeups.pop(run, None)
        if news is not None:
            news.set()

    def close(self) -> None:
        """Nobody is told anything more."""
        if self._poll_task is not None:
            self._poll_task.cancel()

    async def wait_until_ended(self, run: str) -> None:
        """Wait for the end of a run."""
        async for _ in self.follow(run, _AFTER_LAST_EVENT):
            pass

    async def follow(self, run: str, after: int = 0) -> AsyncGenerator[StoredEvent, None]:
        """Every event behind ``after``; it ends when the run has ended and all was told."""
        self._follower_counts[run] += 1
        if self._poll_task is None or self._poll_task.done():
            self._poll_task = asyncio.ensure_future(self._poll())
        try:
            while True:
                news = self._wakeups[run]
                ended = (await asyncio.to_thread(self._store.get, run)).has_ended
                lines = await asyncio.to_thread(self._store.read_events, run, after, PAGE_SIZE)
                for line in lines:
                    after = line.seq
                    yield line
                if len(lines) == PAGE_SIZE:
                    continue
                if ended:
                    return
                await news.wait()
        finally:
            self._follower_counts[run] -= 1
            if not self._follower_counts[run]:
                del self._follower_counts[run]
                self._wakeups.pop(run, None)

    async def _poll(self) -> None:
        """Wake the followers of every run that has moved, until nobody follows any more."""
        known: dict[str, tuple[str, int]] = {}
        while self._follower_counts:
            await asyncio.sleep(POLL_SECONDS)
            try:
                heads = await asyncio.to_thread(self._store.latest_positions, list(self._follower_counts))
            except Exception:  # The database may be away for a while; followers wait.
                log.warning("The database did not answer when looking for events", exc_info=True)
                continue
            for run, head in heads.items():
                if known.get(run) != head:
                    self.notify(run)
            known = heads


async def with_keepalive(items: AsyncIterator[T], interval: float) -> AsyncGenerator[T | None, None]:
    """The items, and ``None`` after every ``silence`` seconds in which none came."""
    waiting = asyncio.ensure_future(anext(items, None))
    try:
        while True:
            done, _ = await asyncio.wait([waiting], timeout=interval)
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
