"""Vectors of texts, remembered: in memory, and on disk under the text's SHA-256, one file an embedder.

Kept as float16: half the disk, and its rounding (5e-4 of a component, 1e-5 of a cosine) is far below the error of an
int8 model. A fresh vector is rounded the same way, so that scores are the same with a cold cache and a warm one.

The cache is a convenience: where it cannot be kept, that is said once and everything works without. This module knows
nothing of passages or of where texts come from.
"""

import hashlib
import os
import re
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.models.embeddings import Embedder
from suffice.search.damage import Damaged, sqlite_errors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# As many texts as are embedded between two writes: what an interruption loses is seconds of work.
_CHUNK = 128
# 20,000 × 768 bytes = 15 MB, more than the candidates of a long run.
_REMEMBERED = 20_000
_WAIT_SECONDS = 30.0


class Vectors:
    """The embedder, asked only for what it has not embedded before. Thread-safe; safe for several processes."""

    def __init__(self, embedder: Embedder, cache_dir: Path | None, say: Callable[[str], None]) -> None:
        self._embedder = embedder
        self._say = say
        self._lock = threading.Lock()
        self._recent: OrderedDict[bytes, bytes] = OrderedDict()
        self._path = cache_dir / "vectors" / f"{_file_name(embedder.name)}.sqlite" if cache_dir else None
        self._database: sqlite3.Connection | None = None

    def get(self, texts: Sequence[str], tick: Callable[[int], None] | None = None) -> "NDArray[np.float32]":
        """One row a text, in order. ``tick`` hears how many texts are embedded so far; what it raises ends the work."""
        import numpy as np

        size = self._embedder.dimension
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        with self._lock:
            known = self._known(list(dict.fromkeys(keys)), size * 2)
            missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known}.items())
            for start in range(0, len(missing), _CHUNK):
                chunk = missing[start : start + _CHUNK]
                rows = self._embedder.embed([text for _, text in chunk]).astype(np.float16)
                fresh = {key: row.tobytes() for (key, _), row in zip(chunk, rows, strict=True)}
                known |= fresh
                self._write(fresh)
                if tick is not None:
                    tick(start + len(chunk))
            self._remember(known)
        joined = b"".join(known[key] for key in keys)
        return np.frombuffer(joined, np.float16).reshape(len(keys), size).astype(np.float32)

    def close(self) -> None:
        with self._lock:
            self._disconnect()
            self._path = None

    def _known(self, keys: list[bytes], length: int) -> dict[bytes, bytes]:
        known = {key: self._recent[key] for key in keys if key in self._recent}
        rest = [key for key in keys if key not in known]
        with self._caring():
            if (database := self._connected()) is not None:
                for some in _portions(rest, 500):
                    marks = ",".join("?" * len(some))
                    rows = database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some)
                    known |= {key: vector for key, vector in rows if len(vector) == length}
        return known

    def _write(self, fresh: dict[bytes, bytes]) -> None:
        with self._caring():
            if (database := self._connected()) is not None:
                with database:
                    database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", fresh.items())

    def _remember(self, known: dict[bytes, bytes]) -> None:
        for key, vector in known.items():
            self._recent[key] = vector
            self._recent.move_to_end(key)
        while len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)

    def _connected(self) -> sqlite3.Connection | None:
        if self._database is None and self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self._path, timeout=_WAIT_SECONDS, check_same_thread=False)
            self._database = database
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        return self._database

    @contextmanager
    def _caring(self) -> Iterator[None]:
        """What goes wrong with the cache inside means going on without it, or with a new one."""
        try:
            with sqlite_errors():
                yield
        except OSError as error:
            self._without(error)
        except Damaged as error:
            self._afresh(error)

    def _without(self, reason: Exception) -> None:
        self._say(f"The vector cache {self._path} cannot be used ({reason}); going on without it.")
        self._disconnect()
        self._path = None

    def _afresh(self, reason: Exception) -> None:
        """A damaged file is moved aside, not removed: it may be somebody else's."""
        if self._path is None:
            return
        self._disconnect()
        aside = self._path.with_suffix(".damaged")
        try:
            os.replace(self._path, aside)
            for suffix in ("-wal", "-shm"):
                Path(f"{self._path}{suffix}").unlink(missing_ok=True)
        except OSError as error:
            self._without(error)
            return
        self._say(f"The vector cache was damaged ({reason}); it is now {aside} and a new one is begun.")

    def _disconnect(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


def _file_name(name: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', name)[:80]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _portions(keys: list[bytes], size: int) -> Iterator[list[bytes]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
