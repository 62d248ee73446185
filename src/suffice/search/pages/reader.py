"""Whole pages behind a round's results: those whose snippets promise something new, read at the same time (S2).

A page that cannot be read costs nothing but its attempt: the next result takes its place.
"""

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path

from suffice.errors import PageError
from suffice.search.base import Page, PageBatch
from suffice.search.pages.extract import extract_page
from suffice.search.pages.fetch import Fetcher
from suffice.search.pages.guard import HostAllowlist
from suffice.search.web.provider import canonicalize_url
from suffice.text.tokens import tokenize
from suffice.types import Failure, Passage, Place

MAX_PAGES = 2  # Whole pages a round (S2) …
MAX_PAGE_CHARS = 8_000  # … and what is kept of each.
MAX_KNOWN_SHARE = 0.6  # A result whose words are known to a greater share than this is not worth its page (S2).
TIMEOUT_SECONDS = 20.0  # What all pages of a round have together.
MAX_ATTEMPTS = 8  # Pages tried a round: a search full of dead links does not hold up the run.


class PageReader:
    """Reads each page once a run."""

    def __init__(self, fetch: Fetcher) -> None:
        self._fetch = fetch
        self._tried: set[str] = set()

    @classmethod
    def open(cls, allow_hosts: str, cache_dir: Path) -> "PageReader":
        return cls(Fetcher(HostAllowlist.parse(allow_hosts.split(",")), cache_dir / "pages"))

    async def __call__(self, found: Sequence[Passage], known: str, seconds: float | None = None) -> PageBatch:
        """The pages of the first new results that can be read, in the order of the results."""
        waiting = self._select_unread(found, set(tokenize(known)))[:MAX_ATTEMPTS]
        order = {passage.id: place for place, passage in enumerate(waiting)}
        running: dict[asyncio.Task[Page | Failure], Passage] = {}
        pages: dict[int, Page] = {}
        failures: dict[int, Failure] = {}
        try:
            async with asyncio.timeout(min(TIMEOUT_SECONDS, TIMEOUT_SECONDS if seconds is None else seconds)):
                while (waiting or running) and len(pages) < MAX_PAGES:
                    while waiting and len(running) + len(pages) < MAX_PAGES:
                        passage = waiting.pop(0)
                        running[asyncio.create_task(self._try_read(passage))] = passage
                    done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        place, outcome = order[running.pop(task).id], task.result()
                        if isinstance(outcome, Failure):
                            failures[place] = outcome
                        else:
                            pages[place] = outcome
        except TimeoutError:
            late = "was not read in the time there was"
            for one in running.values():
                failures[order[one.id]] = Failure("page", "TimeoutError", f"{one.location} {late}")
        finally:
            for task in running:
                task.cancel()
        return PageBatch(
            tuple(pages[place] for place in sorted(pages)), tuple(failures[place] for place in sorted(failures))
        )

    async def read(self, url: str) -> Page:
        """One page as passages: its address, its title, and stretches of its text."""
        fetched = await self._fetch(url)
        text = await asyncio.to_thread(extract_page, fetched, MAX_PAGE_CHARS)
        name = canonicalize_url(fetched.url) or fetched.url
        title = text.title or fetched.url
        passages = tuple(
            Passage(f"{name}#{number}", part, title, Place(place), text.kind)
            for number, (part, place) in enumerate(text.parts, 1)
        )
        return Page(fetched.url, title, passages)

    async def aclose(self) -> None:
        await self._fetch.aclose()

    def _select_unread(self, found: Sequence[Passage], known: Collection[str]) -> list[Passage]:
        chosen = []
        for passage in found:
            own = set(tokenize(passage.text))
            overlap = len(own.intersection(known)) / len(own) if own else 0.0
            if passage.url and passage.id not in self._tried and overlap <= MAX_KNOWN_SHARE:
                chosen.append(passage)
        return chosen

    async def _try_read(self, passage: Passage) -> Page | Failure:
        assert passage.url is not None
        self._tried.add(passage.id)
        try:
            return await self.read(passage.url)
        except PageError as error:
            return Failure("page", type(error).__name__, str(error), error.retryable)
