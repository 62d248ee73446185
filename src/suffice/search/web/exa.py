"""Exa: a search by meaning; each result carries the stretches of the page that fit the query."""

from collections.abc import Iterator
from typing import Any

from suffice.search.web.http import Call, results
from suffice.search.web.provider import Found, Provider, base_url, required
from suffice.settings import Settings
from suffice.types import Passage, Query

KEY = "EXA_API_KEY"
MOST = 25  # Results of one request; more are allowed, and cost more.


def exa(config: Settings) -> Provider:
    key = required(config, KEY, "Exa")
    url = base_url(config, "EXA_BASE_URL", "https://api.exa.ai")

    async def search(query: Query, k: int) -> list[Passage]:
        body = {"query": query.text, "type": "auto", "numResults": min(k, MOST), "contents": {"highlights": True}}
        call = Call(f"{url}/search", headers={"x-api-key": key}, body=body, key=KEY, secret=key)
        return await results("Exa", call, _read, k)

    return Provider("exa", url, search)


def _read(answer: Any) -> Iterator[Found]:
    for result in answer["results"]:
        text = "\n".join(result.get("highlights") or ()) or result.get("text") or result.get("summary") or ""
        yield Found(result.get("url") or "", result.get("title") or "", text)
