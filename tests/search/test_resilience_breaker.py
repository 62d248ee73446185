"""When a circuit breaker opens and closes."""

import pytest

from suffice.search.resilience import COOL_DOWN_SECONDS, MAX_COOL_DOWN_SECONDS, CircuitBreaker, FailureCounter


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("outcomes", ["xxx", "x.xx", ".x.x", "...xxx"])
def test_breaker_opens_after_many_failures_and_closes_when_the_cool_down_is_over(outcomes: str) -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    for outcome in outcomes:
        assert not breaker.is_open
        breaker.record(failed=outcome == "x")
    assert breaker.is_open
    clock.now += COOL_DOWN_SECONDS
    assert not breaker.is_open
    breaker.record(failed=True)
    assert not breaker.is_open, "it counts anew"


def test_breaker_stays_open_as_long_as_the_service_asks() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    breaker.record(failed=True, retry_after=120.0)
    clock.now += 119
    assert breaker.is_open
    clock.now += 1
    assert not breaker.is_open


def test_cool_down_is_bounded() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    breaker.record(failed=True, retry_after=1e9)
    clock.now += MAX_COOL_DOWN_SECONDS
    assert not breaker.is_open


def test_share_of_failures_needs_at_least_four_calls() -> None:
    counter = FailureCounter()
    for failed in (True, False, True):
        counter.record(failed)
    assert not counter.is_exceeded
    counter.record(False)
    assert counter.is_exceeded
