"""From a round's results to the passages of the pages behind them, without whatever addresses a model."""

from collections.abc import Callable, Iterable

from suffice.events import Event, PageRead
from suffice.search.base import Reader
from suffice.search.screening import strip_injections
from suffice.types import Failure, Note, Passage, Round


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
