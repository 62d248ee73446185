"""Asking a model server about itself: no redirects, and limits on size, time and depth."""

import socket
import threading
import time

import pytest
from loopback import Answer, Request, serving

from suffice.models import servers
from suffice.models.servers import fetch_context, fetch_models

pytestmark = pytest.mark.attack("hostile model servers")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_key_does_not_follow_a_redirect(status: int) -> None:
    with serving(lambda request: Answer({"data": [{"id": "stolen"}]})) as other:
        here = Answer(b"", status, {"location": f"{other.url}/v1/models"})
        with serving(lambda request: here) as server:
            assert fetch_models(f"{server.url}/v1", "secret") is None
            assert server.requests[0].headers["authorization"] == "Bearer secret"
    assert other.requests == []


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"data": [' + b"1," * 3_000_000 + b"1]}",
        b"\xff" * 100,
        b"null",
        b'{"data": 1}',
        b'{"data": [{"id": 1}, null]}',
    ],
    ids=["deep list", "deep object", "6 MB", "binary", "null", "no list", "odd rows"],
)
def test_unusable_answers_are_no_models(body: bytes) -> None:
    def answer(request: Request) -> Answer:
        return Answer(body)

    with serving(answer) as server:
        found = fetch_models(f"{server.url}/v1", "secret")
        assert found is None or found.names == ()
        assert fetch_context(server.url) is None


def test_a_server_that_is_too_busy_to_list_its_models_is_not_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "REQUEST_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        assert servers.diagnose(url) == "unlisted"
    assert servers.diagnose(url) == "dead"


def test_a_server_that_sends_one_byte_at_a_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "REQUEST_TIMEOUT", 0.5)
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n[")
            for _ in range(600):
                time.sleep(0.1)
                try:
                    connection.sendall(b" ")
                except OSError:
                    return

    threading.Thread(target=drip, daemon=True).start()
    started = time.monotonic()
    assert fetch_models(f"http://127.0.0.1:{listener.getsockname()[1]}/v1") is None
    assert time.monotonic() - started < 30
    listener.close()
