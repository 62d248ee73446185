"""Which web search services are asked, and how they are made to survive: the one place that knows both.

named providers      all at once, merged
none named           the first that is configured, the others as its stand-ins in this order; nothing configured:
                     DuckDuckGo, which needs no key
"""

from collections.abc import Callable, Sequence

from suffice import plugins
from suffice.errors import InputError
from suffice.search.base import Search
from suffice.search.cache import CachedSearch, delete_expired
from suffice.search.fusion import MergedSearch
from suffice.search.resilience import (
    CircuitBreaker,
    CircuitBreakerSearch,
    FailureListener,
    FallbackSearch,
    RateLimitedSearch,
    RetryingSearch,
    ignore_failure,
)
from suffice.search.web.provider import Provider, ProviderNotConfigured
from suffice.settings import Settings
from suffice.storage.sqlite_cache import SqliteCache
from suffice.types import Passage, Query

# What somebody runs or pays for themselves says what they want searched with. One's own server comes first, then services
# that return whole passages, then those that return snippets.
PREFERENCE_ORDER = ("searxng", "endpoint", "tavily", "exa", "brave", "serper")
KEYLESS_PROVIDER = "duckduckgo"


def open_web_search(config: Settings, names: Sequence[str], say: Callable[[str], None]) -> Search:
    """One search over the providers that were named, or over those that are configured."""
    if config.offline:
        raise InputError(
            "SUFFICE_OFFLINE is set, so the web is not searched; unset it, or leave out --web and --provider"
        )
    chosen = (
        [plugins.load_plugin("providers", name)(config) for name in dict.fromkeys(names)]
        if names
        else find_configured(config)
    )
    if not chosen:
        chosen = [plugins.load_plugin("providers", KEYLESS_PROVIDER)(config)]
        say(
            "No search service is configured: asking DuckDuckGo, which may refuse under load; see docs/web.md for others."
        )
    order = "then" if not names else "and"
    say(f"Searching the web with {f', {order} '.join(f'{provider.name} ({provider.address})' for provider in chosen)}.")
    shelf = SqliteCache(config.cache_dir / "searches.sqlite", "search cache", say)
    delete_expired(shelf)
    guarded = {provider.name: ProviderSearch(provider, shelf) for provider in chosen}
    return MergedSearch(guarded) if names else FallbackSearch(list(guarded.values()))


def find_configured(config: Settings) -> list[Provider]:
    """The providers that the environment has an address or a key for."""
    found = []
    for name in PREFERENCE_ORDER:
        try:
            found.append(plugins.load_plugin("providers", name)(config))
        except ProviderNotConfigured:
            continue
    return found


class ProviderSearch:
    """A provider with its own memory, breaker and rate; several runs may share it."""

    def __init__(self, provider: Provider, cache: SqliteCache) -> None:
        self._provider = provider
        self._limited = RateLimitedSearch(provider.search, provider.per_second)
        self._breaker = CircuitBreaker()
        self._cache = cache

    def with_failure_listener(self, report: FailureListener) -> Search:
        tried = CircuitBreakerSearch(self._provider.name, RetryingSearch(self._limited, report), self._breaker)
        return CachedSearch(f"{self._provider.name} {self._provider.address}", tried, self._cache)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        return await self.with_failure_listener(ignore_failure)(query, k)
