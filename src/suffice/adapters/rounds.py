"""What the adapters share: gathering searches into rounds, and the words that close the search. Knows no framework.

Searches that run at the same time are one round, because a model that asks three things in one turn has not searched
three times for the same. The round is over when the last of them is back; only then is it judged.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from suffice.errors import InputError
from suffice.monitor import StopMonitor
from suffice.types import Verdict

T = TypeVar("T")
Passages = Sequence[Mapping[str, Any]]
PassageReader = Callable[[Any], Passages]


@dataclass
class _PendingSearch:
    queries: tuple[str, ...]
    passages: Passages = ()
    failed: bool = True


class RoundCollector:
    """The searches under way in one run. It does not hold the monitor, so that a monitor can be forgotten with its run."""

    def __init__(self) -> None:
        self._searches: list[_PendingSearch] = []
        self._running = 0
        self._tokens = 0

    async def run_search(
        self,
        monitor: StopMonitor,
        queries: Sequence[str],
        run: Callable[[], Awaitable[T]],
        read: PassageReader,
        tokens: int,
    ) -> T:
        """Run a search and tell the monitor. ``tokens`` is what the whole run has used so far. Errors pass through."""
        search = _PendingSearch(tuple(queries))
        self._searches.append(search)
        self._running += 1
        try:
            await asyncio.sleep(0)  # Lets the other calls of this turn join before a search that never waits is done.
            result = await run()
            search.passages, search.failed = read(result), False
            return result
        finally:
            self._running -= 1
            if not self._running:
                self._finish_round(monitor, tokens)

    def _finish_round(self, monitor: StopMonitor, tokens: int) -> None:
        searches, self._searches = self._searches, []
        used, self._tokens = tokens - self._tokens, tokens
        monitor.observe(
            [query for search in searches for query in search.queries],
            [passage for search in searches for passage in search.passages],
            tokens=used,
            failed=all(search.failed for search in searches),
        )


def format_notice(verdict: Verdict) -> str:
    """What the model is told once the search is closed."""
    return (
        f"Search is closed: {verdict.because or verdict.reason}. "
        "Do not search again. Answer from what was found, and say what is missing."
    )


def append_notice(result: object, verdict: Verdict) -> object:
    """The last results together with the notice."""
    if isinstance(result, str):
        return f"{result}\n\n{format_notice(verdict)}"
    return {"results": result, "notice": format_notice(verdict)}


def extract_queries(arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """What a tool call asks for: a text, or several."""
    if name not in arguments:
        raise InputError(f"The search tool has no argument {name!r}; say query='…' with the name it has")
    value = arguments[name]
    return (value,) if isinstance(value, str) else tuple(str(query) for query in value)


def extract_passages(result: Any) -> Passages:
    """The passages in a tool's result: a list of mappings, or of objects, with an ``id``."""
    if isinstance(result, str | bytes | Mapping) or not isinstance(result, Iterable):
        raise InputError(
            f"The search returned {type(result).__name__}, not a list of passages; say with passages=… how to read them"
        )
    return [_parse_passage(item) for item in result]


def _parse_passage(item: Any) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        item = {name: getattr(item, name, None) for name in ("id", "title", "text", "score")}
    if item.get("id") is None:
        raise InputError("A passage that was found has no id; say with passages=… how to read one from it")
    found: Mapping[str, Any] = item
    return found
