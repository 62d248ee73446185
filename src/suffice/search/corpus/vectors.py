"""Vectors of texts, remembered: in memory, and on disk under the text's SHA-256, one file an embedder and dimension.

Kept as float16: half the disk, and its rounding (5e-4 of a component, 1e-5 of a cosine) is far below the error of an
int8 model. A fresh vector is rounded the same way, so that scores are the same with a cold cache and a warm one.

A server may put another model behind the same name. So a served embedder first embeds one known sentence again: if its
vector is not the one in the file, the file is of another model and is begun anew. This module knows nothing of passages or
of where texts come from.
"""

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.models.embeddings import Embedder
from suffice.storage.sqlite_cache import SqliteCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# As many texts as are embedded between two writes: what an interruption loses is seconds of work.
_BATCH_SIZE = 128
# 20,000 × 768 bytes = 15 MB, more than the candidates of a long run.
_MAX_RECENT = 20_000
_PROBE_TEXT = "The quick brown fox jumps over the lazy dog."
_SAME_MODEL_COSINE = (
    0.999  # Cosine of a sentence to itself; batches and hardware move it by less than 1e-4, another model by far more.
)


class EmbeddingCache:
    """The embedder, asked only for what it has not embedded before. Thread-safe; safe for several processes."""

    def __init__(self, embedder: Embedder, cache_dir: Path | None, say: Callable[[str], None]) -> None:
        self._embedder = embedder
        self._cache_dir = cache_dir
        self._say = say
        self._lock = threading.Lock()
        self._recent: OrderedDict[bytes, bytes] = OrderedDict()
        self._cache: SqliteCache | None = None

    def embed(self, texts: Sequence[str], tick: Callable[[int], None] | None = None) -> "NDArray[np.float32]":
        """One row a text, in order. ``tick`` hears how many texts are embedded so far; what it raises ends the work."""
        import numpy as np

        keys = [_hash_text(text) for text in texts]
        with self._lock:
            shelf, size = self._open_cache(), self._embedder.dimension
            known = self._lookup(shelf, list(dict.fromkeys(keys)), size * 2)
            missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known}.items())
            for start in range(0, len(missing), _BATCH_SIZE):
                chunk = missing[start : start + _BATCH_SIZE]
                rows = self._embedder.embed([text for _, text in chunk]).astype(np.float16)
                fresh = {key: row.tobytes() for (key, _), row in zip(chunk, rows, strict=True)}
                known |= fresh
                shelf.put(fresh)
                if tick is not None:
                    tick(start + len(chunk))
            self._add_recent(known)
        joined = b"".join(known[key] for key in keys)
        return np.frombuffer(joined, np.float16).reshape(len(keys), size).astype(np.float32)

    def close(self) -> None:
        """Let go of the file; asking goes on working without it."""
        with self._lock:
            if self._cache is None:
                self._cache_dir = None
            else:
                self._cache.close()

    def _open_cache(self) -> SqliteCache:
        """The file of this embedder, once it is known to hold vectors of the same model."""
        if self._cache is None:
            name = f"{self._embedder.name}-{self._embedder.dimension}"
            path = self._cache_dir / "vectors" / f"{_make_file_name(name)}.sqlite" if self._cache_dir else None
            shelf = SqliteCache(path, "vector cache", self._say)
            if self._embedder.is_remote:
                self._clear_if_model_changed(shelf)
            self._cache = shelf
        return self._cache

    def _clear_if_model_changed(self, shelf: SqliteCache) -> None:
        import numpy as np

        probe = self._embedder.embed([_PROBE_TEXT])[0]
        kept = shelf.get([_hash_text(_PROBE_TEXT)]).get(_hash_text(_PROBE_TEXT))
        if kept is not None:
            known = np.frombuffer(kept, np.float16).astype(np.float32)
            if known.shape != probe.shape or not float(known @ probe) > _SAME_MODEL_COSINE:
                self._say(f"The model behind {self._embedder.name} has changed; its vectors are made anew.")
                shelf.clear()
        shelf.put({_hash_text(_PROBE_TEXT): probe.astype(np.float16).tobytes()})

    def _lookup(self, shelf: SqliteCache, keys: list[bytes], length: int) -> dict[bytes, bytes]:
        known = {key: self._recent[key] for key in keys if key in self._recent}
        rest = shelf.get(key for key in keys if key not in known)
        return known | {key: vector for key, vector in rest.items() if len(vector) == length}

    def _add_recent(self, known: dict[bytes, bytes]) -> None:
        for key, vector in known.items():
            self._recent[key] = vector
            self._recent.move_to_end(key)
        while len(self._recent) > _MAX_RECENT:
            self._recent.popitem(last=False)


def _hash_text(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _make_file_name(name: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', name)[:80]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
