"""The Search seam: one method from a query to passages, best first.

A search that finds nothing returns an empty list; a search that cannot answer raises ``SearchError``. The two are never
confused. Whoever calls decides what was seen before: a search only ranks.
"""

from typing import Protocol, runtime_checkable

from suffice.types import Passage, Query


@runtime_checkable
class Search(Protocol):
    async def __call__(self, query: Query, k: int) -> list[Passage]:
        """At most ``k`` passages for the query, best first. A score is comparable within this search; where a service
        gives only an order, there is none."""
        ...
