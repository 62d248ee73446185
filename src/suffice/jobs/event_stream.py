"""The numbered events of a run: how they are numbered, stored and followed.

A resumed run goes through its events again, and each must get the number it had before. Lasting events are therefore
``EVENT_STRIDE`` apart, and the pieces of a draft get the numbers between them: they occur only while the draft is written,
not when it comes from the journal. If writing starts again after a crash, the new pieces follow those that are stored, after
an empty piece that marks the new start.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Iterator

from suffice.events import Drafting, Event
from suffice.jobs.store import RunStore, StoredEvent

EVENT_STRIDE = 1000  # Distance between the numbers of two lasting events.
POLL_SECONDS = 0.3  # Seconds between two polls for runs of other processes.
PAGE_SIZE = 100  # Events that are read from the database at a time.
_AFTER_LAST_EVENT = 2**31 - 1

log = logging.getLogger(__name__)


class EventNumbering:
    """Numbers the events of one run. ``last`` is the largest number stored so far, 0 without any."""

    def __init__(self, last: int) -> None:
        self._last = last
        self._current = 0

    def assign(self, event: Event) -> Iterator[tuple[int, Event]]:
        """Yield the event with its number. Pieces of a draft beyond ``EVENT_STRIDE`` get no number and are left out."""
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
    """Return how many lasting events there are up to a number."""
    return number // EVENT_STRIDE


class EventStream:
    """Stores events and wakes the followers of their run.

    Followers of runs in other processes are woken by one poll of the database that serves them all.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._follower_counts: Counter[str] = Counter()
        self._wakeups: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._poll_task: asyncio.Task[None] | None = None

    async def append(self, run_id: str, events: list[StoredEvent]) -> None:
        """Store events and wake the followers of the run."""
        await asyncio.to_thread(self._store.append_events, run_id, events)
        self.notify(run_id)

    def notify(self, run_id: str) -> None:
        """Wake the followers of a run."""
        wakeup = self._wakeups.pop(run_id, None)
        if wakeup is not None:
            wakeup.set()

    def close(self) -> None:
        """Stop polling."""
        if self._poll_task is not None:
            self._poll_task.cancel()

    async def wait_until_ended(self, run_id: str) -> None:
        async for _ in self.follow(run_id, _AFTER_LAST_EVENT):
            pass

    async def follow(
        self, run_id: str, after: int = 0, keepalive: float | None = None
    ) -> AsyncGenerator[StoredEvent | None, None]:
        """Yield the events with a number greater than ``after``, as they arrive, until the run has ended.

        Yield ``None`` after every ``keepalive`` seconds without one.
        """
        self._follower_counts[run_id] += 1
        if self._poll_task is None or self._poll_task.done():
            self._poll_task = asyncio.ensure_future(self._poll())
        try:
            while True:
                wakeup = self._wakeups[run_id]
                try:
                    ended = (await asyncio.to_thread(self._store.get, run_id)).has_ended
                except KeyError:  # The run was deleted.
                    return
                events = await asyncio.to_thread(self._store.read_events, run_id, after, PAGE_SIZE)
                for event in events:
                    after = event.seq
                    yield event
                if len(events) == PAGE_SIZE:
                    continue
                if ended:
                    return
                try:
                    async with asyncio.timeout(keepalive):
                        await wakeup.wait()
                except TimeoutError:
                    yield None
        finally:
            self._follower_counts[run_id] -= 1
            if not self._follower_counts[run_id]:
                del self._follower_counts[run_id]
                self._wakeups.pop(run_id, None)

    async def _poll(self) -> None:
        """Wake the followers of every run that has new events, as long as there are followers."""
        known: dict[str, tuple[str, int]] = {}
        while self._follower_counts:
            await asyncio.sleep(POLL_SECONDS)
            try:
                positions = await asyncio.to_thread(self._store.latest_positions, list(self._follower_counts))
            except Exception:  # The database may be unavailable for a while; followers wait.
                log.warning("The database did not answer while polling for events", exc_info=True)
                continue
            for run_id, position in positions.items():
                if known.get(run_id) != position:
                    self.notify(run_id)
            known = positions
