"""Remove prompt injections from search results and from pages, report each removal as an event, and tell apart the texts of one
page."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace

from suffice.events import Event, InjectionsStripped, PageRead
from suffice.screening.filter import remove_injected_lines
from suffice.search.base import Reader, Search
from suffice.search.resilience import FailureListener, make_resilient
from suffice.search.urls import canonicalize_url
from suffice.text.plain import count
from suffice.types import Failure, Note, Passage, Query, Round

_DIGEST_CHARS = 12


class InjectionFilter:
    """Wraps a search and removes prompt injections from its passages. ``emit`` receives one event for each changed passage."""

    def __init__(self, search: Search, emit: Callable[[InjectionsStripped], None]) -> None:
        self._search = search
        self._emit = emit
        self._screened: dict[str, Passage] = {}

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        found, removals = await self._search(query, k), list[InjectionsStripped]()
        # In a thread: a broad question reads thousands of passages.
        screened = await asyncio.to_thread(lambda: [self._screen_once(passage, removals.append) for passage in found])
        for removal in removals:
            self._emit(removal)
        return screened

    def with_failure_listener(self, on_failure: FailureListener) -> "InjectionFilter":
        """Return a filter around the same search, made resilient."""
        return InjectionFilter(make_resilient(self._search, on_failure), self._emit)

    def _screen_once(self, passage: Passage, emit: Callable[[InjectionsStripped], None]) -> Passage:
        """Screen a passage the first time it is found; the same passage comes back round after round."""
        screened = self._screened.get(passage.id)
        if screened is None:
            screened = self._screened[passage.id] = strip_injections(passage, emit)
        return replace(screened, score=passage.score)


def strip_injections(passage: Passage, emit: Callable[[InjectionsStripped], None]) -> Passage:
    """Return the passage without prompt injections in its text and title."""
    text, removed = remove_injected_lines(passage.text)
    title, removed_from_title = remove_injected_lines(passage.title)
    if not removed and not removed_from_title:
        return passage
    emit(InjectionsStripped(passage.id, passage.location, (*removed, *removed_from_title)))
    return replace(passage, text=text, title=title.strip() or passage.location)


def identify_text(passage: Passage) -> Passage:
    """Return a result of the web with an id of its own, by its text; spaces and the dots around a cut snippet do not count.

    A service names a result by its URL, but the snippet depends on the query. With the URL as its id, a new snippet of a known
    page would look like one that was seen before.
    """
    if passage.url is None or passage.id != canonicalize_url(passage.url):
        return passage
    text = " ".join(passage.text.split()).strip(" .…")
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGEST_CHARS]
    return replace(passage, id=f"{passage.id}#text={digest}")


def describe_removal(event: InjectionsStripped) -> str:
    """Return one sentence for the user about lines that were removed."""
    return f"Removed {count(len(event.lines), 'line')} of {event.location} that gave orders to a language model."


async def expand_with_pages(
    page_reader: Reader,
    round: Round,
    known: Iterable[Note],
    seconds: float | None,
    emit: Callable[[Event], None],
    on_failure: Callable[[Failure], None],
) -> tuple[list[Passage], int]:
    """Read pages that a round's new results link to; return their screened passages and the number of pages.

    ``known`` is what was known before the round: pages that seem to repeat it are not read.
    """
    batch = await page_reader(round.new, "\n".join(f"{note.title}\n{note.text}" for note in known), seconds)
    for failure in batch.failures:
        on_failure(failure)
    passages: dict[str, Passage] = {}
    for page in batch.pages:
        emit(PageRead(page.url, page.title, len(page.passages)))
        for passage in page.passages:
            passages[passage.id] = strip_injections(passage, emit)
    return [passage for passage in passages.values() if passage.text.strip()], len(batch.pages)
