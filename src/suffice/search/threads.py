"""Work in a thread that stops soon after its caller was cancelled."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class WorkCancelled(Exception):
    """Ends the work in the thread when its caller was cancelled; the result is not needed any more."""


async def run_in_thread(work: Callable[[Callable[[], None]], T]) -> T:
    """Run in a thread, to keep the event loop free. If the caller is cancelled, the work stops at its next check."""
    cancelled = threading.Event()

    def check_cancelled() -> None:
        if cancelled.is_set():
            raise WorkCancelled

    try:
        return await asyncio.to_thread(work, check_cancelled)
    except asyncio.CancelledError:
        cancelled.set()
        raise
