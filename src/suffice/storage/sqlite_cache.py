"""Values on disk by key, as a convenience: what cannot be kept is done without, and that is said once.

A shelf is one SQLite file that any number of processes may share. A place that cannot be used means going on without; a
damaged file is moved aside and a new one begun. This module knows nothing of what it keeps.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from suffice.storage.corruption import CorruptCache, translate_sqlite_errors

_BUSY_TIMEOUT_SECONDS = 30.0
_KEYS_PER_QUERY = 500  # Keys a statement: SQLite takes 999 in its oldest builds.


class SqliteCache:
    """``name`` is what the user hears of it: ``vector cache``. ``path`` ``None`` keeps nothing. Thread-safe."""

    def __init__(self, path: Path | None, name: str, say: Callable[[str], None]) -> None:
        self._path = path
        self._name = name
        self._say = say
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """What is kept under these keys."""
        found: dict[bytes, bytes] = {}
        with self._handle_errors():
            if (database := self._connect()) is not None:
                for some in _split_batches(list(keys)):
                    marks = ",".join("?" * len(some))
                    rows = database.execute(f"SELECT key, value FROM shelf WHERE key IN ({marks})", some)
                    found |= {key: value for key, value in rows if isinstance(value, bytes)}
        return found

    def put(self, items: Mapping[bytes, bytes]) -> None:
        with self._handle_errors():
            if (database := self._connect()) is not None:
                with database:
                    database.executemany("INSERT OR REPLACE INTO shelf VALUES (?, ?)", items.items())

    def delete_before(self, value: bytes) -> None:
        """Delete what sorts before a value: for values that begin with a time."""
        with self._handle_errors():
            if (database := self._connect()) is not None:
                with database:
                    database.execute("DELETE FROM shelf WHERE value < ?", (value,))

    def clear(self) -> None:
        with self._handle_errors():
            if (database := self._connect()) is not None:
                with database:
                    database.execute("DELETE FROM shelf")

    def close(self) -> None:
        """Let go of the file; from now on nothing is kept."""
        with self._lock:
            self._disconnect()
            self._path = None

    def _connect(self) -> sqlite3.Connection | None:
        if self._database is None and self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_SECONDS, check_same_thread=False)
            self._database = database
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.execute("CREATE TABLE IF NOT EXISTS shelf (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        return self._database

    @contextmanager
    def _handle_errors(self) -> Iterator[None]:
        """What goes wrong with the file inside means going on without it, or with a new one."""
        with self._lock:
            try:
                with translate_sqlite_errors():
                    yield
            except OSError as error:
                self._disable(error)
            except CorruptCache as error:
                self._recreate(error)

    def _disable(self, reason: Exception) -> None:
        self._say(f"The {self._name} {self._path} cannot be used ({reason}); going on without it.")
        self._disconnect()
        self._path = None

    def _recreate(self, reason: Exception) -> None:
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
            self._disable(error)
            return
        self._say(f"The {self._name} was damaged ({reason}); it is now {aside} and a new one is begun.")

    def _disconnect(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


def _split_batches(keys: list[bytes]) -> Iterator[list[bytes]]:
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        yield keys[start : start + _KEYS_PER_QUERY]
