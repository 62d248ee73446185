"""Tavily: a search made for agents; each result carries the stretches of the page that fit the query."""

from collections.abc import Iterator
from typing import Any

from suffice.search.web.http import ProviderRequest, fetch_passages
from suffice.search.web.provider import Provider, SearchResult, get_base_url, require_setting
from suffice.settings import Settings
from suffice.types import Passage, Query

API_KEY_SETTING = "TAVILY_API_KEY"
MAX_RESULTS = 20  # Results that one request may ask for.


def tavily(config: Settings) -> Provider:
    key = require_setting(config, API_KEY_SETTING, "Tavily")
    url = get_base_url(config, "TAVILY_BASE_URL", "https://api.tavily.com")

    async def search(query: Query, k: int) -> list[Passage]:
        body = {"query": query.text, "max_results": min(k, MAX_RESULTS), "search_depth": "basic"}
        headers = {"Authorization": f"Bearer {key}"}
        return await fetch_passages(
            "Tavily",
            ProviderRequest(f"{url}/search", headers=headers, body=body, key_setting=API_KEY_SETTING, secret=key),
            _parse_results,
            k,
        )

    return Provider("tavily", url, search)


def _parse_results(answer: Any) -> Iterator[SearchResult]:
    for result in answer["results"]:
        yield SearchResult(result.get("url") or "", result.get("title") or "", result.get("content") or "")
