"""The ``Corpus`` protocol, and several corpora searched as one."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from suffice.search.fusion import MergedSearch
from suffice.types import Passage, Query, Vectors


class Corpus(Protocol):
    """A search over documents that also embeds texts."""

    async def __call__(self, query: Query, k: int) -> list[Passage]: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of any texts."""
        ...


class MergedCorpora(MergedSearch):
    """Several corpora, by name, merged by reciprocal rank fusion; the first one embeds texts."""

    def __init__(self, corpora: Mapping[str, Corpus]) -> None:
        super().__init__(corpora)
        self._first = next(iter(corpora.values()))
        self.language = getattr(self._first, "language", None)
        self.is_english_only = getattr(self._first, "is_english_only", False)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._first.embed(texts)
