"""DuckDuckGo, by the page reader of ``ddgs``: no key, and no promise. It refuses without warning who asks too much.

``ddgs`` itself says "no results" also when it was refused; here the status and the page decide, so that the two stay apart.
"""

import asyncio
from typing import Any

from suffice.errors import SearchError, SearchRefused
from suffice.search.web.provider import Provider, SearchResult, get_base_url, to_passages
from suffice.settings import Settings
from suffice.types import Passage, Query

NAME = "DuckDuckGo"
TIMEOUT_SECONDS = 8  # The thread that asks cannot be interrupted, so nobody waits long for it.


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

        def request(self, *given: Any, **named: Any) -> str:
            answer = self.http_client.request(*given, **named)
            if answer.status_code >= 500:
                raise SearchError(f"{NAME} failed (HTTP {answer.status_code})", retryable=True)
            # 202 is its way of asking whether a person is there.
            if answer.status_code != 200 or "anomaly-modal" in answer.text:
                raise SearchRefused(f"{NAME} was asked too often (HTTP {answer.status_code})", retryable=True)
            return str(answer.text)

    try:
        found = Engine(timeout=TIMEOUT_SECONDS).search(text) or []
    except TimeoutException as error:
        raise SearchError(f"{NAME} did not answer within {TIMEOUT_SECONDS} seconds", retryable=True) from error
    except DDGSException as error:
        raise SearchError(f"{NAME} cannot be reached: {str(error).partition(':')[0]}", retryable=True) from error
    return to_passages((SearchResult(hit.href, hit.title, hit.body) for hit in found), k)
