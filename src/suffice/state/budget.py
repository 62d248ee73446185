"""What a run may spend and what it has spent: one rule for the loop, the strategies, the claim check and the review."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sized

from suffice.models.base import UsageTrackingModel
from suffice.types import Bounds

# Below this share of the token budget, evidence is shortened further. Value of the source system, see docs/sources.md.
LOW_BUDGET_SHARE = 0.25


class Budget:
    """Bounds, a clock, the model's usage and the queries asked.

    ``bounds`` may be replaced while the run starts: they are known only after the plan says how demanding the task is.
    The clock starts when the budget is made.
    """

    def __init__(
        self, bounds: Bounds, usage: UsageTrackingModel, queries: Sized, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.bounds = bounds
        self.origins: Mapping[str, str] = {}
        """Where each bound comes from, in words."""
        self._usage = usage
        self._queries = queries
        self._clock = clock
        self._started_at = clock()
        self._tokens_taken = 0

    @property
    def seconds_used(self) -> float:
        return self._clock() - self._started_at

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time limit; ``None`` without one."""
        return None if self.bounds.seconds is None else max(0.0, self.bounds.seconds - self.seconds_used)

    @property
    def tokens_used(self) -> int:
        return self._usage.total.input_tokens + self._usage.total.output_tokens

    @property
    def tokens_left(self) -> int | None:
        return None if self.bounds.tokens is None else max(0, self.bounds.tokens - self.tokens_used)

    @property
    def queries_used(self) -> int:
        return len(self._queries)

    @property
    def queries_left(self) -> int | None:
        return None if self.bounds.queries is None else max(0, self.bounds.queries - self.queries_used)

    @property
    def usd_used(self) -> float | None:
        """What the model calls cost so far; ``None`` when a price is unknown."""
        return self._usage.total.usd

    @property
    def usd_left(self) -> float | None:
        """What may still be spent; ``None`` without a limit, or when a price is unknown."""
        if self.bounds.usd is None or (self.usd_used is None and self._usage.total.calls):
            return None
        return max(0.0, self.bounds.usd - (self.usd_used or 0.0))

    def is_spent(self, *, include_time: bool = True) -> bool:
        """Return whether the tokens, the money or the time are used up. An unknown cost cannot trigger the budget.

        ``include_time=False`` leaves the time out. Strategies use it, because the loop already enforces the time limit while a
        strategy works.
        """
        bounds = self.bounds
        return (
            (include_time and self.seconds_left == 0)
            or (bounds.tokens is not None and self.tokens_used >= bounds.tokens)
            or self.usd_left == 0
        )

    def describe_left(self, rounds: int) -> str:
        """Say what is left after this many rounds, in one line for a prompt; empty without a bound on rounds or tokens.

        Tokens are named only when little is left, and roughly: a number that changes with every call would make each prompt
        a new one, and no stored answer would fit.
        """
        left = []
        if self.bounds.rounds is not None:
            count = max(0, self.bounds.rounds - rounds)
            left.append(f"{count} round{'' if count == 1 else 's'} of search")
        if self.queries_left is not None:  # Whichever ends first ends the search.
            left.append(f"{self.queries_left} quer{'y' if self.queries_left == 1 else 'ies'}")
        tokens, bound = self.tokens_left, self.bounds.tokens
        if tokens is not None and bound is not None and tokens < LOW_BUDGET_SHARE * bound:
            left.append(f"about {float(f'{tokens:.1g}'):,.0f} tokens")
        return f"You have {' and '.join(left)} left." if left else ""

    def time_limit(self) -> asyncio.Timeout:
        """Return a context manager that raises ``TimeoutError`` when the run's time is up."""
        return asyncio.timeout(self.seconds_left)

    def take_round_tokens(self) -> int:
        """Return the tokens used since the last call: those of one round."""
        used, self._tokens_taken = self.tokens_used - self._tokens_taken, self.tokens_used
        return used
