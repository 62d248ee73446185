"""What a search service answered within the last day: asked once, not again.

Only answers with something in them are kept, never errors: what was empty or failed is asked again. An entry that cannot be
read is an answer that is not there.
"""

import asyncio
import hashlib
import struct
import time
from collections.abc import Callable

from suffice.search.base import Search
from suffice.shelf import Shelf
from suffice.types import Passage, Query

SECONDS = 24 * 3600.0


class Remembered:
    """The search, asked only for what the shelf does not hold. ``service`` says who answers: nobody else's answers count."""

    def __init__(self, service: str, search: Search, shelf: Shelf, *, clock: Callable[[], float] = time.time) -> None:
        self._service = service
        self._search = search
        self._shelf = shelf
        self._clock = clock

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        key = self._key(query, k)
        kept = await asyncio.to_thread(self._find, key)
        if kept is not None:
            return kept
        found = await self._search(query, k)
        if found:
            await asyncio.to_thread(self._keep, key, found)
        return found

    def _key(self, query: Query, k: int) -> bytes:
        text = " ".join(query.text.casefold().split())
        return hashlib.sha256(f"{self._service}\n{k}\n{text}".encode("utf-8", "surrogatepass")).digest()

    def _find(self, key: bytes) -> list[Passage] | None:
        import msgspec

        kept = self._shelf.get([key]).get(key, b"")
        try:
            (at,) = struct.unpack_from(">Q", kept)
            fresh = 0 <= self._clock() - at < SECONDS
            return msgspec.json.decode(kept[8:], type=list[Passage]) if fresh else None
        except (struct.error, msgspec.MsgspecError):
            return None

    def _keep(self, key: bytes, found: list[Passage]) -> None:
        import msgspec

        self._shelf.put({key: _stamp(self._clock()) + msgspec.json.encode(found)})


def forget_old(shelf: Shelf, clock: Callable[[], float] = time.time) -> None:
    """Delete what is too old to be used."""
    shelf.drop_before(_stamp(clock() - SECONDS))


def _stamp(moment: float) -> bytes:
    """A time that sorts as bytes."""
    return struct.pack(">Q", max(0, int(moment)))
