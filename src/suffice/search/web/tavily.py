"""Tavily: a search made for agents; each result carries the stretches of the page that fit the query."""

from collections.abc import Iterator
from typing import Any

from suffice.search.web.http import Call, results
from suffice.search.web.provider import Found, Provider, base_url, required
from suffice.settings import Settings
from suffice.types import Passage, Query

KEY = "TAVILY_API_KEY"
MOST = 20  # Results that one request may ask for.


def tavily(config: Settings) -> Provider:
    key = required(config, KEY, "Tavily")
    url = base_url(config, "TAVILY_BASE_URL", "https://api.tavily.com")

    async def search(query: Query, k: int) -> list[Passage]:
        body = {"query": query.text, "max_results": min(k, MOST), "search_depth": "basic"}
        headers = {"Authorization": f"Bearer {key}"}
        return await results("Tavily", Call(f"{url}/search", headers=headers, body=body, key=KEY, secret=key), _read, k)

    return Provider("tavily", url, search)


def _read(answer: Any) -> Iterator[Found]:
    for result in answer["results"]:
        yield Found(result.get("url") or "", result.get("title") or "", result.get("content") or "")
