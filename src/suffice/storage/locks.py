"""A lock on a file that one process holds at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from suffice.errors import InputError


@contextmanager
def lock_or_refuse(path: Path, message: str) -> Iterator[None]:
    """Hold the lock on a file; raise ``InputError`` with this message if another process has it."""
    try:
        with FileLock(path, blocking=False):
            yield
    except Timeout:
        raise InputError(message) from None
