"""The retry policy of all calls to model servers, for language models and for embeddings.

A transient fault is tried again, up to three attempts in all. The wait is what the server asked for (``Retry-After``), else
min(2ⁿ + U(0, 1), 10) seconds after attempt n, counted from 0 (value of the source system, see docs/sources.md). A server that
asks for more than a minute has failed for now.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import random

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


def get_retry_delay(error: CallError, attempt: int) -> float | None:
    """Return how many seconds to wait after this attempt, counted from 1, which failed; ``None`` when not to try again."""
    error.attempt = attempt
    if not error.retryable or attempt >= MAX_ATTEMPTS:
        return None
    if error.retry_after is None:
        return min(2.0 ** (attempt - 1) + random(), MAX_BACKOFF)
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
