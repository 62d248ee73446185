"""What happens inside a run between two of its steps: failures, cut prompts, and a draft while it is being written."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from suffice.asks import Ask, Draft
from suffice.events import Drafting, Event
from suffice.models.base import listening

PIECE = 80  # Characters. A provider sends a few letters at a time; an event for each would only be noise.


class Happenings:
    """Events that wait to be passed on."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._added = asyncio.Event()

    def add(self, event: Event) -> None:
        self._events.append(event)
        self._added.set()

    def take(self) -> list[Event]:
        """What has happened since the last call."""
        events, self._events = self._events, []
        return events

    async def during(self, work: "asyncio.Future[Any]") -> AsyncGenerator[Event, None]:
        """What happens while something is being worked on, as it happens. Who stops listening stops the work."""
        try:
            while not work.done():
                self._added.clear()
                for event in self.take():
                    yield event
                waiting = asyncio.ensure_future(self._added.wait())
                await asyncio.wait((work, waiting), return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
            for event in self.take():
                yield event
        finally:
            work.cancel()
            await asyncio.wait((work,))


@contextmanager
def overheard(ask: Ask[Any], tell: Callable[[Event], None]) -> Iterator[None]:
    """While a draft is asked for, what is written of it is told. Other asks are nobody's business."""
    if not isinstance(ask, Draft):
        yield
        return
    held: list[str] = []

    def flush() -> None:
        if held:
            tell(Drafting("".join(held), ask.section))
            held.clear()

    def hear(piece: str) -> None:
        if not piece:  # It begins again.
            held.clear()
            tell(Drafting("", ask.section))
            return
        held.append(piece)
        if "\n" in piece or sum(map(len, held)) >= PIECE:
            flush()

    before = listening.set(hear)
    try:
        yield
    finally:
        listening.reset(before)
        flush()
