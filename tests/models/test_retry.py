"""The retry policy: which faults are tried again, how often, and after how long."""

import pytest

from suffice.models.retry import MAX_ATTEMPTS, Attempts, CallError, get_retry_delay

pytestmark = pytest.mark.usefixtures("no_waiting")


def failed(attempt: int, *, retryable: bool = True, retry_after: float | None = None) -> CallError:
    error = CallError("busy", retryable=retryable, retry_after=retry_after)
    error.attempt = attempt
    return error


@pytest.mark.parametrize(("attempt", "least"), [(1, 1), (2, 2)])
def test_the_wait_doubles_and_has_jitter(attempt: int, least: float) -> None:
    assert least <= get_retry_delay(failed(attempt)) <= least + 1


def test_the_server_may_set_the_wait_up_to_a_minute() -> None:
    assert get_retry_delay(failed(1, retry_after=17)) == 17
    assert get_retry_delay(failed(1, retry_after=61)) is None


def test_permanent_faults_and_the_last_attempt_are_not_retried() -> None:
    assert get_retry_delay(failed(1, retryable=False)) is None
    assert get_retry_delay(failed(MAX_ATTEMPTS)) is None


@pytest.mark.parametrize(("retryable", "attempts"), [(True, 3), (False, 1)])
def test_every_failed_attempt_is_reported_and_the_last_error_raised(retryable: bool, attempts: int) -> None:
    reported: list[tuple[int, bool]] = []
    with pytest.raises(CallError, match=f"fault {attempts}"):  # noqa: PT012
        for number, attempt in enumerate(
            Attempts(lambda error, delay: reported.append((error.attempt, delay is not None))), 1
        ):
            with attempt:
                raise CallError(f"fault {number}", retryable=retryable)
    assert reported == [(number, number < attempts) for number in range(1, attempts + 1)]


def test_other_errors_are_raised_at_once() -> None:
    calls = 0
    with pytest.raises(KeyError):  # noqa: PT012
        for attempt in Attempts(lambda error, delay: None):
            with attempt:
                calls += 1
                raise KeyError("not a call error")
    assert calls == 1


def test_the_retry_hooks_of_the_host_program_are_left_alone(capfd: pytest.CaptureFixture[str]) -> None:
    """A program that uses stamina itself keeps its hooks, and they do not see our attempts."""
    stamina = pytest.importorskip("stamina")
    seen: list[object] = []
    stamina.instrumentation.set_on_retry_hooks([seen.append])
    try:
        with pytest.raises(CallError):  # noqa: PT012
            for attempt in Attempts(lambda error, delay: None):
                with attempt:
                    raise CallError("busy", retryable=True)
        assert seen == []
        assert stamina.instrumentation.get_on_retry_hooks() == (seen.append,)
    finally:
        stamina.instrumentation.set_on_retry_hooks(None)
    assert capfd.readouterr() == ("", "")
