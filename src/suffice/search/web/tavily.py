"""Tavily, a search for agents; each result holds the parts of the page that match the query."""

from suffice.search.web.http import ProviderRequest, fetch_passages
from suffice.search.web.provider import Provider, get_base_url, read_results, require_setting
from suffice.settings import Settings
from suffice.types import Passage, Query

API_KEY_SETTING = "TAVILY_API_KEY"
MAX_RESULTS = 20  # Limit of one request.


def tavily(config: Settings) -> Provider:
    key = require_setting(config, API_KEY_SETTING, "Tavily")
    url = get_base_url(config, "TAVILY_BASE_URL", "https://api.tavily.com")

    async def search(query: Query, k: int) -> list[Passage]:
        body = {"query": query.text, "max_results": min(k, MAX_RESULTS), "search_depth": "basic"}
        headers = {"Authorization": f"Bearer {key}"}
        request = ProviderRequest(f"{url}/search", headers=headers, body=body, key_setting=API_KEY_SETTING, secret=key)
        return await fetch_passages(
            "Tavily", request, lambda answer: read_results(answer["results"], text="content"), k
        )

    return Provider("tavily", url, search)
