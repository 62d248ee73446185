"""Tell a corrupt cache, which can be rebuilt, from a place that cannot be used (full, read-only, locked).

SQLite and tantivy report both with the same exceptions. This module only sorts them; the caller decides what to do.
"""

import errno
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

_ENVIRONMENT_ERRORS = frozenset(
    getattr(sqlite3, f"SQLITE_{name}") for name in "PERM BUSY LOCKED READONLY IOERR FULL CANTOPEN".split()
)


class CorruptCache(Exception):
    """The content of a cache cannot be read."""


@contextmanager
def translate_sqlite_errors() -> Iterator[None]:
    """Turn errors of SQLite into ``OSError`` (full, read-only, locked …) or ``CorruptCache``."""
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the primary code. An error without a code comes from the Python module, not from the file.
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR) & 0xFF in _ENVIRONMENT_ERRORS:
            raise OSError(errno.EIO, str(error)) from error
        raise CorruptCache(str(error)) from error
    except UnicodeDecodeError as error:
        # The Python module fails like this when its error message quotes a schema that is not valid UTF-8.
        raise CorruptCache(str(error)) from error


@contextmanager
def translate_tantivy_errors() -> Iterator[None]:
    """Turn errors of tantivy into ``OSError`` or ``CorruptCache``.

    tantivy raises ``ValueError`` for everything; only the message shows the cause.
    """
    try:
        yield
    except ValueError as error:
        os_error = re.search(r"(?:code: |os error )(\d+)", str(error))
        if os_error and int(os_error[1]) != errno.ENOENT:
            raise OSError(int(os_error[1]), os.strerror(int(os_error[1]))) from error
        if "writer was killed" in str(error) or "Worker thread failed" in str(error):
            raise OSError(errno.EIO, "the index could not be written") from error
        raise CorruptCache(str(error)) from error
    except BaseException as error:
        # A flipped byte can make tantivy panic; the class of that exception cannot be imported.
        if type(error).__name__ == "PanicException":
            raise CorruptCache(str(error)) from error
        raise
