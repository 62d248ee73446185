"""Tell apart the texts that a web search returns for one page.

A service names a result by its URL, but the snippet depends on the query. With the URL as its id, a new snippet of a known
page would look like one that was seen before.
"""

import hashlib
from dataclasses import replace

from suffice.search.base import Search
from suffice.search.urls import canonicalize_url
from suffice.types import Passage, Query

_DIGEST_CHARS = 12


class DistinctTextSearch:
    """Wraps a search and adds a digest of the text to each id that is only the URL of a page."""

    def __init__(self, search: Search) -> None:
        self._search = search

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        return [identify_text(passage) for passage in await self._search(query, k)]


def identify_text(passage: Passage) -> Passage:
    """Return the passage with an id of its own. Spaces and the dots around a cut snippet make no difference."""
    if passage.url is None or passage.id != canonicalize_url(passage.url):
        return passage
    text = " ".join(passage.text.split()).strip(" .…")
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGEST_CHARS]
    return replace(passage, id=f"{passage.id}#text={digest}")
