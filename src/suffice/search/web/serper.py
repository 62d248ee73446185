"""Serper, which returns Google's results."""

from suffice.search.web.http import ProviderRequest, fetch_passages
from suffice.search.web.provider import Provider, get_base_url, read_results, require_setting
from suffice.settings import Settings
from suffice.types import Passage, Query

API_KEY_SETTING = "SERPER_API_KEY"
MAX_RESULTS = 20  # Results of one request; more would cost more.


def serper(config: Settings) -> Provider:
    key = require_setting(config, API_KEY_SETTING, "Serper")
    url = get_base_url(config, "SERPER_BASE_URL", "https://google.serper.dev")

    async def search(query: Query, k: int) -> list[Passage]:
        body = {"q": query.text, "num": min(k, MAX_RESULTS)}
        request = ProviderRequest(
            f"{url}/search",
            headers={"X-API-KEY": key},
            body=body,
            key_setting=API_KEY_SETTING,
            secret=key,
            refusal_messages={
                400: f"the request was not accepted, or the credits behind {API_KEY_SETTING} are used up"
            },
        )
        return await fetch_passages(
            "Serper", request, lambda answer: read_results(answer.get("organic") or (), "link", text="snippet"), k
        )

    return Provider("serper", url, search)
