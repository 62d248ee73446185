"""The Search seam: one method from a query to passages, best first.

A search that finds nothing returns an empty list; a search that cannot answer raises ``SearchError``. The two are never
confused. Whoever calls decides what was seen before: a search only ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from suffice.types import Failure, Passage, Query


@runtime_checkable
class Search(Protocol):
    async def __call__(self, query: Query, k: int) -> list[Passage]:
        """At most ``k`` passages for the query, best first. A score is comparable within this search; where a service
        gives only an order, there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Page:
    """A web page that was read: where it was found in the end, its title, and its text as passages."""

    url: str
    title: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class PageBatch:
    """The pages behind a round's results, and why others could not be read."""

    pages: tuple[Page, ...] = ()
    failures: tuple[Failure, ...] = ()


class Reader(Protocol):
    """Reads whole pages behind search results."""

    async def __call__(self, found: Sequence[Passage], known: str, seconds: float | None = None) -> PageBatch:
        """Some of the pages that say more than what is ``known``, within ``seconds``. It never raises: failures
        are part of the answer."""
        ...

    async def aclose(self) -> None: ...
