"""A search whose passages do not address the model: such lines are cut out where retrieved text comes in, and reported."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from suffice.search.base import Search
from suffice.text.injection import screen
from suffice.types import Passage, Query

Report = Callable[[Passage, Sequence[str]], None]


class Screening:
    """A Search over a Search. ``report`` hears once of every passage that lost something."""

    def __init__(self, search: Search, report: Report) -> None:
        self._search = search
        self._report = report
        self._seen: dict[str, Passage] = {}

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        return [self._screened(passage) for passage in await self._search(query, k)]

    def _screened(self, passage: Passage) -> Passage:
        """The same passage comes back round after round: it is looked at once."""
        known = self._seen.get(passage.id)
        if known is None:
            known, removed = screened(passage)
            self._seen[passage.id] = known
            if removed:
                self._report(passage, removed)
        return replace(known, score=passage.score)


def screened(passage: Passage) -> tuple[Passage, tuple[str, ...]]:
    """The passage without what addresses a model, and that."""
    text, removed = screen(passage.text)
    title, from_title = screen(passage.title)
    if not removed and not from_title:
        return passage, ()
    return replace(passage, text=text, title=title.strip() or passage.location), (*removed, *from_title)
