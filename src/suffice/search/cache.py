"""A search whose answers are cached on disk for a day, so that the same query is sent once.

Empty answers and errors are not cached. See ``storage.sqlite_cache`` for how the caches differ from a job's journal.
"""

from suffice.search.base import Search
from suffice.storage.sqlite_cache import JsonCache, make_key
from suffice.types import Passage, Query

MAX_AGE_SECONDS = 24 * 3600.0


class CachedSearch:
    """Wraps any search. ``service`` names who answers: each service has its own entries in a shared cache."""

    def __init__(self, service: str, search: Search, cache: JsonCache) -> None:
        self._service = service
        self._search = search
        self._cache = cache

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        key = make_key(self._service, k, " ".join(query.text.casefold().split()))
        cached: list[Passage] | None = await self._cache.load(key, list[Passage])
        if cached is not None:
            return cached
        found = await self._search(query, k)
        if found:
            await self._cache.save(key, found)
        return found
