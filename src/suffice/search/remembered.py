"""What a search service answered within the last day: asked once, not again.

One file an answer, named by what was asked. Only answers with something in them are kept, never errors. A file that cannot
be read is an answer that is not there; a folder that cannot be written is done without.
"""

import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from suffice.search.base import Search
from suffice.types import Passage, Query

SECONDS = 24 * 3600.0


class Remembered:
    """The search, asked only for what ``folder`` does not hold. ``service`` says who answers: nobody else's answers count."""

    def __init__(self, service: str, search: Search, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._service = service
        self._search = search
        self._folder = folder
        self._clock = clock

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        path = self._folder / f"{self._key(query, k)}.json"
        kept = self._kept(path)
        if kept is not None:
            return kept
        found = await self._search(query, k)
        if found:
            self._keep(path, found)
        return found

    def _key(self, query: Query, k: int) -> str:
        text = " ".join(query.text.casefold().split())
        return hashlib.sha256(f"{self._service}\n{k}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()

    def _kept(self, path: Path) -> list[Passage] | None:
        import msgspec

        try:
            age = self._clock() - path.stat().st_mtime
            if not 0 <= age < SECONDS:
                path.unlink()
                return None
            return msgspec.json.decode(path.read_bytes(), type=list[Passage])
        except (OSError, ValueError):
            return None

    def _keep(self, path: Path, found: list[Passage]) -> None:
        import msgspec

        half = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            half.write_bytes(msgspec.json.encode(found))
            os.utime(half, (self._clock(), self._clock()))
            half.replace(path)  # Whoever reads meanwhile sees all of it or nothing.


def forget_old(folder: Path, clock: Callable[[], float] = time.time) -> None:
    """Delete what is too old to be used."""
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):
                if clock() - path.stat().st_mtime >= SECONDS:
                    path.unlink()
