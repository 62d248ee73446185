"""Read the whole pages that a round's results link to: those whose snippets seem to say something new.

Pages are read at the same time. If a page cannot be read, the next result takes its place.
"""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress

from suffice.errors import PageError
from suffice.search.base import Page, PageBatch
from suffice.search.pages.extract import extract_isolated
from suffice.search.pages.fetch import Fetcher
from suffice.search.pages.guard import HostAllowlist
from suffice.search.urls import canonicalize_url
from suffice.text.tokens import tokenize
from suffice.types import Failure, Passage, Place

MAX_PAGES = 2  # Pages read in a run (value of the source system, see docs/sources.md).
MAX_PAGE_CHARS = 8_000  # Characters used of each page.
# A result with a greater share of known words is not read (value of the source system, see docs/sources.md).
MAX_KNOWN_SHARE = 0.6
TIMEOUT_SECONDS = 20.0  # For all pages of a round together.
MAX_ATTEMPTS = 8  # Pages tried in a round, so that a search full of dead links does not delay the run.


class PageReader:
    """Reads web pages for one run: each at most once, ``max_pages`` in all. A page that failed does not count."""

    def __init__(self, fetch: Fetcher, max_pages: int = MAX_PAGES) -> None:
        self._fetch = fetch
        self._tried: set[str] = set()
        self._pages_left = max_pages

    @classmethod
    def open(cls, allow_hosts: str) -> "PageReader":
        return cls(Fetcher(HostAllowlist.parse(allow_hosts.split(","))))

    async def __call__(self, found: Sequence[Passage], known: str, seconds: float | None = None) -> PageBatch:
        """Read the pages of the first results that say something new, in the order of the results."""
        waiting = self._select_unread(found, set(tokenize(known)))[:MAX_ATTEMPTS]
        outcomes: dict[str, Page | Failure] = {}  # By URL, in the order in which the reading began.

        async def read_one() -> None:
            while waiting:
                passage = waiting.pop(0)
                url = passage.url or ""
                self._tried.add(_get_page(url))
                message = f"{passage.location} could not be read in time"
                outcomes[url] = Failure("page", "TimeoutError", message)  # Until the page is there.
                try:
                    outcomes[url] = await self.read(url)
                    return
                except PageError as error:
                    outcomes[url] = Failure("page", type(error).__name__, str(error), error.retryable)

        with suppress(TimeoutError):
            async with asyncio.timeout(min(TIMEOUT_SECONDS, TIMEOUT_SECONDS if seconds is None else seconds)):
                await asyncio.gather(*(read_one() for _ in range(self._pages_left)))
        pages = tuple(outcome for outcome in outcomes.values() if isinstance(outcome, Page))
        self._pages_left -= len(pages)
        return PageBatch(pages, tuple(outcome for outcome in outcomes.values() if isinstance(outcome, Failure)))

    async def read(self, url: str) -> Page:
        fetched = await self._fetch(url)
        text = await extract_isolated(fetched, MAX_PAGE_CHARS)
        id = canonicalize_url(fetched.url) or fetched.url
        title = text.title or fetched.url
        passages = tuple(
            Passage(f"{id}#{number}", part, title, Place(part_url), text.kind)
            for number, (part, part_url) in enumerate(text.parts, 1)
        )
        return Page(fetched.url, title, passages)

    async def aclose(self) -> None:
        await self._fetch.aclose()

    def _select_unread(self, found: Sequence[Passage], known: Collection[str]) -> list[Passage]:
        selected: dict[str, Passage] = {}
        for passage in found:
            words = set(tokenize(passage.text))
            known_share = len(words.intersection(known)) / len(words) if words else 0.0
            if passage.url and known_share <= MAX_KNOWN_SHARE and _get_page(passage.url) not in self._tried:
                selected.setdefault(_get_page(passage.url), passage)
        return list(selected.values())


def _get_page(url: str) -> str:
    """Return what identifies the page, whichever of its texts a search returned."""
    return canonicalize_url(url) or url
