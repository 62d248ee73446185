"""Wikipedia: articles by full-text search, each with its introduction as plain text. It needs no key."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from suffice.errors import SearchError, SearchRefused
from suffice.search.web.http import ProviderRequest, fetch_passages
from suffice.search.web.provider import Provider, SearchResult, get_base_url, read_results
from suffice.settings import Settings
from suffice.types import Passage, Query

MAX_RESULTS = 20  # Limit of one request.
MAX_QUERY_CHARS = 300  # Wikipedia rejects longer queries.
_SHOWN = dict(
    parse_qsl(
        "action=query&generator=search&prop=extracts|info&exintro=1&explaintext=1&exlimit=max&inprop=url"
        "&format=json&formatversion=2"
    )
)


def wikipedia(config: Settings) -> Provider:
    url = get_base_url(config, "WIKIPEDIA_URL", "https://en.wikipedia.org")

    async def search(query: Query, k: int) -> list[Passage]:
        found = {"gsrsearch": query.text[:MAX_QUERY_CHARS], "gsrlimit": str(min(k, MAX_RESULTS))}
        request = ProviderRequest(f"{url}/w/api.php", _SHOWN | found)
        return await fetch_passages("Wikipedia", request, _parse_results, k)

    return Provider("wikipedia", url, search)


def _parse_results(answer: Any) -> Iterator[SearchResult]:
    if error := answer.get("error"):  # Errors come with status 200.
        message = f"Wikipedia refused: {error.get('info') or error.get('code')}"
        is_busy = error.get("code") in ("ratelimited", "maxlag")
        raise SearchRefused(message, retryable=True) if is_busy else SearchError(message)
    pages = answer.get("query", {}).get("pages", ())
    yield from read_results(sorted(pages, key=lambda page: page.get("index", 0)), "fullurl", text="extract")
