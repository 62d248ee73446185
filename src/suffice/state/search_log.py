"""The searches of a run: which queries were asked, which of them found little, and whether search still works."""

from collections.abc import Iterable, Sequence

from suffice.search.resilience import FailureCounter
from suffice.text.tokens import tokenize
from suffice.types import Failure, Query, Round

# A query with fewer results than this is thin: it is reworded, not repeated. Value of the source system, see docs/sources.md.
MIN_RESULTS = 3

# The failure of a search that the run's own time limit cut off. It does not count against the search service.
SEARCH_TIMED_OUT = Failure("search", "TimeoutError", "the run's time was up before the search answered")


class SearchLog:
    """``queries`` holds every query asked, ``thin_queries`` those with fewer than three results, in order."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.intents: dict[str, str] = {}
        self.thin_queries: list[str] = []
        self._asked_keys: set[tuple[str, ...]] = set()
        self._reported_count = 0  # Thin queries that a reflection has seen.
        self._answered_count = 0
        self._failure_counter = FailureCounter()

    def filter_new(self, queries: Sequence[Query], limit: int | None) -> list[Query]:
        """Return the queries whose words were not asked before, each once, at most ``limit``."""
        chosen: dict[tuple[str, ...], Query] = {}
        for query in queries:
            key = tuple(tokenize(query.text))
            if key and key not in self._asked_keys:
                chosen.setdefault(key, query)
        return list(chosen.values())[:limit]

    def mark_asked(self, queries: Iterable[str]) -> None:
        """Mark queries of an earlier run as asked, so that they are not asked again. They do not count as spent."""
        self._asked_keys.update(tuple(tokenize(query)) for query in queries)

    def record(self, round: Round, *, is_planned: bool = True) -> list[Failure]:
        """Record the searches of a round and return their failures. Thin queries are kept if they were planned."""
        failures: list[Failure] = []
        for hits in round.hits:
            text = hits.query.text
            self.queries.append(text)
            self.intents[text] = hits.query.intent
            self._asked_keys.add(tuple(tokenize(text)))
            if hits.failure is not None:
                failures.append(hits.failure)
                if hits.failure is not SEARCH_TIMED_OUT:
                    self._failure_counter.record(failed=True)
                continue
            self._failure_counter.record(failed=False)
            self._answered_count += 1
            if is_planned and len(hits.passages) < MIN_RESULTS:
                self.thin_queries.append(text)
        return failures

    def take_thin_queries(self) -> tuple[str, ...]:
        """Return the thin queries that no reflection has seen yet."""
        thin = tuple(self.thin_queries[self._reported_count :])
        self._reported_count = len(self.thin_queries)
        return thin

    def return_thin_queries(self, queries: Sequence[str]) -> None:
        """Put back thin queries whose reflection failed; the next reflection gets them."""
        self._reported_count -= len(queries)

    @property
    def has_no_answer(self) -> bool:
        """Whether searches were made and every one failed or timed out, so that finding nothing means nothing."""
        return bool(self.queries) and not self._answered_count

    @property
    def is_degraded(self) -> bool:
        """Whether search has failed too often to be relied on."""
        return self._failure_counter.is_exceeded
