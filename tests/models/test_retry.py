"""The retry policy: which faults are tried again, how often, and after how long."""

import pytest

from suffice.models.retry import MAX_ATTEMPTS, CallError, get_retry_delay


def get_delay(attempt: int, *, retryable: bool = True, retry_after: float | None = None) -> float | None:
    error = CallError("busy", retryable=retryable, retry_after=retry_after)
    delay = get_retry_delay(error, attempt)
    assert error.attempt == attempt
    return delay


@pytest.mark.parametrize(("attempt", "least"), [(1, 1), (2, 2)])
def test_the_wait_doubles_and_has_jitter(attempt: int, least: float) -> None:
    assert least <= get_delay(attempt) <= least + 1


def test_the_server_may_set_the_wait_up_to_a_minute() -> None:
    assert get_delay(1, retry_after=17) == 17
    assert get_delay(1, retry_after=61) is None


def test_permanent_faults_and_the_last_attempt_are_not_retried() -> None:
    assert get_delay(1, retryable=False) is None
    assert get_delay(MAX_ATTEMPTS) is None
