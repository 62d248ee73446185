"""What a site lets robots read (RFC 9309), asked once a host."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from suffice import __version__
from suffice.errors import PageError, PageRefused
from suffice.search.pages import guard

if TYPE_CHECKING:
    import httpx2
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


USER_AGENT = f"suffice/{__version__}"
TIMEOUT_SECONDS = (
    12.0  # What a page has from the first byte sent to the last one read, redirects and robots rules included.
)
MAX_PAGE_BYTES = 10_000_000  # Bytes of a page, unpacked: a small answer can hide a large one.
MAX_REDIRECTS = 5
MAX_CACHE_BYTES = 200_000_000  # What the HTTP cache may hold on disk.
_READABLE_TYPES = (
    "text/html",
    "application/xhtml+xml",
    "application/pdf",
    "text/plain",
    "text/markdown",
    "text/x-rst",
    "",
)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """What came back, unpacked, and from where after all redirects. ``charset`` is the server's word, or empty."""

    url: str
    content_type: str
    charset: str
    body: bytes


class Fetcher:
    """Fetches pages through one client. ``folder`` is where answers are kept as long as their servers allow."""

    def __init__(
        self,
        allowed: guard.HostAllowlist,
        folder: Path | None = None,
        *,
        resolve: guard.Resolver = guard.system_resolve,
    ) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._folder = folder
        self._http_client: httpx2.AsyncClient | None = None
        self._rules = RobotsRules(self._fetch_robots)

    async def __call__(self, url: str) -> FetchedPage:
        """The page behind an address."""
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return await self._fetch_with_redirects(url)
        except TimeoutError:
            raise PageError(f"{_shorten_url(url)} took longer than {TIMEOUT_SECONDS:g} seconds") from None
        except (sqlite3.Error, RuntimeError) as error:
            if self._folder is None:
                raise PageError(f"{_shorten_url(url)} cannot be read: {error}") from error
            await self.aclose()
            self._folder = None  # A cache that does not work is done without.
            return await self(url)

    async def aclose(self) -> None:
        self._rules.clear()
        client, self._http_client = self._http_client, None
        if client is not None:
            await client.aclose()

    async def _fetch_with_redirects(self, url: str) -> FetchedPage:
        for _ in range(MAX_REDIRECTS + 1):
            if not await self._rules.is_allowed(str(guard.parse_url(url, self._allowed)), USER_AGENT):
                raise PageRefused(f"{_shorten_url(url)} may not be read: its site's robots.txt says so")
            async with self._open_response(url) as answer:
                if not answer.has_redirect_location:
                    return await self._read_page(answer)
                url = guard.resolve_redirect(answer.url, answer.headers["location"])
        raise PageError(f"{_shorten_url(url)}: more than {MAX_REDIRECTS} redirects")

    async def _read_page(self, answer: "httpx2.Response") -> FetchedPage:
        url = str(answer.url)
        if answer.status_code != 200:
            retryable = answer.status_code == 429 or answer.status_code >= 500
            raise PageError(f"{_shorten_url(url)} answered with HTTP {answer.status_code}", retryable=retryable)
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in _READABLE_TYPES:
            raise PageRefused(f"{_shorten_url(url)} is {kind[:60]}, which is not read as a page")
        return FetchedPage(url, kind, answer.charset_encoding or "", await _read_bounded(answer, MAX_PAGE_BYTES))

    async def _fetch_robots(self, url: str) -> tuple[int, str]:
        """Status and text of a robots.txt, redirects followed."""
        for _ in range(MAX_REDIRECTS + 1):
            guard.parse_url(url, self._allowed)
            async with self._open_response(url) as answer:
                if not answer.has_redirect_location:
                    body = await _read_bounded(answer, MAX_ROBOTS_BYTES, cut=True)
                    return answer.status_code, body.decode("utf-8", "replace")
                url = guard.resolve_redirect(answer.url, answer.headers["location"])
        return 404, ""

    @asynccontextmanager
    async def _open_response(self, url: str) -> "AsyncIterator[httpx2.Response]":
        import httpx2

        try:
            async with self._get_client().stream("GET", url) as answer:
                yield answer
        except httpx2.TimeoutException as error:
            raise PageError(f"{_shorten_url(url)} did not answer in time", retryable=True) from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
            raise PageRefused(f"{_shorten_url(url)} is no address of a page: {error}") from error
        except httpx2.RemoteProtocolError as error:
            kind = PageRefused if "location header" in str(error) else PageError  # It leads nowhere that can be named.
            raise kind(f"{_shorten_url(url)} cannot be read: {error}") from error
        except httpx2.DecodingError as error:
            raise PageError(f"{_shorten_url(url)} cannot be unpacked: {error}") from error
        except httpx2.HTTPError as error:
            raise PageError(
                f"{_shorten_url(url)} cannot be read: {error or type(error).__name__}", retryable=True
            ) from error

    def _get_client(self) -> "httpx2.AsyncClient":
        if self._http_client is None:
            self._http_client = guard.make_client(
                self._allowed,
                resolve=self._resolve,
                wrap_transport=self._wrap_with_cache,
                headers={"User-Agent": USER_AGENT, "Accept": "text/html, application/pdf, text/plain;q=0.9, */*;q=0.1"},
                timeout=TIMEOUT_SECONDS,
            )
        return self._http_client

    def _wrap_with_cache(self, transport: Any) -> Any:
        """The transport behind an HTTP cache that keeps to what servers allow (RFC 9111)."""
        if self._folder is None:
            return transport
        from hishel import AsyncSqliteStorage
        from hishel.httpx2 import AsyncCacheTransport

        self._folder.mkdir(parents=True, exist_ok=True)
        storage = AsyncSqliteStorage(
            database_path=self._folder / "http.db", max_stream_size=MAX_PAGE_BYTES, max_size=MAX_CACHE_BYTES
        )
        return AsyncCacheTransport(transport, storage, rfc={"shared": False})


async def _read_bounded(answer: "httpx2.Response", largest: int, *, cut: bool = False) -> bytes:
    body = bytearray()
    if not cut and _get_content_length(answer) > largest:
        raise PageError(f"{_shorten_url(str(answer.url))} is larger than {largest // 1_000_000} MB")
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > largest:
            if cut:
                return bytes(body[:largest])
            raise PageError(f"{_shorten_url(str(answer.url))} is larger than {largest // 1_000_000} MB when unpacked")
    return bytes(body)


def _get_content_length(answer: "httpx2.Response") -> int:
    said = answer.headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdecimal() else 0


def _shorten_url(url: str) -> str:
    return url if len(url) <= 160 else url[:159] + "…"
