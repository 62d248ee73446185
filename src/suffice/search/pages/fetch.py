"""Fetch web pages through the guard: robots.txt, redirects, time and size limits.

``guard`` decides which addresses may be reached; ``extract`` turns a fetched page into text.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

import httpx2
from protego import Protego

from suffice.errors import PageError, PageRefused
from suffice.search.pages import guard
from suffice.search.urls import shorten_url
from suffice.search.web.http import USER_AGENT, read_bounded

T = TypeVar("T")

TIMEOUT_SECONDS = 12.0  # For one page, including redirects and robots.txt.
MAX_PAGE_BYTES = 10_000_000  # Unpacked: a small response can unpack to a large one.
MAX_ROBOTS_BYTES = 500_000  # The rest of a robots.txt is ignored.
MAX_REDIRECTS = 5
# A page without a type is read too.
_READABLE_TYPES = ("", *"text/html application/xhtml+xml application/pdf text/plain text/markdown text/x-rst".split())


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A fetched page: its URL after redirects and its unpacked body. ``charset`` is what the server declares, or empty."""

    url: str
    content_type: str
    charset: str
    body: bytes


class Fetcher:
    def __init__(self, allowed: guard.HostAllowlist, *, resolve: guard.Resolver = guard.system_resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._http_client: httpx2.AsyncClient | None = None
        self._rules_by_site: dict[str, asyncio.Future[Protego | None]] = {}

    async def __call__(self, url: str) -> FetchedPage:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return await self._follow(url, self._read_page, is_page=True)
        except TimeoutError:
            raise PageError(f"{shorten_url(url)} took longer than {TIMEOUT_SECONDS:g} seconds") from None

    async def aclose(self) -> None:
        for request in self._rules_by_site.values():
            request.cancel()
        self._rules_by_site.clear()
        client, self._http_client = self._http_client, None
        if client is not None:
            await client.aclose()

    async def _follow(self, url: str, read: Callable[[httpx2.Response], Awaitable[T]], *, is_page: bool) -> T:
        """Follow redirects and return what ``read`` makes of the last answer; a page must be allowed by robots.txt."""
        for _ in range(MAX_REDIRECTS + 1):
            checked = str(guard.parse_url(url, self._allowed))
            if is_page and not await self._is_allowed(checked):
                raise PageRefused(f"{shorten_url(url)} may not be read: the robots.txt of its site forbids it")
            async with self._open_response(url) as response:
                if not response.has_redirect_location:
                    return await read(response)
                url = str(response.url.join(response.headers["location"]))
        raise PageError(f"{shorten_url(url)}: more than {MAX_REDIRECTS} redirects")

    async def _read_page(self, response: httpx2.Response) -> FetchedPage:
        url = str(response.url)
        if response.status_code != 200:
            retryable = response.status_code == 429 or response.status_code >= 500
            raise PageError(f"{shorten_url(url)} answered with HTTP {response.status_code}", retryable=retryable)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in _READABLE_TYPES:
            raise PageRefused(f"{shorten_url(url)} has the type {kind[:60]}, which cannot be read as a page")
        body = await read_bounded(response, MAX_PAGE_BYTES)
        if len(body) > MAX_PAGE_BYTES:
            raise PageError(f"{shorten_url(url)} is larger than {MAX_PAGE_BYTES // 1_000_000} MB")
        return FetchedPage(url, kind, response.charset_encoding or "", body)

    async def _is_allowed(self, url: str) -> bool:
        """Whether the site's robots.txt (RFC 9309), which is fetched once, allows the page. Without one it does."""
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._rules_by_site:
            self._rules_by_site[site] = asyncio.ensure_future(self._fetch_rules(site))
        try:
            rules = await asyncio.shield(self._rules_by_site[site])
        except PageError:
            self._rules_by_site.pop(site, None)
            raise
        return rules is None or bool(rules.can_fetch(url, USER_AGENT.partition("/")[0]))

    async def _fetch_rules(self, site: str) -> Protego | None:
        try:
            status, text = await self._follow(f"{site}/robots.txt", _read_robots, is_page=False)
        except PageRefused:
            raise
        except PageError as error:
            raise PageError(f"the robots.txt of {site} cannot be read: {error}", retryable=True) from error
        if status >= 500 or status == 429:
            raise PageError(f"the robots.txt of {site} cannot be read: HTTP {status}")
        return Protego.parse(text) if status == 200 else None

    @asynccontextmanager
    async def _open_response(self, url: str) -> AsyncIterator[httpx2.Response]:
        shown = shorten_url(url)
        try:
            async with self._get_client().stream("GET", url) as response:
                yield response
        except httpx2.TimeoutException as error:
            raise PageError(f"{shown} did not answer in time", retryable=True) from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, ValueError) as error:
            raise PageRefused(f"{shown} is not the URL of a page: {error}") from error
        except httpx2.RemoteProtocolError as error:
            kind = PageRefused if "location header" in str(error) else PageError  # The redirect has no valid target.
            raise kind(f"{shown} cannot be read: {error}") from error
        except httpx2.DecodingError as error:
            raise PageError(f"{shown} cannot be unpacked: {error}") from error
        except httpx2.HTTPError as error:
            raise PageError(f"{shown} cannot be read: {error or type(error).__name__}", retryable=True) from error

    def _get_client(self) -> httpx2.AsyncClient:
        if self._http_client is None:
            self._http_client = guard.make_client(
                self._allowed,
                resolve=self._resolve,
                headers={"User-Agent": USER_AGENT, "Accept": "text/html, application/pdf, text/plain;q=0.9, */*;q=0.1"},
                timeout=TIMEOUT_SECONDS,
            )
        return self._http_client


async def _read_robots(response: httpx2.Response) -> tuple[int, str]:
    """Return the status and the text of a robots.txt."""
    body = await read_bounded(response, MAX_ROBOTS_BYTES)
    return response.status_code, body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace")
