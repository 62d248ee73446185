"""Services that take a key and answer with JSON: Tavily, Exa, Brave Search and Serper.

The setting ``NAME_API_KEY`` holds the key, and ``NAME_BASE_URL`` another address than the service's own.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from suffice.search.web.http import ProviderRequest, fetch_passages
from suffice.search.web.provider import Provider, SearchResult, get_base_url, read_results, require_setting
from suffice.settings import Settings
from suffice.types import Passage, Query

MAX_RESULTS = 20  # Of one request: the limit of Tavily and Brave; with Serper more would cost more.
MAX_EXA_RESULTS = 25  # More would cost more.
MAX_BRAVE_CHARS, MAX_BRAVE_WORDS = 400, 50  # Brave rejects longer queries.


def tavily(config: Settings) -> Provider:
    """A search for agents; each result holds the parts of the page that match the query."""

    def describe(url: str, key: str, text: str, k: int) -> ProviderRequest:
        body = {"query": text, "max_results": min(k, MAX_RESULTS), "search_depth": "basic"}
        return ProviderRequest(f"{url}/search", headers={"Authorization": f"Bearer {key}"}, body=body)

    def parse(answer: Any) -> Iterator[SearchResult]:
        return read_results(answer["results"], text="content")

    return _make_provider(config, "Tavily", "https://api.tavily.com", describe, parse)


def exa(config: Settings) -> Provider:
    """A semantic search; each result holds the parts of the page that match the query."""

    def describe(url: str, key: str, text: str, k: int) -> ProviderRequest:
        count, contents = min(k, MAX_EXA_RESULTS), {"highlights": True}
        body = {"query": text, "type": "auto", "numResults": count, "contents": contents}
        return ProviderRequest(f"{url}/search", headers={"x-api-key": key}, body=body)

    def parse(answer: Any) -> Iterator[SearchResult]:
        for result in answer["results"]:
            text = "\n".join(result.get("highlights") or ()) or result.get("text") or result.get("summary") or ""
            yield SearchResult(result.get("url") or "", result.get("title") or "", text)

    return _make_provider(config, "Exa", "https://api.exa.ai", describe, parse)


def brave(config: Settings) -> Provider:
    """Brave Search, which has its own index."""

    def describe(url: str, key: str, text: str, k: int) -> ProviderRequest:
        shown = {"result_filter": "web", "text_decorations": "false"}
        words = " ".join(text.split()[:MAX_BRAVE_WORDS])[:MAX_BRAVE_CHARS]
        params: dict[str, str | int] = {"q": words, "count": min(k, MAX_RESULTS), **shown}
        refusals = {422: "the key or the query was not accepted; check BRAVE_API_KEY"}
        return ProviderRequest(f"{url}/web/search", params, {"X-Subscription-Token": key}, refusal_messages=refusals)

    def parse(answer: Any) -> Iterator[SearchResult]:
        for result in (answer.get("web") or {}).get("results") or ():
            snippets = [result.get("description") or "", *(result.get("extra_snippets") or ())]
            yield SearchResult(result.get("url") or "", result.get("title") or "", "\n".join(filter(None, snippets)))

    # The free plan allows one request a second. With a paid plan this limit costs a little time.
    return _make_provider(config, "Brave", "https://api.search.brave.com/res/v1", describe, parse, per_second=1.0)


def serper(config: Settings) -> Provider:
    """Serper, which returns Google's results."""

    def describe(url: str, key: str, text: str, k: int) -> ProviderRequest:
        body = {"q": text, "num": min(k, MAX_RESULTS)}
        refusals = {400: "the request was not accepted, or the credits behind SERPER_API_KEY are used up"}
        return ProviderRequest(f"{url}/search", headers={"X-API-KEY": key}, body=body, refusal_messages=refusals)

    def parse(answer: Any) -> Iterator[SearchResult]:
        return read_results(answer.get("organic") or (), "link", text="snippet")

    return _make_provider(config, "Serper", "https://google.serper.dev", describe, parse)


def _make_provider(
    config: Settings,
    name: str,
    base_url: str,
    describe: Callable[[str, str, str, int], ProviderRequest],
    parse: Callable[[Any], Iterable[SearchResult]],
    per_second: float = 5.0,
) -> Provider:
    """Return a provider; ``describe`` makes the request from the address, the key, the query and the number of results."""
    setting = f"{name.upper()}_API_KEY"
    key = require_setting(config, setting, name)
    url = get_base_url(config, f"{name.upper()}_BASE_URL", base_url)

    async def search(query: Query, k: int) -> list[Passage]:
        request = replace(describe(url, key, query.text, k), key_setting=setting, secret=key)
        return await fetch_passages(name, request, parse, k)

    return Provider(name.lower(), url, search, per_second)
