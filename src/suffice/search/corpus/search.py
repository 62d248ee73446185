"""Search in files, by words first and by meaning second.

    candidates by BM25 and as many by the static vectors, which the index holds for every passage → ranked by words and by
    the embedding model (``ranking``) → near-duplicates dropped

The model's vectors are cached, and ``embed_passages`` makes them all ahead of time. The built-in model knows English only:
passages in other languages are ranked by their words. ``alpha`` 1 needs no embedding model; ``alpha`` 0 compares with every
passage and embeds them all once. ``sync`` keeps the index up to date.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
import tantivy

from suffice.errors import InputError, SearchError
from suffice.measure.stretches import split_stretches
from suffice.models.embeddings.base import Embedder
from suffice.models.embeddings.minilm import get_minilm
from suffice.models.embeddings.static import StaticEmbedder, embed_static
from suffice.search.base import RankedScope
from suffice.search.corpus.index import BM25Index, IndexEntry
from suffice.search.corpus.ranking import Candidate, drop_near_duplicates, rank_candidates, text_to_embed, to_passages
from suffice.search.corpus.sync import STDIN, CorpusIndex, IndexRequest, open_index
from suffice.search.corpus.vectors import EmbeddingCache, VectorSearch
from suffice.search.files.walk import SkippedFile
from suffice.search.threads import run_in_thread
from suffice.storage.corruption import CorruptCache
from suffice.text.languages import ENGLISH, detect_language
from suffice.types import Passage, Vectors

# By words, and as many by meaning. The embedding model compares all of them, once each (ten milliseconds).
MAX_CANDIDATES = 40
_MAX_WEIGHED = 400  # Passages whose words count when their meaning makes them candidates.
_MIN_LANGUAGE_SHARE = 0.05  # Of the passages, from which on a language is one of the corpus.
_EMBED_BATCH_SIZE = 1024
MAX_RANKED = 20_000  # Passages that are ranked at once; each takes a kilobyte.
EMBEDDED_OF_ALL = 200  # Of these the embedding model compares the best, a few seconds the first time.

ProgressCallback = Callable[[str, int, int], None]


class CorpusSearch(VectorSearch):
    """Searches files as they were when ``open`` returned."""

    is_own_index = True

    def __init__(
        self,
        corpus: CorpusIndex,
        alpha: float,
        vectors: EmbeddingCache,
        progress: ProgressCallback,
        relative_roots: Sequence[str] = (),
    ) -> None:
        super().__init__(alpha, vectors)
        self.skipped: tuple[SkippedFile, ...] = corpus.skipped
        self.partly_read: tuple[SkippedFile, ...] = corpus.partly_read
        self._files = corpus.files
        self._invalidate = corpus.invalidate
        self._index: BM25Index = corpus.index
        self._progress = progress
        self._relative_roots = [(os.path.abspath(root), root) for root in relative_roots]
        self._dense: tuple[list[tantivy.DocAddress], Vectors] | None = None
        self._static: tuple[list[tantivy.DocAddress], Vectors] | None = None
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
        notify: Callable[[str], None] = lambda message: None,
        progress: ProgressCallback | None = None,
        stdin_text: str | None = None,
    ) -> "CorpusSearch":
        """Index what is new or changed below the roots, and ``stdin_text``, which is the root ``-``.

        The index under ``cache_dir`` is reused. A root that is a file and cannot be read is an ``InputError``; inside a folder
        it is ``skipped``. ``notify`` receives messages for the user; ``progress`` receives a stage and the files or
        passages done and in total. Both are called from another thread.
        """
        if not 0 <= alpha <= 1:
            raise InputError(f"alpha is {alpha}; it must be between 0 (meaning only) and 1 (words only).")
        paths = tuple(str(root) for root in roots if str(root) != STDIN)
        on_progress = progress or (lambda stage, done, total: None)
        wanted = (paths, tuple(include), tuple(exclude), stdin_text, notify, on_progress)
        corpus = await run_in_thread(lambda check: open_index(IndexRequest(*wanted, check), cache_dir))
        if corpus.index.size == 0:
            raise InputError(_describe_empty_corpus(paths, corpus.skipped, include))
        vectors = EmbeddingCache(embedder or get_minilm(), cache_dir, notify)
        return cls(corpus, alpha, vectors, on_progress, tuple(path for path in paths if not os.path.isabs(path)))

    @property
    def size(self) -> int:
        """The number of passages."""
        return self._index.size

    @property
    def files(self) -> tuple[Path, ...]:
        """The absolute paths of the files that were read, in the order of the listing; ``-`` is standard input."""
        return tuple(map(Path, self._files))

    async def list_passages(self, limit: int, file: Path | None = None) -> list[Passage] | None:
        if file is None and self.size > limit:
            return None

        def work(check_cancelled: Callable[[], None]) -> list[Passage]:
            addresses = self._index.list_addresses(None if file is None else str(file))[:limit]
            return self._to_passages((0.0, entry) for entry in self._order_by_file(addresses))

        return await run_in_thread(work)

    def _order_by_file(self, addresses: Sequence[tantivy.DocAddress]) -> list[IndexEntry]:
        order = {file: number for number, file in enumerate(self._files)}
        entries = map(self._index.get_entry, addresses)
        return sorted(entries, key=lambda entry: order.get(entry.file, len(order)))

    def _to_passages(self, scored: Iterable[tuple[float, IndexEntry]]) -> list[Passage]:
        return to_passages(scored, partial(self._shorten_path, os.path.join(os.getcwd(), "")), self._owns_id)

    async def rank_all(self, question: str) -> RankedScope | None:
        """Return all passages with their similarity to a question; ``None`` without vectors for the passages or the question.

        The static vectors rank all of them; the embedding model compares the best ``EMBEDDED_OF_ALL``. Beyond
        ``MAX_RANKED`` passages only those with a word of the question are ranked.
        """
        language = detect_language(question) or self.language
        if self._alpha == 1 or not self.is_english_only or language != ENGLISH:
            return None
        return await run_in_thread(lambda check_cancelled: self._rank_all(question, check_cancelled))

    def _rank_all(self, question: str, check_cancelled: Callable[[], None]) -> RankedScope:
        if self.size > MAX_RANKED:
            found = self._index.search(self._index.extract_terms(question), MAX_RANKED)
            entries = self._order_by_file([address for _, address in found])
        else:
            entries = self._order_by_file(self._index.list_addresses())
        vectors = read_vectors(entries)
        texts = [text_to_embed(entry) for entry in entries]
        scores = score_all(
            question, texts, vectors, lambda some: self._vectors.embed(some, lambda done: check_cancelled())
        )
        return RankedScope(tuple(self._to_passages((0.0, entry) for entry in entries)), scores, vectors)

    async def _find_passages(self, text: str, k: int) -> list[Passage]:
        with self._report_damage():
            return await run_in_thread(lambda check_cancelled: self._search(text, k, check_cancelled))

    @contextmanager
    def _report_damage(self) -> Iterator[None]:
        """Mark a corrupt index to be rebuilt, and say so."""
        try:
            yield
        except CorruptCache as error:
            self._invalidate()
            raise SearchError(f"The index is damaged ({error}); start again to rebuild it.") from error

    def _search(self, text: str, k: int, check_cancelled: Callable[[], None]) -> list[Passage]:
        terms = self._index.extract_terms(text)
        if not terms or k < 1:
            return []
        if self._alpha == 0:
            return self._to_passages(drop_near_duplicates(self._search_dense(text, k, check_cancelled), k))
        hits = self._index.search(terms, max(_MAX_WEIGHED, k))
        if not hits:
            return []
        best, count = hits[0][0], max(MAX_CANDIDATES, k)
        if self._alpha == 1:
            found = ((score / best, self._index.get_entry(address)) for score, address in hits[:count])
            return self._to_passages(drop_near_duplicates(found, k))
        words = {self._index.get_entry(address): score / best for score, address in hits}
        near = self._find_near(text, count) if self.is_english_only else []
        entries = list(dict.fromkeys([*islice(words, count), *near]))
        candidates = [Candidate(entry, words.get(entry, 0.0), self.knows(entry.language)) for entry in entries]
        ranked = rank_candidates(text, candidates, self._alpha, partial(self.measure, text))
        return self._to_passages(drop_near_duplicates(ranked, k))

    def _find_near(self, text: str, count: int) -> list[IndexEntry]:
        """Return the entries whose static vectors are nearest to an English text; none where there are too many to compare."""
        if self.size > MAX_RANKED or (detect_language(text) or ENGLISH) != ENGLISH:
            return []
        if self._static is None:
            listed = [(address, self._index.get_entry(address)) for address in self._index.list_addresses()]
            known = [(address, entry) for address, entry in listed if self.knows(entry.language)]
            self._static = [address for address, _ in known], read_vectors([entry for _, entry in known])
        addresses, vectors = self._static
        cosines = vectors @ embed_static([text])[0]
        return [self._index.get_entry(addresses[i]) for i in np.argsort(-cosines, kind="stable")[:count]]

    @property
    def language(self) -> str | None:
        """The language of most passages, for a question that does not show its own."""
        return next(iter(self.languages), None)

    @property
    def unreadable(self) -> list[str]:
        return [one.path.name for one in self.skipped]

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the passages, that of most passages first.

        A language of very few is left out: names and tables look like another language now and then.
        """
        counts = self._index.count_languages()
        least = min(max(counts.values(), default=0), max(2, _MIN_LANGUAGE_SHARE * self.size))
        return tuple(sorted((name for name in counts if counts[name] >= least), key=lambda name: -counts[name]))

    @property
    def embeds_remotely(self) -> bool:
        """Whether a server computes the vectors of passages."""
        return self._vectors.embedder.is_remote

    async def embed_passages(self) -> None:
        """Embed all passages ahead of time, so that a later question embeds none of them. Cached vectors are kept."""
        with self._report_damage():
            await run_in_thread(self._embed_ahead)

    def _embed_ahead(self, check_cancelled: Callable[[], None]) -> None:
        def list_texts(entry: IndexEntry) -> list[str]:
            """Return what a question compares of a passage."""
            if not self.knows(entry.language):
                return []
            return split_stretches(entry.title, entry.text) if self.is_english_only else [text_to_embed(entry)]

        for _ in self._embed_in_batches(list_texts, check_cancelled):
            pass

    def _embed_in_batches(
        self, to_texts: Callable[[IndexEntry], list[str]], check_cancelled: Callable[[], None]
    ) -> Iterator[Vectors]:
        """Yield the vectors of all passages' texts, in the order of the index."""
        addresses = self._index.list_addresses()
        for start in range(0, len(addresses), _EMBED_BATCH_SIZE):
            entries = [self._index.get_entry(address) for address in addresses[start : start + _EMBED_BATCH_SIZE]]
            texts = [text for entry in entries for text in to_texts(entry)]
            share = len(entries) / max(1, len(texts))

            def on_batch(done: int, start: int = start, share: float = share) -> None:
                check_cancelled()
                self._progress("embedding", start + int(done * share), len(addresses))

            check_cancelled()
            yield self._vectors.embed(texts, on_batch)
            self._progress("embedding", start + len(entries), len(addresses))

    def _search_dense(
        self, text: str, k: int, check_cancelled: Callable[[], None]
    ) -> Iterator[tuple[float, IndexEntry]]:
        with self._dense_lock:
            if self._dense is None:
                # Twice the size of the cached ones: NumPy multiplies float16 many times slower.
                matrix = np.concatenate(
                    list(self._embed_in_batches(lambda entry: [text_to_embed(entry)], check_cancelled))
                )
                self._dense = self._index.list_addresses(), matrix
        addresses, matrix = self._dense
        cosines = matrix @ self._vectors.embed([text])[0]
        for i in np.argsort(-cosines, kind="stable")[: max(MAX_CANDIDATES, k)]:
            yield float(cosines[i]), self._index.get_entry(addresses[i])

    def _shorten_path(self, working_dir: str, file: str) -> str:
        """Return a path that opens from the working directory, as the user would write it: ``../docs/a.md`` for ``../docs``."""
        if file.startswith(working_dir):
            return file.removeprefix(working_dir)
        for root, given in self._relative_roots:
            if file == root:
                return given
            if file.startswith(os.path.join(root, "")):
                return os.path.join(given, os.path.relpath(file, root))
        return file

    def _owns_id(self, id: str, file: str) -> bool:
        """Whether the record keeps its bare id: if several files use the id, the first listed one keeps it."""
        users = self._index.find_files_with_id(id)
        return len(users) < 2 or file == next(listed for listed in self._files if listed in users)


