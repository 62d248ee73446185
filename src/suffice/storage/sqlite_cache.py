"""Caches on disk: bytes by key in one SQLite file, and typed JSON values on top of it.

A cache is a convenience. If its file cannot be used, the program goes on without it; a corrupt file is moved aside and
replaced. Either is reported once. Any number of threads and processes may share a file.

The answers of web searches and the self-tests of models are stored through ``JsonCache``, under keys from ``make_key``. A cache
may be deleted at any time and outlives a run. The journal of ``jobs`` is not a cache: it records the paid calls of one
durable run, errors included, so that the run can be resumed exactly as it went.
"""

import asyncio
import hashlib
import os
import sqlite3
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from suffice.storage.corruption import CorruptCache, translate_sqlite_errors

_BUSY_TIMEOUT_SECONDS = 30.0
_KEYS_PER_QUERY = 500  # SQLite's oldest builds allow 999 parameters in a statement.
_TIMESTAMP_BYTES = 8


def make_key(*parts: object) -> bytes:
    """Return a cache key: the SHA-256 of the parts as ``repr`` shows them."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()


class SqliteCache:
    """Bytes by key in one SQLite file. Thread-safe.

    ``name`` is what messages to the user call it, such as ``vector cache``. Without a ``path`` nothing is stored.
    """

    def __init__(self, path: Path | None, name: str, notify: Callable[[str], None]) -> None:
        self._path = path
        self._name = name
        self._notify = notify
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the stored values of these keys; missing keys are left out."""
        found: dict[bytes, bytes] = {}
        with self._handle_errors():
            if (database := self._connect()) is not None:
                wanted = list(keys)
                for start in range(0, len(wanted), _KEYS_PER_QUERY):
                    batch = wanted[start : start + _KEYS_PER_QUERY]
                    marks = ",".join("?" * len(batch))
                    rows = database.execute(f"SELECT key, value FROM shelf WHERE key IN ({marks})", batch)
                    found |= {key: value for key, value in rows if isinstance(value, bytes)}
        return found

    def put(self, items: Mapping[bytes, bytes]) -> None:
        """Store these values, replacing earlier ones."""
        self._write("INSERT OR REPLACE INTO shelf VALUES (?, ?)", items.items())

    def delete_before(self, value: bytes) -> None:
        """Delete every value that sorts before this one; for values that begin with a timestamp."""
        self._write("DELETE FROM shelf WHERE value < ?", [(value,)])

    def clear(self) -> None:
        """Delete all values."""
        self._write("DELETE FROM shelf", [()])

    def close(self) -> None:
        """Close the file. The cache stays usable but stores nothing any more."""
        with self._lock:
            self._disconnect()
            self._path = None

    def _connect(self) -> sqlite3.Connection | None:
        if self._database is None and self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            database = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_SECONDS, check_same_thread=False)
            self._database = database
            with suppress(PermissionError):  # The file of another user, who decides who may read it.
                self._path.chmod(0o600)
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.execute("CREATE TABLE IF NOT EXISTS shelf (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        return self._database

    def _write(self, statement: str, rows: Iterable[tuple[bytes, ...]]) -> None:
        with self._handle_errors():
            if (database := self._connect()) is not None:
                with database:
                    database.executemany(statement, rows)

    @contextmanager
    def _handle_errors(self) -> Iterator[None]:
        """Hold the lock; on errors of the file, go on without it or with a new one."""
        with self._lock:
            try:
                with translate_sqlite_errors():
                    yield
            except OSError as error:
                self._disable(error)
            except CorruptCache as error:
                self._replace_corrupt_file(error)

    def _disable(self, reason: Exception) -> None:
        self._notify(f"The {self._name} {self._path} cannot be used ({reason}); going on without it.")
        self._disconnect()
        self._path = None

    def _replace_corrupt_file(self, reason: Exception) -> None:
        """Move the file aside instead of deleting it: it may not be a cache of this program at all."""
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
        self._notify(f"The {self._name} was damaged ({reason}); it was moved to {aside} and a new one is used.")

    def _disconnect(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


@dataclass
class JsonCache:
    """Typed values as JSON in a ``SqliteCache``; values older than ``max_age_seconds`` count as missing.

    A value that cannot be read as that type (of another version, or corrupt) counts as missing too.
    """

    cache: SqliteCache
    max_age_seconds: float
    clock: Callable[[], float] = time.time

    async def load(self, key: bytes, type: Any) -> Any:
        """Return the value stored under a key as ``type``, or ``None``."""
        stored = (await asyncio.to_thread(self.cache.get, [key])).get(key)
        if stored is None:
            return None
        if not 0 <= self.clock() - int.from_bytes(stored[:_TIMESTAMP_BYTES], "big") < self.max_age_seconds:
            return None
        try:
            return msgspec.json.decode(stored[_TIMESTAMP_BYTES:], type=type)
        except msgspec.MsgspecError:
            return None

    async def save(self, key: bytes, value: Any) -> None:
        """Store a value. One with half a surrogate pair cannot be encoded and is not stored."""
        with suppress(UnicodeEncodeError):
            stored = _encode_timestamp(self.clock()) + msgspec.json.encode(value)
            await asyncio.to_thread(self.cache.put, {key: stored})

    def delete_expired(self) -> None:
        """Delete the values that are too old to be returned."""
        self.cache.delete_before(_encode_timestamp(self.clock() - self.max_age_seconds))


def _encode_timestamp(seconds: float) -> bytes:
    """Return a time as bytes that sort like the number."""
    return struct.pack(">Q", max(0, int(seconds)))
