"""Serper: Google's results."""

from collections.abc import Iterator
from typing import Any

from suffice.search.web.http import Call, results
from suffice.search.web.provider import Found, Provider, base_url, required
from suffice.settings import Settings
from suffice.types import Passage, Query

KEY = "SERPER_API_KEY"
MOST = 20  # Results of one request; more are allowed, and cost more.


def serper(config: Settings) -> Provider:
    key = required(config, KEY, "Serper")
    url = base_url(config, "SERPER_BASE_URL", "https://google.serper.dev")

    async def search(query: Query, k: int) -> list[Passage]:
        body = {"q": query.text, "num": min(k, MOST)}
        call = Call(
            f"{url}/search",
            headers={"X-API-KEY": key},
            body=body,
            key=KEY,
            secret=key,
            refusals={400: f"the request is not accepted or the credits behind {KEY} are used up"},
        )
        return await results("Serper", call, _read, k)

    return Provider("serper", url, search)


def _read(answer: Any) -> Iterator[Found]:
    for result in answer.get("organic") or ():
        yield Found(result.get("link") or "", result.get("title") or "", result.get("snippet") or "")
