"""When a search has failed too often to be asked again: a count, and a switch on top of it that closes again.

closed ──3 failures in a row, or half of at least 4──▶ open ──cool-down over──▶ half-open ──the one trial──▶ closed or open
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

RUN = 3  # Failures in a row (S1) …
SHARE = 0.5  # … or this share of all,
LEAST = 4  # once at least this many were made.
COOL_DOWN = 30.0  # Seconds.
LONGEST_COOL_DOWN = 3_600.0  # However long a service asks to be left alone.

State = Literal["closed", "open", "half-open"]


@dataclass(slots=True)
class Tally:
    """How many were asked, how many of them failed, and how many in a row at the end."""

    asked: int = 0
    failed: int = 0
    running: int = 0

    def count(self, failed: bool) -> None:
        self.asked += 1
        self.failed += failed
        self.running = self.running + 1 if failed else 0

    @property
    def too_many(self) -> bool:
        return self.running >= RUN or (self.asked >= LEAST and self.failed >= SHARE * self.asked)


class Breaker:
    """The switch of one service. Every ``admit`` that said yes is followed by one of ``succeeded``, ``failed`` and
    ``released``; the last says that nobody waited for the outcome."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tally = Tally()
        self._opens_until: float | None = None
        self._trying = False

    @property
    def state(self) -> State:
        if self._opens_until is None:
            return "closed"
        return "open" if self._clock() < self._opens_until else "half-open"

    def admit(self) -> bool:
        """Whether the service may be asked now; half-open, only once at a time."""
        if self.state == "half-open" and not self._trying:
            self._trying = True
            return True
        return self.state == "closed"

    def succeeded(self) -> None:
        if self._opens_until is None:
            self._tally.count(failed=False)
        elif self._trying:  # An answer to a question from before it opened does not close it.
            self._opens_until, self._trying, self._tally = None, False, Tally()

    def failed(self, wait: float = 0.0) -> None:
        """``wait`` is how long the service wants to be left alone; that opens it at once."""
        if self._opens_until is None:
            self._tally.count(failed=True)
        if wait or self._trying or (self._opens_until is None and self._tally.too_many):
            self._opens_until = self._clock() + min(max(wait, COOL_DOWN), LONGEST_COOL_DOWN)
            self._trying = False

    def released(self) -> None:
        self._trying = False
