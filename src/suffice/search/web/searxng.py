"""SearXNG, a self-hosted metasearch engine, over its JSON format.

The JSON format must be enabled in its settings. If none of its engines answers, SearXNG still responds with status 200 and an
empty list; this counts as a failure here, not as an empty answer.
"""

from collections.abc import Iterator
from typing import Any

from suffice.errors import SearchError
from suffice.search.web.http import ProviderRequest, fetch_passages
from suffice.search.web.provider import Provider, SearchResult, get_base_url, read_results, require_setting
from suffice.settings import Settings
from suffice.types import Passage, Query

NAME = "SearXNG"
_JSON_DISABLED_HINT = "its JSON format is disabled; add json to search.formats in its settings.yml"


def searxng(config: Settings) -> Provider:
    require_setting(config, "SEARXNG_URL", NAME)
    url = get_base_url(config, "SEARXNG_URL").removesuffix("/search")

    async def search(query: Query, k: int) -> list[Passage]:
        request = ProviderRequest(
            f"{url}/search", {"q": query.text, "format": "json"}, refusal_messages={403: _JSON_DISABLED_HINT}
        )
        return await fetch_passages(NAME, request, _parse_results, k)

    return Provider("searxng", url, search)


def _parse_results(answer: Any) -> Iterator[SearchResult]:
    if not answer["results"] and answer.get("unresponsive_engines"):
        engines = ", ".join(f"{name} ({reason})" for name, reason, *_ in answer["unresponsive_engines"])
        raise SearchError(f"None of {NAME}'s engines answered: {engines}")
    yield from read_results(answer["results"], text="content")
