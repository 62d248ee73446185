"""Brave Search: an index of its own."""

from collections.abc import Iterator
from typing import Any

from suffice.search.web.http import Call, results
from suffice.search.web.provider import Found, Provider, base_url, required
from suffice.settings import Settings
from suffice.types import Passage, Query

KEY = "BRAVE_API_KEY"
MOST = 20  # Results that one request may ask for.
LONGEST_QUERY, MOST_WORDS = 400, 50  # What is longer is answered with an error.


def brave(config: Settings) -> Provider:
    key = required(config, KEY, "Brave")
    url = base_url(config, "BRAVE_BASE_URL", "https://api.search.brave.com/res/v1")

    async def search(query: Query, k: int) -> list[Passage]:
        text = " ".join(query.text.split()[:MOST_WORDS])[:LONGEST_QUERY]
        call = Call(
            f"{url}/web/search",
            {"q": text, "count": min(k, MOST), "result_filter": "web", "text_decorations": "false"},
            {"X-Subscription-Token": key},
            key=KEY,
            secret=key,
            refusals={422: f"the key or the query is not accepted; check {KEY}"},
        )
        return await results("Brave", call, _read, k)

    # The free plan allows one request a second; who pays for more waits a little, nobody is refused.
    return Provider("brave", url, search, per_second=1.0)


def _read(answer: Any) -> Iterator[Found]:
    for result in (answer.get("web") or {}).get("results") or ():
        snippets = [result.get("description") or "", *(result.get("extra_snippets") or ())]
        yield Found(result.get("url") or "", result.get("title") or "", "\n".join(filter(None, snippets)))
