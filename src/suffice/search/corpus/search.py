"""Files as a search: words first, meaning second.

    BM25 over all passages → the best candidates → alpha · bm25 / best + (1 − alpha) · cosine + 0.15 if the query names the
    passage's title → near-duplicates dropped

Only candidates are embedded, so that a folder can be searched as soon as its words are indexed. ``alpha`` 1 needs no
embedding model; ``alpha`` 0 compares with every passage and embeds them all once. How the index keeps up with the files
is ``upkeep``'s business.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from suffice.errors import InputError, ModelError, SearchError
from suffice.models.embeddings import Embedder, MiniLM
from suffice.search.corpus.index import BM25Index, IndexEntry
from suffice.search.corpus.sync import STDIN, CorpusIndex, IndexRequest, open_index
from suffice.search.corpus.vectors import EmbeddingCache
from suffice.search.files.walk import SkippedFile
from suffice.storage.corruption import CorruptCache
from suffice.text.entities import strip_parenthetical
from suffice.text.tokens import tokenize
from suffice.types import Passage, Place, Query

if TYPE_CHECKING:
    import numpy as np
    import tantivy
    from numpy.typing import NDArray

# Enough for meaning to lift a passage from far down; each costs one embedding, once (tens of milliseconds).
MAX_CANDIDATES = 50
# Word sets this alike are copies: the same page saved twice, a quotation with another caption.
NEAR_DUPLICATE_SIMILARITY = 0.9
# Added when the query names the passage's title: who names a thing wants the passage about it.
_TITLE_MATCH_BONUS = 0.15
_EMBED_BATCH_SIZE = 1024

ProgressCallback = Callable[[str, int, int], None]
T = TypeVar("T")


class IndexingCancelled(Exception):
    """The work was given up by whoever awaited it; never leaves this module."""


class Corpus:
    """Files, as they were when ``open`` returned. The index under ``cache_dir`` is reused; only changes are read."""

    def __init__(self, kept: CorpusIndex, alpha: float, vectors: EmbeddingCache, progress: ProgressCallback) -> None:
        self.skipped: tuple[SkippedFile, ...] = kept.skipped
        self._files = kept.files
        self._invalidate = kept.invalidate
        self._index: BM25Index = kept.index
        self._alpha = alpha
        self._vectors = vectors
        self._progress = progress
        self._dense: tuple[list[tantivy.DocAddress], NDArray[np.float32]] | None = None
        self._dense_lock = threading.Lock()

    @classmethod
    async def open(
        cls,
        roots: Sequence[Path | Literal["-"]],
        *,
        cache_dir: Path | None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        alpha: float = 0.5,
        embedder: Embedder | None = None,
        say: Callable[[str], None] = lambda message: None,
        progress: ProgressCallback | None = None,
        stdin_text: str | None = None,
    ) -> "Corpus":
        """Index what is new or changed below the roots; ``-`` is ``stdin_text``.

        A root that is a file and cannot be read is an ``InputError``; inside a folder it is ``skipped``. ``say`` gets
        sentences for the user, ``progress`` a stage with files or passages done and in total; both are called from
        another thread.
        """
        if not 0 <= alpha <= 1:
            raise InputError(f"alpha is {alpha}; it must lie between 0 (meaning only) and 1 (words only).")
        paths = tuple(str(root) for root in roots if str(root) != STDIN)
        if len(paths) < len(roots) and stdin_text is None:
            raise InputError("Nothing came through standard input; pipe a text into it, or name a file.")
        stdin = stdin_text if len(paths) < len(roots) else None
        report = progress or (lambda stage, done, total: None)

        def work(check: Callable[[], None]) -> CorpusIndex:
            return open_index(IndexRequest(paths, tuple(include), tuple(exclude), stdin, say, report, check), cache_dir)

        kept = await _run_in_thread(work)
        if kept.index.size == 0:
            raise InputError(_describe_empty_corpus(paths, kept.skipped))
        return cls(kept, alpha, EmbeddingCache(embedder or MiniLM(), cache_dir, say), report)

    @property
    def size(self) -> int:
        """How many passages there are."""
        return self._index.size

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that were read, absolute, in the order they were listed; ``-`` is standard input."""
        return tuple(map(Path, self._files))

    def close(self) -> None:
        """Let go of the vector cache's file; searching goes on working without it."""
        self._vectors.close()

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Unit vectors of any texts, from the same model and cache; for whoever compares with what was found."""
        return self._vectors.embed(texts)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        try:
            return await _run_in_thread(lambda check: self._search(query.text, k, check))
        except ModelError as error:
            raise SearchError(f"{error}; --alpha 1 searches by words alone") from error
        except CorruptCache as error:
            self._invalidate()
            raise SearchError(f"The index is damaged ({error}); start again, and it will be made anew.") from error

    def _search(self, text: str, k: int, check: Callable[[], None]) -> list[Passage]:
        terms = self._index.extract_terms(text)
        if not terms or k < 1:
            return []
        if self._alpha == 0:
            return self._drop_near_duplicates(self._search_dense(text, k, check), k)
        hits = self._index.search(terms, max(MAX_CANDIDATES, k))
        if not hits:
            return []
        best = hits[0][0]
        if self._alpha == 1:
            return self._drop_near_duplicates(
                ((score / best, self._index.get_entry(address)) for score, address in hits), k
            )
        entries = [self._index.get_entry(address) for _, address in hits]
        vectors = self._vectors.embed([text, *map(_text_to_embed, entries)], lambda done: check())
        cosines = vectors[1:] @ vectors[0]
        asked = _normalize_phrase(text)
        mixed = [
            (
                self._alpha * score / best
                + (1 - self._alpha) * float(cosine)
                + _TITLE_MATCH_BONUS * _names_title(asked, entry.title),
                entry,
            )
            for (score, _), cosine, entry in zip(hits, cosines, entries, strict=True)
        ]
        # The sort is stable: equals keep the order of the words' ranking.
        return self._drop_near_duplicates(sorted(mixed, key=lambda item: -item[0]), k)

    def _search_dense(self, text: str, k: int, check: Callable[[], None]) -> Iterator[tuple[float, IndexEntry]]:
        import numpy as np

        with self._dense_lock:
            if self._dense is None:
                self._dense = self._embed_all(check)
        addresses, matrix = self._dense
        cosines = matrix @ self._vectors.embed([text])[0]
        for i in np.argsort(-cosines, kind="stable")[: max(MAX_CANDIDATES, k)]:
            yield float(cosines[i]), self._index.get_entry(addresses[i])

    def _embed_all(self, check: Callable[[], None]) -> "tuple[list[tantivy.DocAddress], NDArray[np.float32]]":
        """float32, though the cache holds half of it: NumPy multiplies float16 many times slower."""
        import numpy as np

        addresses = self._index.list_addresses()
        parts = []
        for start in range(0, len(addresses), _EMBED_BATCH_SIZE):
            some = [
                _text_to_embed(self._index.get_entry(address))
                for address in addresses[start : start + _EMBED_BATCH_SIZE]
            ]

            def tick(done: int, start: int = start) -> None:
                check()
                self._progress("embedding", start + done, len(addresses))

            check()
            parts.append(self._vectors.embed(some, tick))
            self._progress("embedding", start + len(some), len(addresses))
        return addresses, np.concatenate(parts)

    def _drop_near_duplicates(self, ranked: Iterable[tuple[float, IndexEntry]], k: int) -> list[Passage]:
        """The first ``k`` that do not nearly repeat a better one."""
        kept: list[Passage] = []
        seen: list[set[str]] = []
        here = os.path.join(os.getcwd(), "")
        for score, entry in ranked:
            own = set(tokenize(entry.text))
            if any(_is_near_duplicate(own, other) for other in seen):
                continue
            seen.append(own)
            kept.append(self._to_passage(entry, score, here))
            if len(kept) == k:
                break
        return kept

    def _to_passage(self, entry: IndexEntry, score: float, here: str) -> Passage:
        place = Place(entry.file.removeprefix(here), entry.lines, entry.page, entry.record, exact=entry.kind != "html")
        if entry.id is None:
            key = str(place) if entry.part == 1 else f"{place}#{entry.part}"
        else:
            key = entry.id if self._owns_id(entry.file, entry.id) else f"{place.path}#{entry.id}"
        return Passage(key, entry.text, entry.title, place, entry.kind, score)

    def _owns_id(self, file: str, id: str) -> bool:
        """Whether the record keeps its bare id: of several files that use it, the first listed does."""
        users = self._index.find_files_with_id(id)
        return len(users) < 2 or file == next(listed for listed in self._files if listed in users)


def _text_to_embed(entry: IndexEntry) -> str:
    return f"{entry.title}. {entry.text}"


def _is_near_duplicate(left: set[str], right: set[str]) -> bool:
    small, large = sorted((len(left), len(right)))
    if small < NEAR_DUPLICATE_SIMILARITY * large:
        return False
    common = len(left & right)
    return common >= NEAR_DUPLICATE_SIMILARITY * (small + large - common)


def _describe_empty_corpus(roots: Sequence[str], skipped: Sequence[SkippedFile]) -> str:
    where = ", ".join(roots) or "standard input"
    reasons = "; ".join(f"{skip.path} {skip.why}" for skip in skipped[:3])
    end = f" ({reasons})." if reasons else "; name a folder that holds some."
    return f"There is no readable text under {where}{end}"


async def _run_in_thread(work: Callable[[Callable[[], None]], T]) -> T:
    """Run in a thread, so that the event loop lives; a cancelled caller ends the thread's work at its next check."""
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise IndexingCancelled

    try:
        return await asyncio.to_thread(work, check)
    except asyncio.CancelledError:
        stop.set()
        raise


def _normalize_phrase(text: str) -> str:
    return f" {' '.join(tokenize(text))} "


def _names_title(asked: str, title: str) -> bool:
    """Whether the query holds the title, less a remark in brackets, word for word."""
    name = _normalize_phrase(strip_parenthetical(title))
    return bool(name.strip()) and name in asked
