"""A cache of embeddings: in memory and on disk by the SHA-256 of the text, one file for each embedder and dimension.

Vectors are stored as float16. This halves the size, and its rounding (5e-4 of a component, 1e-5 of a cosine) is far below the
error of an int8 model. New vectors are rounded too, so that scores do not depend on the state of the cache.

A server may replace the model behind a name. A remote embedder therefore embeds one known sentence first; if its vector differs
from the stored one, the file is cleared.
"""

import hashlib
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from suffice.errors import ModelError, SearchError
from suffice.measure.stretches import compare_stretches, compute_cosines
from suffice.models.embeddings.base import Embedder
from suffice.models.embeddings.static import embed_static
from suffice.search.corpus.index import IndexEntry
from suffice.search.corpus.ranking import text_to_embed
from suffice.storage.sqlite_cache import SqliteCache
from suffice.text.languages import ENGLISH
from suffice.types import Passage, Query, Vectors

# Texts embedded between two writes; an interruption loses at most this work, a few seconds.
_BATCH_SIZE = 128
# Vectors in memory: 20,000 × 768 bytes = 15 MB, more than the candidates of a long run.
_MAX_RECENT = 20_000
_PROBE_TEXT = "The quick brown fox jumps over the lazy dog."
# Least cosine of the known sentence to its stored vector. Batches and hardware change it by less than 1e-4, another model by
# far more.
_SAME_MODEL_COSINE = 0.999


class EmbeddingCache:
    """Wraps an embedder and embeds each text once. Safe for several threads and processes."""

    def __init__(self, embedder: Embedder, cache_dir: Path | None, notify: Callable[[str], None]) -> None:
        self.embedder = embedder
        self._cache_dir = cache_dir
        self._notify = notify
        self._lock = threading.Lock()
        self._recent: dict[bytes, bytes] = {}
        self._cache: SqliteCache | None = None

    @property
    def is_english_only(self) -> bool:
        return getattr(self.embedder, "is_english_only", False)

    def embed(self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None) -> Vectors:
        """Return one row for each text, in order.

        ``on_progress`` receives the number of texts embedded so far and may raise to stop.
        """
        keys = [_hash_text(text) for text in texts]
        with self._lock:
            cache, dimension = self._open_cache(), self.embedder.dimension
            known = {key: self._recent[key] for key in keys if key in self._recent}
            stored = cache.get(set(keys) - known.keys())
            known |= {key: vector for key, vector in stored.items() if len(vector) == dimension * 2}
            missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known}.items())
            for start in range(0, len(missing), _BATCH_SIZE):
                batch = missing[start : start + _BATCH_SIZE]
                rows = self.embedder.embed([text for _, text in batch]).astype(np.float16)
                fresh = {key: row.tobytes() for (key, _), row in zip(batch, rows, strict=True)}
                known |= fresh
                cache.put(fresh)
                if on_progress is not None:
                    on_progress(start + len(batch))
            for key, vector in known.items():  # Used again: the last to go.
                self._recent.pop(key, None)
                self._recent[key] = vector
            while len(self._recent) > _MAX_RECENT:
                del self._recent[next(iter(self._recent))]
        joined = b"".join(known[key] for key in keys)
        return np.frombuffer(joined, np.float16).reshape(len(keys), dimension).astype(np.float32)

    def _open_cache(self) -> SqliteCache:
        """Open the file of this embedder, and clear it if it holds vectors of another model."""
        if self._cache is None:
            name = f"{self.embedder.name}-{self.embedder.dimension}"
            safe = re.sub(r"[^A-Za-z0-9.-]+", "-", name)[:80]
            file = f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}.sqlite"
            path = self._cache_dir / "vectors" / file if self._cache_dir else None
            cache = SqliteCache(path, "vector cache", self._notify)
            if self.embedder.is_remote:
                self._clear_if_model_changed(cache)
            self._cache = cache
        return self._cache

    def _clear_if_model_changed(self, cache: SqliteCache) -> None:
        probe = self.embedder.embed([_PROBE_TEXT])[0]
        stored = cache.get([_hash_text(_PROBE_TEXT)]).get(_hash_text(_PROBE_TEXT))
        if stored is not None:
            known = np.frombuffer(stored, np.float16).astype(np.float32)
            if known.shape != probe.shape or not float(known @ probe) > _SAME_MODEL_COSINE:
                self._notify(f"The model behind {self.embedder.name} has changed; its cached embeddings are discarded.")
                cache.clear()
        cache.put({_hash_text(_PROBE_TEXT): probe.astype(np.float16).tobytes()})


class VectorSearch(ABC):
    """Base of the searches over documents, by words (``alpha`` 1), by the meaning of vectors (0), or by both."""

    is_own_index = False
    """Whether a search costs nothing, so that its results do not have to be stored to resume a run."""

    def __init__(self, alpha: float, vectors: EmbeddingCache) -> None:
        self._alpha = alpha
        self._vectors = vectors
        self.is_english_only = vectors.is_english_only

    def knows(self, language: str) -> bool:
        """Whether vectors of texts in this language mean anything."""
        return language == ENGLISH or not self.is_english_only

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of any texts, from the same model and cache as the passages."""
        return self._vectors.embed(texts)

    def measure(self, text: str, entries: Sequence[IndexEntry]) -> list[float]:
        """Return the similarity of passages to a text: of the nearest stretch, where the static vectors tell which that is."""
        if self.is_english_only:
            return compare_stretches(text, [(one.title, one.text) for one in entries], self.embed, embed_static)
        return compute_cosines(text, list(map(text_to_embed, entries)), self.embed)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        try:
            return await self._find_passages(query.text, k)
        except ModelError as error:
            raise SearchError(f"{error}; --alpha 1 searches by words alone") from error

    @abstractmethod
    async def _find_passages(self, text: str, k: int) -> list[Passage]: ...


def _hash_text(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
