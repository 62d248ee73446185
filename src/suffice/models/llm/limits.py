"""How many calls a provider gets at a time and a minute, over all models and runs of this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from suffice.models.llm.endpoint import Endpoint

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

# Limits are bound to the event loop they wait in, and shared by everything in it that talks to the same host.
_semaphores: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, int], asyncio.Semaphore]] = (
    WeakKeyDictionary()
)
_rate_limiters: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, float], AsyncLimiter]]" = (
    WeakKeyDictionary()
)


@asynccontextmanager
async def rate_limit(endpoint: Endpoint) -> AsyncIterator[None]:
    """Waits until a call may be made."""
    loop = asyncio.get_running_loop()
    calls = _semaphores.setdefault(loop, {})
    async with AsyncExitStack() as held:
        await held.enter_async_context(
            calls.setdefault((endpoint.host, endpoint.max_concurrency), asyncio.Semaphore(endpoint.max_concurrency))
        )
        if endpoint.per_minute is not None:
            await _get_rate_limiter(loop, endpoint.host, endpoint.per_minute).acquire()
        yield


def _get_rate_limiter(loop: asyncio.AbstractEventLoop, host: str, per_minute: float) -> "AsyncLimiter":
    from aiolimiter import AsyncLimiter

    rates = _rate_limiters.setdefault(loop, {})
    return rates.setdefault((host, per_minute), AsyncLimiter(per_minute, 60))
