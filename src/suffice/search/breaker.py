"""When a search has failed too often to be asked again: a count, and a switch on top of it that closes again.

closed ──3 failures in a row, or half of at least 4──▶ open ──cool-down over──▶ half-open ──the one trial──▶ closed or open
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

MAX_CONSECUTIVE_FAILURES = 3  # Failures in a row (S1) …
MAX_FAILURE_SHARE = 0.5  # … or this share of all,
MIN_CALLS = 4  # once at least this many were made.
COOL_DOWN_SECONDS = 30.0  # Seconds.
MAX_COOL_DOWN_SECONDS = 3_600.0  # However long a service asks to be left alone.

BreakerState = Literal["closed", "open", "half-open"]


@dataclass(slots=True)
class FailureCounter:
    """How many were asked, how many of them failed, and how many in a row at the end."""

    calls: int = 0
    failures: int = 0
    consecutive_failures: int = 0

    def record(self, failed: bool) -> None:
        self.calls += 1
        self.failures += failed
        self.consecutive_failures = self.consecutive_failures + 1 if failed else 0

    @property
    def is_exceeded(self) -> bool:
        return self.consecutive_failures >= MAX_CONSECUTIVE_FAILURES or (
            self.calls >= MIN_CALLS and self.failures >= MAX_FAILURE_SHARE * self.calls
        )


class CircuitBreaker:
    """The switch of one service. Every ``admit`` that said yes is followed by one of ``succeeded``, ``failed`` and
    ``released``; the last says that nobody waited for the outcome."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counter = FailureCounter()
        self._open_until: float | None = None
        self._trial_running = False

    @property
    def state(self) -> BreakerState:
        if self._open_until is None:
            return "closed"
        return "open" if self._clock() < self._open_until else "half-open"

    def try_acquire(self) -> bool:
        """Whether the service may be asked now; half-open, only once at a time."""
        if self.state == "half-open" and not self._trial_running:
            self._trial_running = True
            return True
        return self.state == "closed"

    def record_success(self) -> None:
        if self._open_until is None:
            self._counter.record(failed=False)
        elif self._trial_running:  # An answer to a question from before it opened does not close it.
            self._open_until, self._trial_running, self._counter = None, False, FailureCounter()

    def record_failure(self, wait: float = 0.0) -> None:
        """``wait`` is how long the service wants to be left alone; that opens it at once."""
        if self._open_until is None:
            self._counter.record(failed=True)
        if wait or self._trial_running or (self._open_until is None and self._counter.is_exceeded):
            self._open_until = self._clock() + min(max(wait, COOL_DOWN_SECONDS), MAX_COOL_DOWN_SECONDS)
            self._trial_running = False

    def release(self) -> None:
        self._trial_running = False
