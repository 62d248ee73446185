"""When a circuit breaker opens and closes."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from suffice.search.resilience import COOL_DOWN_SECONDS, MAX_COOL_DOWN_SECONDS, CircuitBreaker, FailureCounter


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Machine(RuleBasedStateMachine):
    """The breaker beside a plain model of its outcomes since it last closed."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.breaker = CircuitBreaker(self.clock)
        self.outcomes: list[bool] = []
        self.open_until: float | None = None
        self.in_flight = 0
        self.trial = False

    def half_open(self) -> bool:
        return self.open_until is not None and self.clock.now >= self.open_until

    @rule()
    def ask(self) -> None:
        expected = self.open_until is None or (self.half_open() and not self.trial)
        assert self.breaker.try_acquire() == expected
        if expected and self.open_until is None:
            self.in_flight += 1
        elif expected:
            self.trial = True

    @precondition(lambda self: self.in_flight > 0 and not self.trial)
    @rule(good=st.booleans())
    def one_in_flight_ends(self, good: bool) -> None:
        self.in_flight -= 1
        self.breaker.record_success() if good else self.breaker.record_failure()
        if self.open_until is None:
            self.outcomes.append(good)
            bad = self.outcomes.count(False)
            three = self.outcomes[-3:] == [False] * 3
            if three or (len(self.outcomes) >= 4 and 2 * bad >= len(self.outcomes) and not good):
                self.open_until = self.clock.now + COOL_DOWN_SECONDS

    @precondition(lambda self: self.trial)
    @rule(end=st.sampled_from(["good", "bad", "abandoned"]))
    def the_trial_ends(self, end: str) -> None:
        self.trial = False
        if end == "good":
            self.breaker.record_success()
            self.open_until, self.outcomes = None, []
        elif end == "bad":
            self.breaker.record_failure()
            self.open_until = self.clock.now + COOL_DOWN_SECONDS
        else:
            self.breaker.release()

    @rule(seconds=st.floats(0.1, 40))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def state_is_as_expected(self) -> None:
        expected = "closed" if self.open_until is None else "half-open" if self.half_open() else "open"
        assert self.breaker.state == expected


TestBreaker = Machine.TestCase
TestBreaker.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_breaker_stays_open_as_long_as_the_service_asks() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    assert breaker.try_acquire()
    breaker.record_failure(120.0)
    clock.now += 119
    assert not breaker.try_acquire()
    clock.now += 1
    assert breaker.try_acquire()


def test_cool_down_is_bounded() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    breaker.record_failure(1e9)
    clock.now += MAX_COOL_DOWN_SECONDS
    assert breaker.try_acquire()


def test_share_of_failures_needs_at_least_four_calls() -> None:
    counter = FailureCounter()
    for failed in (True, False, True):
        counter.record(failed)
    assert not counter.is_exceeded
    counter.record(False)
    assert counter.is_exceeded
