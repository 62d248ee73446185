"""Tells a damaged cache, which is made anew, from a place that cannot be used, which is done without.

SQLite and tantivy both blur the two. This module only sorts their errors; what follows is the caller's decision.
"""

import errno
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

_ENVIRONMENT_ERRORS = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
    }
)


class CorruptCache(Exception):
    """What was kept cannot be read as it is."""


@contextmanager
def translate_sqlite_errors() -> Iterator[None]:
    """Inside, SQLite fails with ``OSError`` (full, read-only, locked …) or ``Damaged``."""
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the primary code. An error without one comes from the module, not from the file.
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR) & 0xFF in _ENVIRONMENT_ERRORS:
            raise OSError(errno.EIO, str(error)) from error
        raise CorruptCache(str(error)) from error
    except UnicodeDecodeError as error:
        # From the module itself, whose message quotes a schema that is no text any more.
        raise CorruptCache(str(error)) from error


@contextmanager
def translate_tantivy_errors() -> Iterator[None]:
    """Inside, tantivy fails with ``OSError`` or ``Damaged``: it says ValueError to everything, only the text tells."""
    try:
        yield
    except ValueError as error:
        system = re.search(r"(?:code: |os error )(\d+)", str(error))
        if system and int(system[1]) != errno.ENOENT:
            raise OSError(int(system[1]), os.strerror(int(system[1]))) from error
        if "writer was killed" in str(error) or "Worker thread failed" in str(error):
            raise OSError(errno.EIO, "the index could not be written") from error
        raise CorruptCache(str(error)) from error
    except BaseException as error:
        # A flipped byte can make tantivy panic; the class of that exception cannot be imported.
        if type(error).__name__ == "PanicException":
            raise CorruptCache(str(error)) from error
        raise
