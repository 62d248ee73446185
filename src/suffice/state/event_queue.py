"""Events that occur inside a step of a run and wait to be yielded: failures, shortened prompts, parts of a draft."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

from suffice.events import Event


class EventQueue:
    def __init__(self) -> None:
        self._events: list[Event] = []
        self._event_added = asyncio.Event()

    def add(self, event: Event) -> None:
        self._events.append(event)
        self._event_added.set()

    def drain(self) -> list[Event]:
        """Return the events added since the last call."""
        events, self._events = self._events, []
        return events

    async def drain_while(self, steps: Coroutine[Any, Any, None]) -> AsyncGenerator[Event, None]:
        """Yield events as they occur until the steps are done, or raise their error. Closing the generator cancels them."""
        work = asyncio.ensure_future(steps)
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
            work.result()
        finally:
            work.cancel()
            await asyncio.wait((work,))
