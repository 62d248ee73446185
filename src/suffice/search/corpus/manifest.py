"""Which files an index holds, and in which state they were read.

A row with an empty stamp is pending: it was saved before the file's entries were written, so the index may or may not hold
them. After a crash, the next update redoes the pending files, even if they were deleted in the meantime.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from suffice.storage.corruption import CorruptCache, translate_sqlite_errors

_BUSY_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """A file as it was read. ``why`` says why it, or a part of it, could not be read; it is empty otherwise."""

    stamp: str
    passages: int = 0
    why: str = ""


class Manifest:
    """The rows by absolute path, in a SQLite file; in memory if ``path`` is ``None``."""

    def __init__(self, path: Path | None) -> None:
        with translate_sqlite_errors():
            self._database = sqlite3.connect(path or ":memory:", timeout=_BUSY_TIMEOUT_SECONDS, check_same_thread=False)
        # A corrupt path must not stop reading: it looks like a deleted file, and the size of the index then does not match.
        self._database.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            with translate_sqlite_errors(), self._database:
                self._database.execute(
                    "CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, stamp TEXT, passages INTEGER, why TEXT)"
                )
        except (OSError, CorruptCache):
            self._database.close()
            raise

    def read_rows(self) -> dict[str, ManifestRow]:
        with translate_sqlite_errors():
            rows = self._database.execute("SELECT path, stamp, passages, why FROM files").fetchall()
        return {path: ManifestRow(stamp, passages, why) for path, stamp, passages, why in rows}

    def mark_pending(self, paths: Iterable[str]) -> None:
        """Record that the entries of these files are about to change."""
        self.save_rows({path: ManifestRow("") for path in paths})

    def save_rows(self, rows: dict[str, ManifestRow]) -> None:
        with translate_sqlite_errors(), self._database:
            self._database.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)",
                [(path, row.stamp, row.passages, row.why) for path, row in rows.items()],
            )

    def delete_rows(self, paths: Iterable[str]) -> None:
        with translate_sqlite_errors(), self._database:
            self._database.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in paths])

    def close(self) -> None:
        self._database.close()
