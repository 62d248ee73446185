"""A search whose passages do not address the model: such lines are cut out where retrieved text comes in, and reported."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from suffice.events import Event, InjectionsStripped, PageRead
from suffice.screening.filter import remove_injected_lines
from suffice.search.base import Reader, Search
from suffice.types import Failure, Note, Passage, Query, Round


class InjectionFilter:
    """A Search over a Search. ``tell`` hears once of every passage that lost something."""

    def __init__(self, search: Search, tell: Callable[[Event], None]) -> None:
        self._search = search
        self._tell = tell
        self._seen: dict[str, Passage] = {}

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        return [self._screen_once(passage) for passage in await self._search(query, k)]

    def _screen_once(self, passage: Passage) -> Passage:
        """The same passage comes back round after round: it is looked at once."""
        known = self._seen.get(passage.id)
        if known is None:
            known = self._seen[passage.id] = strip_injections(passage, self._tell)
        return replace(known, score=passage.score)


def strip_injections(passage: Passage, tell: Callable[[Event], None]) -> Passage:
    """The passage without what addresses a model; ``tell`` hears what that was."""
    text, removed = remove_injected_lines(passage.text)
    title, from_title = remove_injected_lines(passage.title)
    if not removed and not from_title:
        return passage
    tell(InjectionsStripped(passage.id, passage.location, (*removed, *from_title)))
    return replace(passage, text=text, title=title.strip() or passage.location)


async def expand_with_pages(
    reader: Reader,
    round: Round,
    known: Iterable[Note],
    seconds: float | None,
    tell: Callable[[Event], None],
    fail: Callable[[Failure], None],
) -> tuple[list[Passage], int]:
    """Passages of pages that say more than what was ``known`` before the round, and of how many pages they are."""
    read = await reader(round.new, "\n".join(f"{note.title}\n{note.text}" for note in known), seconds)
    for failure in read.failures:
        fail(failure)
    passages: dict[str, Passage] = {}
    for page in read.pages:
        tell(PageRead(page.url, page.title, len(page.passages)))
        for passage in page.passages:
            passages[passage.id] = strip_injections(passage, tell)
    return [passage for passage in passages.values() if passage.text.strip()], len(read.pages)
