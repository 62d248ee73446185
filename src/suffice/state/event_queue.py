"""What happens inside a run between two of its steps: failures, cut prompts, and a draft while it is being written."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from suffice.events import Drafting, Event
from suffice.models.base import text_listener
from suffice.prompts import Draft, Prompt

MIN_CHUNK_CHARS = 80  # Characters. A provider sends a few letters at a time; an event for each would only be noise.


class EventQueue:
    """Events that wait to be passed on."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._event_added = asyncio.Event()

    def add(self, event: Event) -> None:
        self._events.append(event)
        self._event_added.set()

    def drain(self) -> list[Event]:
        """What has happened since the last call."""
        events, self._events = self._events, []
        return events

    async def drain_while(self, work: "asyncio.Future[Any]") -> AsyncGenerator[Event, None]:
        """What happens while something is being worked on, as it happens. Who stops listening stops the work."""
        try:
            while not work.done():
                self._event_added.clear()
                for event in self.drain():
                    yield event
                waiting = asyncio.ensure_future(self._event_added.wait())
                await asyncio.wait((work, waiting), return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
            for event in self.drain():
                yield event
        finally:
            work.cancel()
            await asyncio.wait((work,))


@contextmanager
def stream_draft(prompt: Prompt[Any], emit: Callable[[Event], None]) -> Iterator[None]:
    """While a draft is asked for, what is written of it is told. Other asks are nobody's business."""
    if not isinstance(prompt, Draft):
        yield
        return
    held: list[str] = []

    def flush() -> None:
        if held:
            emit(Drafting("".join(held), prompt.section))
            held.clear()

    def hear(piece: str) -> None:
        if not piece:  # It begins again.
            held.clear()
            emit(Drafting("", prompt.section))
            return
        held.append(piece)
        if "\n" in piece or sum(map(len, held)) >= MIN_CHUNK_CHARS:
            flush()

    before = text_listener.set(hear)
    try:
        yield
    finally:
        text_listener.reset(before)
        flush()
