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

from suffice.damage import Damaged
from suffice.errors import InputError, ModelError, SearchError
from suffice.models.embeddings import Embedder, MiniLM
from suffice.search.files.walk import Skipped
from suffice.search.index import Entry, Index
from suffice.search.upkeep import STDIN, Kept, Wanted, keep
from suffice.search.vectors import Vectors
from suffice.text.entities import bare
from suffice.text.tokens import words
from suffice.types import Passage, Place, Query

if TYPE_CHECKING:
    import numpy as np
    import tantivy
    from numpy.typing import NDArray

# Enough for meaning to lift a passage from far down; each costs one embedding, once (tens of milliseconds).
CANDIDATES = 50
# Word sets this alike are copies: the same page saved twice, a quotation with another caption.
NEAR_DUPLICATE = 0.9
# Added when the query names the passage's title: who names a thing wants the passage about it.
_NAMED = 0.15
_READ_AT_ONCE = 1024

Progress = Callable[[str, int, int], None]
T = TypeVar("T")


class Stopped(Exception):
    """The work was given up by whoever awaited it; never leaves this module."""


class Corpus:
    """Files, as they were when ``open`` returned. The index under ``cache_dir`` is reused; only changes are read."""

    def __init__(self, kept: Kept, alpha: float, vectors: Vectors, progress: Progress) -> None:
        self.skipped: tuple[Skipped, ...] = kept.skipped
        self._files = kept.files
        self._distrust = kept.distrust
        self._index: Index = kept.index
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
        progress: Progress | None = None,
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

        def work(check: Callable[[], None]) -> Kept:
            return keep(Wanted(paths, tuple(include), tuple(exclude), stdin, say, report, check), cache_dir)

        kept = await _in_thread(work)
        if kept.index.size == 0:
            raise InputError(_nothing(paths, kept.skipped))
        return cls(kept, alpha, Vectors(embedder or MiniLM(), cache_dir, say), report)

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
        return self._vectors.get(texts)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        try:
            return await _in_thread(lambda check: self._search(query.text, k, check))
        except ModelError as error:
            raise SearchError(f"{error}; --alpha 1 searches by words alone") from error
        except Damaged as error:
            self._distrust()
            raise SearchError(f"The index is damaged ({error}); start again, and it will be made anew.") from error

    def _search(self, text: str, k: int, check: Callable[[], None]) -> list[Passage]:
        terms = self._index.terms(text)
        if not terms or k < 1:
            return []
        if self._alpha == 0:
            return self._distinct(self._by_meaning(text, k, check), k)
        hits = self._index.best(terms, max(CANDIDATES, k))
        if not hits:
            return []
        best = hits[0][0]
        if self._alpha == 1:
            return self._distinct(((score / best, self._index.entry(address)) for score, address in hits), k)
        entries = [self._index.entry(address) for _, address in hits]
        vectors = self._vectors.get([text, *map(_embedded, entries)], lambda done: check())
        cosines = vectors[1:] @ vectors[0]
        asked = _phrase(text)
        mixed = [
            (
                self._alpha * score / best + (1 - self._alpha) * float(cosine) + _NAMED * _named(asked, entry.title),
                entry,
            )
            for (score, _), cosine, entry in zip(hits, cosines, entries, strict=True)
        ]
        # The sort is stable: equals keep the order of the words' ranking.
        return self._distinct(sorted(mixed, key=lambda item: -item[0]), k)

    def _by_meaning(self, text: str, k: int, check: Callable[[], None]) -> Iterator[tuple[float, Entry]]:
        import numpy as np

        with self._dense_lock:
            if self._dense is None:
                self._dense = self._embed_all(check)
        addresses, matrix = self._dense
        cosines = matrix @ self._vectors.get([text])[0]
        for i in np.argsort(-cosines, kind="stable")[: max(CANDIDATES, k)]:
            yield float(cosines[i]), self._index.entry(addresses[i])

    def _embed_all(self, check: Callable[[], None]) -> "tuple[list[tantivy.DocAddress], NDArray[np.float32]]":
        """float32, though the cache holds half of it: NumPy multiplies float16 many times slower."""
        import numpy as np

        addresses = self._index.all()
        parts = []
        for start in range(0, len(addresses), _READ_AT_ONCE):
            some = [_embedded(self._index.entry(address)) for address in addresses[start : start + _READ_AT_ONCE]]

            def tick(done: int, start: int = start) -> None:
                check()
                self._progress("embedding", start + done, len(addresses))

            check()
            parts.append(self._vectors.get(some, tick))
            self._progress("embedding", start + len(some), len(addresses))
        return addresses, np.concatenate(parts)

    def _distinct(self, ranked: Iterable[tuple[float, Entry]], k: int) -> list[Passage]:
        """The first ``k`` that do not nearly repeat a better one."""
        kept: list[Passage] = []
        seen: list[set[str]] = []
        here = os.path.join(os.getcwd(), "")
        for score, entry in ranked:
            own = set(words(entry.text))
            if any(_alike(own, other) for other in seen):
                continue
            seen.append(own)
            kept.append(self._passage(entry, score, here))
            if len(kept) == k:
                break
        return kept

    def _passage(self, entry: Entry, score: float, here: str) -> Passage:
        place = Place(entry.file.removeprefix(here), entry.lines, entry.page, entry.record, exact=entry.kind != "html")
        if entry.id is None:
            key = str(place) if entry.part == 1 else f"{place}#{entry.part}"
        else:
            key = entry.id if self._owns(entry.file, entry.id) else f"{place.path}#{entry.id}"
        return Passage(key, entry.text, entry.title, place, entry.kind, score)

    def _owns(self, file: str, id: str) -> bool:
        """Whether the record keeps its bare id: of several files that use it, the first listed does."""
        users = self._index.files_with(id)
        return len(users) < 2 or file == next(listed for listed in self._files if listed in users)


def _embedded(entry: Entry) -> str:
    return f"{entry.title}. {entry.text}"


def _alike(left: set[str], right: set[str]) -> bool:
    small, large = sorted((len(left), len(right)))
    if small < NEAR_DUPLICATE * large:
        return False
    common = len(left & right)
    return common >= NEAR_DUPLICATE * (small + large - common)


def _nothing(roots: Sequence[str], skipped: Sequence[Skipped]) -> str:
    where = ", ".join(roots) or "standard input"
    reasons = "; ".join(f"{skip.path} {skip.why}" for skip in skipped[:3])
    end = f" ({reasons})." if reasons else "; name a folder that holds some."
    return f"There is no readable text under {where}{end}"


async def _in_thread(work: Callable[[Callable[[], None]], T]) -> T:
    """Run in a thread, so that the event loop lives; a cancelled caller ends the thread's work at its next check."""
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise Stopped

    try:
        return await asyncio.to_thread(work, check)
    except asyncio.CancelledError:
        stop.set()
        raise


def _phrase(text: str) -> str:
    return f" {' '.join(words(text))} "


def _named(asked: str, title: str) -> bool:
    """Whether the query holds the title, less a remark in brackets, word for word."""
    name = _phrase(bare(title))
    return bool(name.strip()) and name in asked
