"""Choose the web search services and combine them into one search.

providers are named    all of them are queried at the same time and merged
figures are wanted     services of figures that are configured are asked beside the others and merged (``DATA_SETTINGS``)
none is named          the first configured one is queried, the others are its fallbacks, in ``PREFERENCE_ORDER``
none is configured     DuckDuckGo, which needs no key
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from suffice import plugins
from suffice.errors import InputError
from suffice.search import resilience
from suffice.search.base import Search
from suffice.search.fusion import MergedSearch
from suffice.search.web.provider import Provider, ProviderNotConfigured
from suffice.settings import Settings
from suffice.storage.sqlite_cache import JsonCache, SqliteCache, make_key
from suffice.types import Passage, Query

MAX_AGE_SECONDS = 24 * 3600.0  # Of a cached answer.
# Services that the user hosts come first, then services that return whole passages, then those that return snippets.
PREFERENCE_ORDER = ("searxng", "endpoint", "tavily", "exa", "brave", "serper")
KEYLESS_PROVIDER = "duckduckgo"
# Services of figures by the setting that makes them configured, and the writing variants whose tasks need them. Yahoo needs no
# key, so it is asked only if its address is set: tickers are not sent to a service that the user did not name.
DATA_SETTINGS = {"fred": "FRED_API_KEY", "yahoo": "YAHOO_BASE_URL"}
DATA_VARIANTS = {"research": ("fred",), "trading": ("fred", "yahoo")}


def list_data_providers(variant: str, config: Settings) -> tuple[str, ...]:
    """Return the configured services of figures for a task that is written up in this variant."""
    names = DATA_VARIANTS.get(variant, ())
    return tuple(name for name in names if config.environment.get(DATA_SETTINGS[name], "").strip())


def open_web_search(
    config: Settings, names: Sequence[str], notify: Callable[[str], None], data_names: Sequence[str] = ()
) -> Search:
    """Return one search over the named providers, or over those that are configured and the ``data_names``."""
    if config.offline:
        raise InputError(
            "SUFFICE_OFFLINE is set, so the web is not searched; unset it, or leave out --web and --provider"
        )
    if names:
        providers = [plugins.load_plugin("providers", name)(config) for name in dict.fromkeys(names)]
    else:
        providers = find_configured(config)
    if not providers:
        providers = [plugins.load_plugin("providers", KEYLESS_PROVIDER)(config)]
        notify(
            "No search service is configured: using DuckDuckGo, which may refuse under load; see docs/web.md for others."
        )
    separator = ", and " if names else ", then "
    described = separator.join(f"{provider.name} ({provider.address})" for provider in providers)
    data = [plugins.load_plugin("providers", name)(config) for name in data_names if name not in names]
    figures = ", and ".join(f"{provider.name} ({provider.address})" for provider in data)
    notify(f"Searching the web with {described}{f'; for figures: {figures}' if data else ''}.")
    store = SqliteCache(config.cache_dir / "searches.sqlite", "search cache", notify)
    cache = JsonCache(store, max_age_seconds=MAX_AGE_SECONDS)
    cache.delete_expired()
    searches = {provider.name: ProviderSearch(provider, cache) for provider in providers}
    search = MergedSearch(searches) if names else resilience.FallbackSearch(list(searches.values()))
    if not data:
        return search
    return MergedSearch({"The web search": search, **{one.name: ProviderSearch(one, cache) for one in data}})


def find_configured(config: Settings) -> list[Provider]:
    """Return the providers for which the environment holds an address or a key, in order of preference."""
    providers = []
    for name in PREFERENCE_ORDER:
        try:
            providers.append(plugins.load_plugin("providers", name)(config))
        except ProviderNotConfigured:
            continue
    return providers


class ProviderSearch:
    """The search of a provider with cache, circuit breaker, retries and rate limit. Several runs may share it."""

    def __init__(self, provider: Provider, cache: JsonCache) -> None:
        self._provider = provider
        self._limited = resilience.RateLimitedSearch(provider.search, provider.per_second)
        self._breaker = resilience.CircuitBreaker()
        self._cache = cache

    def with_failure_listener(self, on_failure: resilience.FailureListener) -> Search:
        retrying = resilience.RetryingSearch(self._limited, on_failure)
        breaking = resilience.CircuitBreakerSearch(self._provider.name, retrying, self._breaker)
        return CachedSearch(f"{self._provider.name} {self._provider.address}", breaking, self._cache)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        return await self.with_failure_listener(resilience.ignore_failure)(query, k)


@dataclass(frozen=True, slots=True)
class CachedSearch:
    """Wraps any search, so that the same query is sent once a day. Empty answers and errors are not cached.

    ``service`` names who answers: each service has its own entries in a shared cache.
    """

    service: str
    search: Search
    cache: JsonCache

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        key = make_key(self.service, k, " ".join(query.text.casefold().split()))
        cached: list[Passage] | None = await self.cache.load(key, list[Passage])
        if cached is not None:
            return cached
        found = await self.search(query, k)
        if found:
            await self.cache.save(key, found)
        return found
