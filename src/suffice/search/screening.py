"""A search whose passages do not address the model: such lines are cut out where retrieved text comes in, and reported."""

from collections.abc import Callable
from dataclasses import replace

from suffice.events import Event, Screened
from suffice.search.base import Search
from suffice.text.injection import screen
from suffice.types import Passage, Query


class Screening:
    """A Search over a Search. ``tell`` hears once of every passage that lost something."""

    def __init__(self, search: Search, tell: Callable[[Event], None]) -> None:
        self._search = search
        self._tell = tell
        self._seen: dict[str, Passage] = {}

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        return [self._screened(passage) for passage in await self._search(query, k)]

    def _screened(self, passage: Passage) -> Passage:
        """The same passage comes back round after round: it is looked at once."""
        known = self._seen.get(passage.id)
        if known is None:
            known = self._seen[passage.id] = told(passage, self._tell)
        return replace(known, score=passage.score)


def told(passage: Passage, tell: Callable[[Event], None]) -> Passage:
    """The passage without what addresses a model; ``tell`` hears what that was."""
    text, removed = screen(passage.text)
    title, from_title = screen(passage.title)
    if not removed and not from_title:
        return passage
    tell(Screened(passage.id, passage.location, (*removed, *from_title)))
    return replace(passage, text=text, title=title.strip() or passage.location)
