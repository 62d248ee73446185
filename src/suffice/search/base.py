"""The ``Search`` and ``Reader`` protocols.

A search that finds nothing returns an empty list; a search that fails raises ``SearchError``. A search only ranks: the
caller decides which passages are new.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from suffice.types import Failure, Passage, Query, Vectors


@runtime_checkable
class Search(Protocol):
    """Finds passages for a query."""

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        """Return at most ``k`` passages, best first.

        Scores are comparable within one search. A service that gives only an order returns no scores.
        """


@dataclass(frozen=True, slots=True)
class RankedScope:
    """Everything in scope with its similarity to a question, file by file; ``vectors`` are rows of length one.

    ``passages`` have no score: ``scores`` are their similarities, about as large as cosines.
    """

    passages: tuple[Passage, ...]
    scores: Vectors
    vectors: Vectors


@runtime_checkable
class ScopeSearch(Protocol):
    """A search over files on this machine, which knows everything that it can find."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that can be found."""

    @property
    def unreadable(self) -> Sequence[str]:
        """The names of the files beside them that cannot be read."""

    @property
    def languages(self) -> Sequence[str]:
        """The languages of the passages, that of most passages first."""

    async def list_passages(self, limit: int, file: Path | None = None) -> list[Passage] | None:
        """Return all passages, file by file and in reading order; ``None`` if there are more than ``limit``.

        With ``file`` only the first ``limit`` of that file.
        """

    async def rank_all(self, question: str) -> RankedScope | None:
        """Return all passages with their similarity to a question; ``None`` if that is not possible."""


@dataclass(frozen=True, slots=True)
class Page:
    """A web page that was read: its URL after redirects, its title, and its text as passages."""

    url: str
    title: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class PageBatch:
    """The pages that were read for one round, and why others could not be read."""

    pages: tuple[Page, ...] = ()
    failures: tuple[Failure, ...] = ()


class Reader(Protocol):
    """Reads the whole pages that search results link to."""

    async def __call__(self, found: Sequence[Passage], known: str, seconds: float | None = None) -> PageBatch:
        """Read some of the pages that say more than ``known``, within ``seconds``. Failures are returned, not raised."""

    async def aclose(self) -> None: ...
