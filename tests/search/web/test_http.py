"""Every way a service can answer has one name."""

import asyncio
import gzip
import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from loopback import Answer, Asked, serving

from suffice.errors import SearchError, SearchRefused
from suffice.search.web import http
from suffice.search.web.http import USER_AGENT, ProviderRequest, fetch_passages, send_request
from suffice.search.web.provider import SearchResult

SECRET = "tvly-0123456789"


def outcome(answer: Answer, **call: object) -> SearchError | bytes:
    with serving(lambda asked: answer) as server:
        try:
            return asyncio.run(
                send_request("Bees", ProviderRequest(server.url, key_setting="BEES_KEY", secret=SECRET, **call))
            )  # type: ignore[arg-type]
        except SearchError as error:
            return error


@pytest.mark.parametrize(
    ("status", "kind", "retryable", "says"),
    [
        (301, SearchError, False, "moved"),
        (400, SearchError, False, "HTTP 400"),
        (401, SearchRefused, False, "check BEES_KEY"),
        (402, SearchRefused, False, "used up"),
        (403, SearchRefused, False, "check BEES_KEY"),
        (404, SearchError, False, "HTTP 404"),
        (408, SearchError, True, "HTTP 408"),
        (418, SearchRefused, False, "a teapot"),
        (429, SearchRefused, True, "too often"),
        (432, SearchRefused, False, "used up"),
        (500, SearchError, True, "HTTP 500"),
        (502, SearchError, True, "HTTP 502"),
        (503, SearchError, True, "HTTP 503"),
        (204, SearchError, False, "HTTP 204"),
    ],
)
def test_a_status_has_a_meaning(status: int, kind: type, retryable: bool, says: str) -> None:
    error = outcome(Answer(status=status, headers={"location": "/x"}), refusals={418: "it is a teapot"})
    assert type(error) is kind
    assert isinstance(error, SearchError)
    assert (error.retryable, says in str(error)) == (retryable, True), error
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("-3", 0.0),
        (None, None),
        ("soon", None),
        ("nan", None),
        (format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True), 0.0),
    ],
)
def test_how_long_to_wait_is_read_as_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    error = outcome(Answer(status=429, headers={} if header is None else {"Retry-After": header}))
    assert isinstance(error, SearchRefused)
    assert error.retry_after == seconds


def test_a_date_to_wait_for() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    error = outcome(Answer(status=429, headers={"Retry-After": soon}))
    assert isinstance(error, SearchRefused)
    assert error.retry_after is not None
    assert 60 < error.retry_after <= 90


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "out of honey"}},
        {"detail": {"error": "out of honey"}},
        {"message": "out of honey"},
        {"error": "out of honey"},
        {"errors": [], "detail": [{"msg": "out of honey"}]},
        b"out of honey",
    ],
)
def test_what_the_service_says_is_passed_on(body: object) -> None:
    assert "out of honey" in str(outcome(Answer(body, status=500)))


@pytest.mark.parametrize("body", [b" <html><body>Bad gateway</body></html>", {"results": []}, b""])
def test_a_page_of_markup_is_not(body: object) -> None:
    assert str(outcome(Answer(body, status=502))) == "Bees failed (HTTP 502)"


def test_a_key_is_never_shown() -> None:
    error = outcome(Answer({"message": f"the key {SECRET} is wrong"}, status=401), headers={"X-Key": SECRET})
    assert SECRET not in str(error)
    assert SECRET not in repr(ProviderRequest("https://a.example", headers={"X-Key": SECRET}, secret=SECRET))


def test_control_characters_of_an_error_stay_out_of_the_terminal() -> None:
    assert "\x1b" not in str(outcome(Answer(b"\x1b[31mred\x1b[0m \x07", status=500)))


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with serving(lambda asked: Answer(b"{}")) as other:
        error = outcome(Answer(status=302, headers={"location": other.url}))
    assert isinstance(error, SearchError)
    assert other.asked == []


def test_too_much_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_RESPONSE_BYTES", 1_000_000)
    error = outcome(Answer(b"x" * 1_200_000))
    assert "more than 1 MB" in str(error)


def test_neither_is_what_unpacks_to_too_much() -> None:
    bomb = gzip.compress(b"\0" * 40_000_000)
    assert len(bomb) < 100_000
    error = outcome(Answer(bomb, headers={"content-encoding": "gzip"}))
    assert "more than 4 MB" in str(error)


def test_what_cannot_be_unpacked() -> None:
    assert "cannot be unpacked" in str(outcome(Answer(b"nonsense", headers={"content-encoding": "gzip"})))


def test_a_service_that_does_not_answer_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TIMEOUT_SECONDS", 0.1)

    def late(asked: Asked) -> Answer:
        time.sleep(0.4)
        return Answer(b"{}")

    with serving(late) as server, pytest.raises(SearchError, match="did not answer within") as caught:
        asyncio.run(send_request("Bees", ProviderRequest(server.url)))
    assert caught.value.retryable


def test_a_service_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(SearchError, match=f"cannot be reached at 127.0.0.1:{port}") as caught:
        asyncio.run(send_request("Bees", ProviderRequest(f"http://127.0.0.1:{port}")))
    assert caught.value.retryable


def test_a_service_that_hangs_up() -> None:
    error = outcome(Answer(b"{", headers={"content-length": "100", "connection": "close"}))
    assert isinstance(error, SearchError)
    assert error.retryable


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json(body: bytes) -> None:
    with serving(lambda asked: Answer(body)) as server, pytest.raises(SearchError, match="no JSON") as caught:
        asyncio.run(fetch_passages("Bees", ProviderRequest(server.url), lambda answer: [], 5))
    assert not caught.value.retryable


@pytest.mark.parametrize("body", [[], None, 3, {"results": 3}, {"results": [3]}, {"results": [{"url": 3}]}])
def test_what_has_another_shape(body: object) -> None:
    def read(answer):  # type: ignore[no-untyped-def]
        return [SearchResult(result["url"], "", "") for result in answer["results"]]

    with serving(lambda asked: Answer(body)) as server, pytest.raises(SearchError, match="shape"):
        asyncio.run(fetch_passages("Bees", ProviderRequest(server.url), read, 5))


def test_who_asks_says_so_and_no_proxy_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(lambda asked: Answer(b"{}")) as server:
        asyncio.run(send_request("Bees", ProviderRequest(server.url)))
    assert server.asked[0].headers["user-agent"] == USER_AGENT
