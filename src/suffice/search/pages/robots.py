"""What a site lets robots read (RFC 9309), asked once a host."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from suffice.errors import PageError, PageRefused

if TYPE_CHECKING:
    from protego import Protego

LARGEST = 500_000  # Bytes of a robots.txt that are looked at.

Fetch = Callable[[str], Awaitable[tuple[int, str]]]


class Rules:
    """``fetch`` gives status and text of a robots.txt."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._known: dict[str, asyncio.Future[Any]] = {}

    async def allow(self, url: str, agent: str) -> bool:
        """Whether the site lets this agent read the page. A site without rules does; one that cannot say does not."""
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._known:
            self._known[site] = asyncio.ensure_future(self._rules(site))
        try:
            rules = await asyncio.shield(self._known[site])
        except PageError:
            self._known.pop(site, None)
            raise
        if isinstance(rules, bool):
            return rules
        return bool(rules.can_fetch(url, agent.partition("/")[0]))

    def forget(self) -> None:
        """Ask nobody any longer."""
        for asked in self._known.values():
            asked.cancel()
        self._known.clear()

    async def _rules(self, site: str) -> "Protego | bool":
        from protego import Protego

        try:
            status, text = await self._fetch(f"{site}/robots.txt")
        except PageRefused:
            raise
        except PageError as error:
            raise PageError(f"{site} does not say whether it may be read: {error}", retryable=True) from error
        if status >= 500 or status == 429:
            raise PageError(f"{site} does not say whether it may be read: its robots.txt answers HTTP {status}")
        return Protego.parse(text) if status == 200 else True
