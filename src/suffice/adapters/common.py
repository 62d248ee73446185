"""What the adapters share: collecting searches into rounds, reading passages, and the notice that closes the search.

Searches that run at the same time form one round, because three different queries in one turn of a model are not three
attempts at the same thing. The round ends, and is judged, when the last of them returns. This module imports no framework.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

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
    """Collects the running searches of one run. It holds no reference to the monitor, so that both can be freed."""

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
        """Run a search and report its round to the monitor. ``tokens`` is the total of the run so far. Errors are raised."""
        search = _PendingSearch(tuple(queries))
        self._searches.append(search)
        self._running += 1
        try:
            await asyncio.sleep(0)  # Lets the other calls of this turn join before a synchronous search finishes.
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
    """Return the message for the model once the search is closed."""
    return (
        f"Search is closed: {verdict.because or verdict.reason}. "
        "Do not search again. Answer from what was found, and say what is missing."
    )


def append_notice(result: object, verdict: Verdict) -> object:
    if isinstance(result, str):
        return f"{result}\n\n{format_notice(verdict)}"
    return {"results": result, "notice": format_notice(verdict)}


def extract_queries(arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the queries of a tool call. The argument ``name`` holds one text or several."""
    if name not in arguments:
        raise InputError(f"The search tool has no argument {name!r}; pass its name as query='…'")
    value = arguments[name]
    return (value,) if isinstance(value, str) else tuple(str(query) for query in value)


def extract_passages(result: Any) -> Passages:
    """Return the passages of a tool's result, which must be a list of mappings or objects with an ``id``."""
    if isinstance(result, str | bytes | Mapping) or not isinstance(result, Iterable):
        raise InputError(
            f"The search returned {type(result).__name__}, not a list of passages; pass a function that reads them as "
            "passages=…"
        )
    return [_parse_passage(item) for item in result]


def _parse_passage(item: Any) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        item = {name: getattr(item, name, None) for name in ("id", "title", "text", "score")}
    if item.get("id") is None:
        raise InputError("A passage has no id; pass a function that reads passages with ids as passages=…")
    return cast(Mapping[str, Any], item)
