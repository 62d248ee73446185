"""Which web search services are asked, and how they are made to survive: the one place that knows both.

named providers      all at once, merged
none named           the first that is configured, the others as its stand-ins in this order; nothing configured:
                     DuckDuckGo, which needs no key
"""

from collections.abc import Callable, Sequence

from suffice import plugins
from suffice.errors import InputError
from suffice.search.base import Search
from suffice.search.breaker import Breaker
from suffice.search.merged import Merged
from suffice.search.remembered import Remembered, forget_old
from suffice.search.resilience import Breaking, Fallback, Limited, Listener, Retrying, nobody
from suffice.search.web.provider import Provider, Unconfigured
from suffice.settings import Settings
from suffice.shelf import Shelf
from suffice.types import Passage, Query

# What somebody runs or pays for themselves says what they want searched with. One's own server comes first, then services
# that return whole passages, then those that return snippets.
ORDER = ("searxng", "endpoint", "tavily", "exa", "brave", "serper")
KEYLESS = "duckduckgo"


def open_web(config: Settings, names: Sequence[str], say: Callable[[str], None]) -> Search:
    """One search over the providers that were named, or over those that are configured."""
    if config.offline:
        raise InputError(
            "SUFFICE_OFFLINE is set, so the web is not searched; unset it, or leave out --web and --provider"
        )
    chosen = [plugins.find("providers", name)(config) for name in dict.fromkeys(names)] if names else configured(config)
    if not chosen:
        chosen = [plugins.find("providers", KEYLESS)(config)]
        say(
            "No search service is configured: asking DuckDuckGo, which may refuse under load; see docs/web.md for others."
        )
    order = "then" if not names else "and"
    say(f"Searching the web with {f', {order} '.join(f'{provider.name} ({provider.address})' for provider in chosen)}.")
    shelf = Shelf(config.cache_dir / "searches.sqlite", "search cache", say)
    forget_old(shelf)
    guarded = {provider.name: Guarded(provider, shelf) for provider in chosen}
    return Merged(guarded) if names else Fallback(list(guarded.values()))


def configured(config: Settings) -> list[Provider]:
    """The providers that the environment has an address or a key for."""
    found = []
    for name in ORDER:
        try:
            found.append(plugins.find("providers", name)(config))
        except Unconfigured:
            continue
    return found


class Guarded:
    """A provider with its own memory, breaker and rate; several runs may share it."""

    def __init__(self, provider: Provider, shelf: Shelf) -> None:
        self._provider = provider
        self._limited = Limited(provider.search, provider.per_second)
        self._breaker = Breaker()
        self._shelf = shelf

    def reporting(self, report: Listener) -> Search:
        tried = Breaking(self._provider.name, Retrying(self._limited, report), self._breaker)
        return Remembered(f"{self._provider.name} {self._provider.address}", tried, self._shelf)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        return await self.reporting(nobody)(query, k)
