"""A search whose answers are cached on disk for a day, so that the same query is sent once.

Empty answers and errors are not cached. See ``storage.sqlite_cache`` for how the caches differ from a job's journal.
"""

from dataclasses import dataclass

from suffice.search.base import Search
from suffice.storage.sqlite_cache import JsonCache, make_key
from suffice.types import Passage, Query

MAX_AGE_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class CachedSearch:
    """Wraps any search. ``service`` names who answers: each service has its own entries in a shared cache."""

    service: str
    search: Search
    cache: JsonCache

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        key = make_key(self.service, k, " ".join(query.text.casefold().split()))
        cached: list[Passage] | None = await self.cache.load(key, list[Passage])
        if cached is not None:
            return cached
        found = await self.search(query, k)
        if found:
            await self.cache.save(key, found)
        return found
