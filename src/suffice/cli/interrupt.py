"""Ctrl-C, once and for all commands: the first one cancels the work and lets it close its books, the second ends it."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from suffice.errors import EXIT_INTERRUPTED

T = TypeVar("T")


def run_interruptible(work: Coroutine[Any, Any, T]) -> T | None:
    """Run to the end; ``None`` when it was interrupted before it had a result."""

    async def main() -> T | None:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(work)

        def interrupt() -> None:
            loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, lambda *_: os._exit(EXIT_INTERRUPTED))
            task.cancel()

        loop.add_signal_handler(signal.SIGINT, interrupt)
        try:
            return await task
        except asyncio.CancelledError:
            return None

    # Not asyncio.run: it would wait for threads (embedding, a read from standard input) that nobody waits for any more.
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(main())
    finally:
        for left in asyncio.all_tasks(loop):
            left.cancel()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
