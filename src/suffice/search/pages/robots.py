"""What a site lets robots read (RFC 9309), asked once a host."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from suffice.errors import PageError, PageRefused

if TYPE_CHECKING:
    from protego import Protego

MAX_ROBOTS_BYTES = 500_000  # Bytes of a robots.txt that are looked at.

RobotsFetcher = Callable[[str], Awaitable[tuple[int, str]]]


class RobotsRules:
    """``fetch`` gives status and text of a robots.txt."""

    def __init__(self, fetch: RobotsFetcher) -> None:
        self._fetch = fetch
        self._rules_by_site: dict[str, asyncio.Future[Any]] = {}

    async def is_allowed(self, url: str, agent: str) -> bool:
        """Whether the site lets this agent read the page. A site without rules does; one that cannot say does not."""
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._rules_by_site:
            self._rules_by_site[site] = asyncio.ensure_future(self._fetch_rules(site))
        try:
            rules = await asyncio.shield(self._rules_by_site[site])
        except PageError:
            self._rules_by_site.pop(site, None)
            raise
        if isinstance(rules, bool):
            return rules
        return bool(rules.can_fetch(url, agent.partition("/")[0]))

    def clear(self) -> None:
        """Ask nobody any longer."""
        for asked in self._rules_by_site.values():
            asked.cancel()
        self._rules_by_site.clear()

    async def _fetch_rules(self, site: str) -> "Protego | bool":
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