def score_all(question: str, texts: Sequence[str], vectors: Vectors, embed: Callable[[list[str]], Vectors]) -> Vectors:
    """Return the similarity of every text to a question: by the static vectors, and of the best also by the embedding model.

    What the model did not compare gets what its static vector leads one to expect.
    """
    rough = vectors @ embed_static([question])[0]
    best = np.argsort(-rough, kind="stable")[:EMBEDDED_OF_ALL]
    exact = embed([question, *(texts[i] for i in best)])
    mixed = (rough[best] + exact[1:] @ exact[0]) / 2
    slope, base = np.polyfit(rough[best], mixed, 1) if len(best) > 2 else (1.0, 0.0)
    scores = np.asarray(slope * rough + base, np.float32)
    scores[best] = mixed
    return scores


def read_vectors(entries: Sequence[IndexEntry]) -> Vectors:
    """Return the static vectors of entries, at length one."""
    joined = np.frombuffer(b"".join(entry.vector for entry in entries), np.int8)
    vectors = joined.reshape(-1, StaticEmbedder.dimension).astype(np.float32)
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), np.float32)


def _describe_empty_corpus(roots: Sequence[str], skipped: Sequence[SkippedFile], include: Sequence[str]) -> str:
    where = (", ".join(roots) or "standard input") + (f" that fits --include {' '.join(include)}" if include else "")
    reasons = "; ".join(f"{skip.path} {skip.why}" for skip in skipped[:3])
    end = f" ({reasons})." if reasons else "; name a folder or file that has some."
    return f"There is no readable text in {where}{end}"
