"""Which files an index holds, and in which state they were read.

A row with an empty stamp is a file whose entries may or may not be in the index: it was announced before its entries
were written, so that after a kill the next opening knows what to redo, even if the file is gone by then. This module
knows neither the index nor the files.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from suffice.storage.corruption import CorruptCache, translate_sqlite_errors

_BUSY_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """A file as it was read: ``why`` says why it could not be, and is empty otherwise."""

    stamp: str
    passages: int = 0
    why: str = ""


class Manifest:
    """The rows, by absolute path. ``None`` keeps them in memory."""

    def __init__(self, path: Path | None) -> None:
        with translate_sqlite_errors():
            self._database = sqlite3.connect(path or ":memory:", timeout=_BUSY_TIMEOUT_SECONDS, check_same_thread=False)
        # A damaged name must not stop the reading: it is a file that is gone, which the index's size gives away.
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
            found = self._database.execute("SELECT path, stamp, passages, why FROM files").fetchall()
        return {path: ManifestRow(stamp, passages, why) for path, stamp, passages, why in found}

    def mark_pending(self, paths: Iterable[str]) -> None:
        """These files' entries are about to change."""
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
