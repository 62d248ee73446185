"""Each way a service can answer has its own error."""

import asyncio
import gzip
import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from loopback import Answer, Request, serving

from suffice.errors import SearchError, SearchRefused
from suffice.search.web import http
from suffice.search.web.http import USER_AGENT, ProviderRequest, fetch_passages, send_request
from suffice.search.web.provider import SearchResult

SECRET = "tvly-0123456789"


def outcome(answer: Answer, **options: object) -> SearchError | bytes:
    with serving(lambda asked: answer) as server:
        try:
            return asyncio.run(
                send_request("Bees", ProviderRequest(server.url, key_setting="BEES_KEY", secret=SECRET, **options))
            )  # type: ignore[arg-type]
        except SearchError as error:
            return error


@pytest.mark.parametrize(
    ("status", "kind", "retryable", "part"),
    [
        (301, SearchError, False, "moved"),
        (400, SearchError, False, "HTTP 400"),
        (401, SearchRefused, False, "check BEES_KEY"),
        (402, SearchRefused, False, "used up"),
        (403, SearchRefused, False, "check BEES_KEY"),
        (404, SearchError, False, "HTTP 404"),
        (408, SearchError, True, "HTTP 408"),
        (418, SearchRefused, False, "a teapot"),
        (429, SearchRefused, True, "too many requests"),
        (432, SearchRefused, False, "used up"),
        (500, SearchError, True, "HTTP 500"),
        (502, SearchError, True, "HTTP 502"),
        (503, SearchError, True, "HTTP 503"),
        (204, SearchError, False, "HTTP 204"),
    ],
)
def test_each_status_has_its_error(status: int, kind: type, retryable: bool, part: str) -> None:
    error = outcome(Answer(status=status, headers={"location": "/x"}), refusal_messages={418: "it is a teapot"})
    assert type(error) is kind
    assert isinstance(error, SearchError)
    assert (error.retryable, part in str(error)) == (retryable, True), error
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
        # With a name: xdist collects the tests twice, at two times.
        pytest.param(format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True), 0.0, id="an hour ago"),
    ],
)
def test_retry_after_is_parsed(header: str | None, seconds: float | None) -> None:
    error = outcome(Answer(status=429, headers={} if header is None else {"Retry-After": header}))
    assert isinstance(error, SearchRefused)
    assert error.retry_after == seconds


def test_retry_after_may_be_a_date() -> None:
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
def test_error_contains_the_message_of_the_service(body: object) -> None:
    assert "out of honey" in str(outcome(Answer(body, status=500)))


@pytest.mark.parametrize("body", [b" <html><body>Bad gateway</body></html>", {"results": []}, b""])
def test_html_is_not_an_error_message(body: object) -> None:
    assert str(outcome(Answer(body, status=502))) == "Bees failed (HTTP 502)"


def test_secret_is_redacted() -> None:
    error = outcome(Answer({"message": f"the key {SECRET} is wrong"}, status=401), headers={"X-Key": SECRET})
    assert SECRET not in str(error)
    assert SECRET not in repr(ProviderRequest("https://a.example", headers={"X-Key": SECRET}, secret=SECRET))


def test_error_has_no_control_characters() -> None:
    assert "\x1b" not in str(outcome(Answer(b"\x1b[31mred\x1b[0m \x07", status=500)))


def test_redirect_is_not_followed() -> None:
    with serving(lambda asked: Answer(b"{}")) as other:
        error = outcome(Answer(status=302, headers={"location": other.url}))
    assert isinstance(error, SearchError)
    assert other.requests == []


def test_large_answer_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_RESPONSE_BYTES", 1_000_000)
    error = outcome(Answer(b"x" * 1_200_000))
    assert "more than 1 MB" in str(error)


def test_large_unpacked_answer_is_not_read() -> None:
    bomb = gzip.compress(b"\0" * 40_000_000)
    assert len(bomb) < 100_000
    error = outcome(Answer(bomb, headers={"content-encoding": "gzip"}))
    assert "more than 4 MB" in str(error)


def test_invalid_compression_is_a_search_error() -> None:
    assert "cannot be unpacked" in str(outcome(Answer(b"nonsense", headers={"content-encoding": "gzip"})))


def test_timeout_is_retryable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TIMEOUT_SECONDS", 0.1)

    def late(asked: Request) -> Answer:
        time.sleep(0.4)
        return Answer(b"{}")

    with serving(late) as server, pytest.raises(SearchError, match="did not answer within") as caught:
        asyncio.run(send_request("Bees", ProviderRequest(server.url)))
    assert caught.value.retryable


def test_refused_connection_is_retryable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(SearchError, match=f"cannot be reached at 127.0.0.1:{port}") as caught:
        asyncio.run(send_request("Bees", ProviderRequest(f"http://127.0.0.1:{port}")))
    assert caught.value.retryable


def test_broken_connection_is_retryable() -> None:
    error = outcome(Answer(b"{", headers={"content-length": "100", "connection": "close"}))
    assert isinstance(error, SearchError)
    assert error.retryable


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"\xff\xfe", b"[" * 100_000])
def test_answer_that_is_not_json(body: bytes) -> None:
    with serving(lambda asked: Answer(body)) as server, pytest.raises(SearchError, match="not JSON") as caught:
        asyncio.run(fetch_passages("Bees", ProviderRequest(server.url), lambda answer: [], 5))
    assert not caught.value.retryable


@pytest.mark.parametrize("body", [[], None, 3, {"results": 3}, {"results": [3]}, {"results": [{"url": 3}]}])
def test_answer_of_another_shape(body: object) -> None:
    def parse(answer):  # type: ignore[no-untyped-def]
        return [SearchResult(result["url"], "", "") for result in answer["results"]]

    with serving(lambda asked: Answer(body)) as server, pytest.raises(SearchError, match="shape"):
        asyncio.run(fetch_passages("Bees", ProviderRequest(server.url), parse, 5))


def test_user_agent_is_sent_and_proxies_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(lambda asked: Answer(b"{}")) as server:
        asyncio.run(send_request("Bees", ProviderRequest(server.url)))
    assert server.requests[0].headers["user-agent"] == USER_AGENT
