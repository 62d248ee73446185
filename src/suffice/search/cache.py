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
from suffice.storage.sqlite_cache import SqliteCache
from suffice.types import Passage, Query

TTL_SECONDS = 24 * 3600.0


class CachedSearch:
    """The search, asked only for what the shelf does not hold. ``service`` says who answers: nobody else's answers count."""

    def __init__(
        self, service: str, search: Search, cache: SqliteCache, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._service = service
        self._search = search
        self._cache = cache
        self._clock = clock

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        key = self._make_key(query, k)
        kept = await asyncio.to_thread(self._load, key)
        if kept is not None:
            return kept
        found = await self._search(query, k)
        if found:
            await asyncio.to_thread(self._save, key, found)
        return found

    def _make_key(self, query: Query, k: int) -> bytes:
        text = " ".join(query.text.casefold().split())
        return hashlib.sha256(f"{self._service}\n{k}\n{text}".encode("utf-8", "surrogatepass")).digest()

    def _load(self, key: bytes) -> list[Passage] | None:
        import msgspec

        kept = self._cache.get([key]).get(key, b"")
        try:
            (at,) = struct.unpack_from(">Q", kept)
            fresh = 0 <= self._clock() - at < TTL_SECONDS
            return msgspec.json.decode(kept[8:], type=list[Passage]) if fresh else None
        except (struct.error, msgspec.MsgspecError):
            return None

    def _save(self, key: bytes, found: list[Passage]) -> None:
        import msgspec

        self._cache.put({key: _encode_timestamp(self._clock()) + msgspec.json.encode(found)})


def delete_expired(cache: SqliteCache, clock: Callable[[], float] = time.time) -> None:
    """Delete what is too old to be used."""
    cache.delete_before(_encode_timestamp(clock() - TTL_SECONDS))


def _encode_timestamp(moment: float) -> bytes:
    """A time that sorts as bytes."""
    return struct.pack(">Q", max(0, int(moment)))
