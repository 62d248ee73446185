"""Exa, a semantic search; each result holds the parts of the page that match the query."""

from collections.abc import Iterator
from typing import Any

from suffice.search.web.http import ProviderRequest, fetch_passages
from suffice.search.web.provider import Provider, SearchResult, get_base_url, require_setting
from suffice.settings import Settings
from suffice.types import Passage, Query

API_KEY_SETTING = "EXA_API_KEY"
MAX_RESULTS = 25  # Results of one request; more would cost more.


def exa(config: Settings) -> Provider:
    key = require_setting(config, API_KEY_SETTING, "Exa")
    url = get_base_url(config, "EXA_BASE_URL", "https://api.exa.ai")

    async def search(query: Query, k: int) -> list[Passage]:
        body = {
            "query": query.text,
            "type": "auto",
            "numResults": min(k, MAX_RESULTS),
            "contents": {"highlights": True},
        }
        request = ProviderRequest(
            f"{url}/search", headers={"x-api-key": key}, body=body, key_setting=API_KEY_SETTING, secret=key
        )
        return await fetch_passages("Exa", request, _parse_results, k)

    return Provider("exa", url, search)


def _parse_results(answer: Any) -> Iterator[SearchResult]:
    for result in answer["results"]:
        text = "\n".join(result.get("highlights") or ()) or result.get("text") or result.get("summary") or ""
        yield SearchResult(result.get("url") or "", result.get("title") or "", text)
