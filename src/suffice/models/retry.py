"""The retry policy of all calls to model servers, for language models and for embeddings.

A transient fault is tried again, up to three attempts in all. The wait is what the server asked for (``Retry-After``), else
min(2ⁿ + U(0, 1), 10) seconds after attempt n, counted from 0 (value of the source system, see docs/sources.md). A server that
asks for more than a minute has failed for now.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import random

from tenacity import AsyncRetrying, AttemptManager, RetryCallState, Retrying

from suffice.errors import ModelError

MAX_ATTEMPTS = 3
MAX_BACKOFF = 10.0  # Seconds.
MAX_RETRY_AFTER = 60.0  # Seconds.
RETRYABLE_STATUSES = (408, 409, 425, 429, 500, 502, 503, 504)


class CallError(ModelError):
    """One call to a model server failed. ``retry_after`` is how many seconds the server asked to wait, if it did."""

    def __init__(self, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message, retryable=retryable)
        self.retry_after = retry_after


def get_retry_delay(error: CallError) -> float | None:
    """Return how many seconds to wait after the attempt ``error.attempt``; ``None`` when not to try again."""
    if not error.retryable or error.attempt >= MAX_ATTEMPTS:
        return None
    if error.retry_after is None:
        return min(2.0 ** (error.attempt - 1) + random(), MAX_BACKOFF)
    return error.retry_after if error.retry_after <= MAX_RETRY_AFTER else None


def parse_retry_after(value: str | None) -> float | None:
    """Return the seconds of a ``Retry-After`` header, which holds a number or a date."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, round(seconds, 1)) if seconds == seconds else None


class Attempts:
    """The attempts of one call, to loop over with ``for`` or ``async for``; each is a context manager around one call.

    ``on_failure`` receives every failed attempt and the seconds until the next one, ``None`` when there is none. The error of
    the last attempt is raised.
    """

    def __init__(self, on_failure: Callable[[CallError, float | None], None]) -> None:
        self._on_failure = on_failure
        self._delay = 0.0

    def __iter__(self) -> Iterator[AttemptManager]:
        return iter(Retrying(retry=self._decide, wait=self._get_wait, reraise=True))

    def __aiter__(self) -> AsyncIterator[AttemptManager]:
        return aiter(AsyncRetrying(retry=self._decide, wait=self._get_wait, reraise=True))

    def _decide(self, state: RetryCallState) -> bool:
        """Return whether to try again, and note the wait."""
        error = None if state.outcome is None else state.outcome.exception()
        if not isinstance(error, CallError):
            return False
        error.attempt = state.attempt_number
        delay = get_retry_delay(error)
        self._on_failure(error, delay)
        self._delay = 0.0 if delay is None else delay
        return delay is not None

    def _get_wait(self, state: RetryCallState) -> float:
        return self._delay
