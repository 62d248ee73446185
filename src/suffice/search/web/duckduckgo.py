"""DuckDuckGo and the engines beside it, through ``ddgs``: no key, and no promise. It is rate-limited without warning."""

import asyncio

from suffice.errors import SearchError, SearchRefused
from suffice.search.web.http import SECONDS
from suffice.search.web.provider import Found, Provider, passages
from suffice.settings import Settings
from suffice.types import Passage, Query

NAME = "DuckDuckGo"
_NOTHING = "No results found."  # How ddgs says that it was answered and the answer was empty.


def duckduckgo(config: Settings) -> Provider:
    async def search(query: Query, k: int) -> list[Passage]:
        return await asyncio.to_thread(_search, query.text, k)

    return Provider("duckduckgo", "https://duckduckgo.com", search, per_second=1.0)


def _search(text: str, k: int) -> list[Passage]:
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    try:
        found = DDGS(timeout=int(SECONDS)).text(text, max_results=k)
    except RatelimitException as error:
        raise SearchRefused(f"{NAME} was asked too often ({error})", retryable=True) from error
    except TimeoutException as error:
        raise SearchError(f"{NAME} did not answer in time ({error})", retryable=True) from error
    except DDGSException as error:
        if str(error) == _NOTHING:
            return []
        raise SearchError(f"{NAME} cannot be asked: {error}", retryable=True) from error
    return passages((Found(hit.get("href") or "", hit.get("title") or "", hit.get("body") or "") for hit in found), k)
