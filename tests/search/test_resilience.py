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
    """Answers from a list, one a call."""

    def __init__(self, *outcomes: list[Passage] | BaseException) -> None:
        self.outcomes = list(outcomes)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def retried(*outcomes: list[Passage] | BaseException) -> tuple[object, list[float], list[Failure]]:
    """What came of it, how long was waited, and what was reported."""
    waited: list[float] = []
    heard: list[Failure] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    try:
        result: object = found(RetryingSearch(Scripted(*outcomes), heard.append, sleep=sleep))
    except SearchError as error:
        result = error
    return result, waited, heard


def test_a_service_that_says_how_long_to_wait_is_taken_at_its_word() -> None:
    busy = SearchRefused("busy", retryable=True, retry_after=7.0)
    result, waited, heard = retried(busy, HERE)
    assert result == HERE
    assert waited == [7.0]
    assert [failure.kind for failure in heard] == ["SearchRefused"]


def test_a_wait_that_is_too_long_is_not_waited() -> None:
    busy = SearchRefused("busy", retryable=True, retry_after=MAX_WAIT_SECONDS + 1)
    result, waited, _ = retried(busy, HERE)
    assert result is busy
    assert waited == []


def test_a_refusal_is_final() -> None:
    refused = SearchRefused("wrong key")
    assert retried(refused, HERE) == (refused, [], [])


def test_an_empty_answer_is_an_answer() -> None:
    assert retried([]) == ([], [], [])


def broken(times: int) -> tuple[CircuitBreakerSearch, Scripted, CircuitBreaker]:
    breaker = CircuitBreaker()
    inner = Scripted(*[make_search_error() for _ in range(times)], HERE)
    return CircuitBreakerSearch("Bees", inner, breaker), inner, breaker


def test_an_open_breaker_asks_nobody() -> None:
    search, inner, breaker = broken(3)
    for _ in range(3):
        with pytest.raises(SearchError, match="is down"):
            found(search)
    assert breaker.state == "open"
    with pytest.raises(SearchError, match="Bees has failed too often"):
        found(search)
    assert inner.outcomes == [HERE], "it was not asked"


def test_empty_answers_do_not_open_a_breaker() -> None:
    breaker = CircuitBreaker()
    search = CircuitBreakerSearch("Bees", Scripted(*[[] for _ in range(6)]), breaker)
    assert [found(search) for _ in range(6)] == [[]] * 6
    assert breaker.state == "closed"


def test_a_long_retry_after_opens_the_breaker_at_once() -> None:
    breaker = CircuitBreaker()
    search = CircuitBreakerSearch("Bees", Scripted(SearchRefused("busy", retryable=True, retry_after=60.0)), breaker)
    with pytest.raises(SearchRefused):
        found(search)
    assert breaker.state == "open"


@pytest.mark.parametrize(("slow", "state"), [(0.0, "open"), (60.0, "closed")])
def test_a_search_given_up_counts_only_if_it_was_slow(monkeypatch: pytest.MonkeyPatch, slow: float, state: str) -> None:
    monkeypatch.setattr("suffice.search.resilience.SLOW_SECONDS", slow)
    breaker = CircuitBreaker()
    search = CircuitBreakerSearch("Bees", FixtureSearch(delay=30), breaker)

    async def give_up() -> None:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(search(Query("hive"), 5), 0.01)

    asyncio.run(give_up())
    assert breaker.state == state


def test_the_next_search_stands_in_and_the_failure_is_told() -> None:
    heard: list[Failure] = []
    refused, second = SearchRefused("wrong key"), FixtureSearch(default=HERE)
    search = make_resilient(FallbackSearch([FixtureSearch(default=refused), second]), heard.append)
    assert found(search) == HERE
    assert [(failure.kind, failure.message) for failure in heard] == [("SearchRefused", "wrong key")]


def test_an_empty_answer_needs_no_stand_in() -> None:
    second = FixtureSearch(default=HERE)
    assert found(FallbackSearch([FixtureSearch(), second])) == []
    assert second.queries == []


def test_when_all_fail_each_is_named() -> None:
    search = FallbackSearch(
        [FixtureSearch(default=make_search_error("one is down")), FixtureSearch(default=SearchRefused("two says no"))]
    )
    with pytest.raises(SearchError, match=r"one is down; two says no") as caught:
        found(search)
    assert not isinstance(caught.value, SearchRefused)


def test_when_all_refuse_it_is_a_refusal() -> None:
    search = FallbackSearch([FixtureSearch(default=SearchRefused("one")), FixtureSearch(default=SearchRefused("two"))])
    with pytest.raises(SearchRefused, match="one; two"):
        found(search)


def test_a_search_of_a_strangers_is_tried_again() -> None:
    assert isinstance(make_resilient(FixtureSearch(), ignore_failure), RetryingSearch)


def test_who_comes_too_early_waits() -> None:
    search = RateLimitedSearch(FixtureSearch(default=HERE), per_second=50.0)

    async def many() -> float:
        began = time.monotonic()
        await asyncio.gather(*(search(Query("hive"), 5) for _ in range(60)))
        return time.monotonic() - began

    assert asyncio.run(many()) > 0.15, "fifty at once, the other ten at fifty a second"


def test_a_slow_rate_lets_one_through_at_once() -> None:
    assert found(RateLimitedSearch(FixtureSearch(default=HERE), per_second=1 / 3)) == HERE
