"""What each wrapper does with an answer, an empty answer, a refusal and a failure."""

import asyncio
import time

import pytest

from suffice.errors import SearchError, SearchRefused
from suffice.search.base import Search
from suffice.search.resilience import (
    MAX_WAIT_SECONDS,
    CircuitBreaker,
    CircuitBreakerSearch,
    FallbackSearch,
    RateLimitedSearch,
    RetryingSearch,
    ignore_failure,
    make_resilient,
)
from suffice.testing import FixtureSearch, make_passage, make_search_error
from suffice.types import Failure, Passage, Query

HERE = [make_passage("a", "A hive holds one queen.")]


def found(search: Search, text: str = "hive", k: int = 5) -> list[Passage]:
    return asyncio.run(search(Query(text), k))


class Scripted:
    """A search that answers from a list, one outcome for each call."""

    def __init__(self, *outcomes: list[Passage] | BaseException) -> None:
        self.outcomes = list(outcomes)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def retried(*outcomes: list[Passage] | BaseException) -> tuple[object, list[float], list[Failure]]:
    """Return the result, the waits between attempts, and the reported failures."""
    waited: list[float] = []
    failures: list[Failure] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    try:
        result: object = found(RetryingSearch(Scripted(*outcomes), failures.append, sleep=sleep))
    except SearchError as error:
        result = error
    return result, waited, failures


def test_retry_waits_as_long_as_the_service_asks() -> None:
    busy = SearchRefused("busy", retryable=True, retry_after=7.0)
    result, waited, failures = retried(busy, HERE)
    assert result == HERE
    assert waited == [7.0]
    assert [failure.kind for failure in failures] == ["SearchRefused"]


def test_long_wait_is_not_retried() -> None:
    busy = SearchRefused("busy", retryable=True, retry_after=MAX_WAIT_SECONDS + 1)
    result, waited, _ = retried(busy, HERE)
    assert result is busy
    assert waited == []


def test_refusal_is_not_retried() -> None:
    refused = SearchRefused("wrong key")
    assert retried(refused, HERE) == (refused, [], [])


def test_empty_answer_is_not_retried() -> None:
    assert retried([]) == ([], [], [])


def broken(times: int) -> tuple[CircuitBreakerSearch, Scripted, CircuitBreaker]:
    breaker = CircuitBreaker()
    inner = Scripted(*[make_search_error() for _ in range(times)], HERE)
    return CircuitBreakerSearch("Bees", inner, breaker), inner, breaker


def test_open_breaker_sends_nothing() -> None:
    search, inner, breaker = broken(3)
    for _ in range(3):
        with pytest.raises(SearchError, match="is down"):
            found(search)
    assert breaker.is_open
    with pytest.raises(SearchError, match="Bees has failed too often"):
        found(search)
    assert inner.outcomes == [HERE], "the inner search was not called"


def test_empty_answers_do_not_open_the_breaker() -> None:
    breaker = CircuitBreaker()
    search = CircuitBreakerSearch("Bees", Scripted(*[[] for _ in range(6)]), breaker)
    assert [found(search) for _ in range(6)] == [[]] * 6
    assert not breaker.is_open


def test_long_retry_after_opens_the_breaker() -> None:
    breaker = CircuitBreaker()
    search = CircuitBreakerSearch("Bees", Scripted(SearchRefused("busy", retryable=True, retry_after=60.0)), breaker)
    with pytest.raises(SearchRefused):
        found(search)
    assert breaker.is_open


@pytest.mark.parametrize(("slow", "is_open"), [(0.0, True), (60.0, False)])
def test_cancelled_search_counts_as_failed_only_if_slow(
    monkeypatch: pytest.MonkeyPatch, slow: float, is_open: bool
) -> None:
    monkeypatch.setattr("suffice.search.resilience.SLOW_SECONDS", slow)
    breaker = CircuitBreaker()
    search = CircuitBreakerSearch("Bees", FixtureSearch(delay=30), breaker)

    async def give_up() -> None:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(search(Query("hive"), 5), 0.01)

    asyncio.run(give_up())
    assert breaker.is_open == is_open


def test_fallback_answers_and_the_failure_is_reported() -> None:
    failures: list[Failure] = []
    refused, second = SearchRefused("wrong key"), FixtureSearch(default=HERE)
    search = make_resilient(FallbackSearch([FixtureSearch(default=refused), second]), failures.append)
    assert found(search) == HERE
    assert [(failure.kind, failure.message) for failure in failures] == [("SearchRefused", "wrong key")]


def test_empty_answer_needs_no_fallback() -> None:
    second = FixtureSearch(default=HERE)
    assert found(FallbackSearch([FixtureSearch(), second])) == []
    assert second.queries == []


def test_error_names_all_failed_searches() -> None:
    search = FallbackSearch(
        [FixtureSearch(default=make_search_error("one is down")), FixtureSearch(default=SearchRefused("two says no"))]
    )
    with pytest.raises(SearchError, match=r"one is down; two says no") as caught:
        found(search)
    assert not isinstance(caught.value, SearchRefused)


def test_refusal_if_all_searches_refuse() -> None:
    search = FallbackSearch([FixtureSearch(default=SearchRefused("one")), FixtureSearch(default=SearchRefused("two"))])
    with pytest.raises(SearchRefused, match="one; two"):
        found(search)


def test_plain_search_is_wrapped_in_retries() -> None:
    assert isinstance(make_resilient(FixtureSearch(), ignore_failure), RetryingSearch)


def test_calls_above_the_rate_wait() -> None:
    search = RateLimitedSearch(FixtureSearch(default=HERE), per_second=50.0)

    async def many() -> float:
        start = time.monotonic()
        await asyncio.gather(*(search(Query("hive"), 5) for _ in range(60)))
        return time.monotonic() - start

    assert asyncio.run(many()) > 0.15, "fifty at once, the other ten at fifty a second"


def test_first_call_does_not_wait() -> None:
    assert found(RateLimitedSearch(FixtureSearch(default=HERE), per_second=1 / 3)) == HERE
