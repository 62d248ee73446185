"""DuckDuckGo, through the page parser of ``ddgs``. It needs no key, but refuses frequent requests without warning.

``ddgs`` reports "no results" also when a request was refused. Here the status and the page tell the two apart.
"""

import asyncio
from typing import Any

from suffice.errors import SearchError, SearchRefused
from suffice.search.web.provider import Provider, SearchResult, get_base_url, to_passages
from suffice.settings import Settings
from suffice.types import Passage, Query

NAME = "DuckDuckGo"
TIMEOUT_SECONDS = 8  # Short, because the thread that sends the request cannot be interrupted.


def duckduckgo(config: Settings) -> Provider:
    url = get_base_url(config, "DUCKDUCKGO_URL", "https://html.duckduckgo.com/html")

    async def search(query: Query, k: int) -> list[Passage]:
        return await asyncio.to_thread(_search, f"{url}/", query.text, k)

    return Provider("duckduckgo", url, search, per_second=1.0)


def _search(url: str, text: str, k: int) -> list[Passage]:
    from ddgs.engines.duckduckgo import Duckduckgo
    from ddgs.exceptions import DDGSException, TimeoutException

    class Engine(Duckduckgo):
        search_url = url

        def request(self, *args: Any, **kwargs: Any) -> str:
            response = self.http_client.request(*args, **kwargs)
            if response.status_code >= 500:
                raise SearchError(f"{NAME} failed (HTTP {response.status_code})", retryable=True)
            # With status 202 it asks for a CAPTCHA.
            if response.status_code != 200 or "anomaly-modal" in response.text:
                raise SearchRefused(f"{NAME} received too many requests (HTTP {response.status_code})", retryable=True)
            return str(response.text)

    try:
        found = Engine(timeout=TIMEOUT_SECONDS).search(text) or []
    except TimeoutException as error:
        raise SearchError(f"{NAME} did not answer within {TIMEOUT_SECONDS} seconds", retryable=True) from error
    except DDGSException as error:
        raise SearchError(f"{NAME} cannot be reached: {str(error).partition(':')[0]}", retryable=True) from error
    return to_passages((SearchResult(hit.href, hit.title, hit.body) for hit in found), k)
