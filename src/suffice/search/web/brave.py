"""Brave Search, which has its own index."""

from collections.abc import Iterator
from typing import Any

from suffice.search.web.http import ProviderRequest, fetch_passages
from suffice.search.web.provider import Provider, SearchResult, get_base_url, require_setting
from suffice.settings import Settings
from suffice.types import Passage, Query

API_KEY_SETTING = "BRAVE_API_KEY"
MAX_RESULTS = 20  # Limit of one request.
MAX_QUERY_CHARS, MAX_QUERY_WORDS = 400, 50  # Brave rejects longer queries.


def brave(config: Settings) -> Provider:
    key = require_setting(config, API_KEY_SETTING, "Brave")
    url = get_base_url(config, "BRAVE_BASE_URL", "https://api.search.brave.com/res/v1")

    async def search(query: Query, k: int) -> list[Passage]:
        text = " ".join(query.text.split()[:MAX_QUERY_WORDS])[:MAX_QUERY_CHARS]
        request = ProviderRequest(
            f"{url}/web/search",
            {"q": text, "count": min(k, MAX_RESULTS), "result_filter": "web", "text_decorations": "false"},
            {"X-Subscription-Token": key},
            key_setting=API_KEY_SETTING,
            secret=key,
            refusal_messages={422: f"the key or the query was not accepted; check {API_KEY_SETTING}"},
        )
        return await fetch_passages("Brave", request, _parse_results, k)

    # The free plan allows one request a second. With a paid plan this limit costs a little time.
    return Provider("brave", url, search, per_second=1.0)


def _parse_results(answer: Any) -> Iterator[SearchResult]:
    for result in (answer.get("web") or {}).get("results") or ():
        snippets = [result.get("description") or "", *(result.get("extra_snippets") or ())]
        yield SearchResult(result.get("url") or "", result.get("title") or "", "\n".join(filter(None, snippets)))
