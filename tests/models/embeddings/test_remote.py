"""Embeddings from a server: every response is checked before its vectors are used."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suffice.errors import ModelError
from suffice.models.embeddings.remote import RemoteEmbedder
from suffice.search.corpus.vectors import EmbeddingCache

pytestmark = pytest.mark.usefixtures("no_waiting")

Answer = bytes | int | dict[str, Any] | tuple[int, dict[str, str]]


class Server:
    """Answers with what is scripted, then with vectors: text → [length, 1, 0, …]."""

    def __init__(self, *script: Answer | Callable[[list[str]], Answer], size: int = 4) -> None:
        self.script = list(script)
        self.size = size
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.lock = threading.Lock()
        self.url = ""

    def answer(self, body: dict[str, Any]) -> Answer:
        with self.lock:
            self.asked.append(body)
            if self.script:
                scripted = self.script.pop(0)
                return scripted(body["input"]) if callable(scripted) else scripted
        return self.vectors(body["input"])

    def vectors(self, texts: list[str]) -> dict[str, Any]:
        rows = [[len(text), 1] + [0] * (self.size - 2) for text in texts]
        return {"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)][::-1]}


@contextmanager
def running(server: Server) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server.keys.append(self.headers.get("Authorization"))
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = server.answer(body) if self.path == "/v1/embeddings" else 404
            headers: dict[str, str] = {}
            if isinstance(answer, tuple):
                answer, headers = answer
            if answer == -1:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(answer if isinstance(answer, int) else 200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
        server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        yield server
        http.shutdown()


def served(server: Server, **options: Any) -> RemoteEmbedder:
    return RemoteEmbedder("tiny", server.url, **options)


def test_vectors_have_length_one_and_the_order_of_the_texts() -> None:
    with running(Server()) as server:
        model = served(server, key="secret")
        texts = ["x" * i for i in range(1, 151)]
        vectors = model.embed(texts)
        assert vectors.dtype == np.float32
        assert np.allclose(vectors[:, 0] / vectors[:, 1], np.arange(1, 151), rtol=1e-5)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
        assert model.dimension == 4
        assert [len(body["input"]) for body in server.asked] == [64, 64, 22]
        assert server.asked[0]["model"] == "tiny"
        assert set(server.keys) == {"Bearer secret"}


def test_the_dimension_is_requested_when_nothing_was_embedded() -> None:
    with running(Server(size=7)) as server:
        model = served(server)
        assert model.embed([]).shape == (0, 7)
        assert model.dimension == 7
        assert len(server.asked) == 1


def test_empty_texts_lone_surrogates_and_long_texts_are_sent_in_usable_form() -> None:
    with running(Server()) as server:
        assert served(server).embed(["", "\ud800", "y" * 9000]).shape == (3, 4)
        assert server.asked[0]["input"][0] == " "
        assert len(server.asked[0]["input"][2]) == 8191


@pytest.mark.parametrize(
    "fault",
    [
        500,
        503,
        (429, {"Retry-After": "3"}),
        -1,
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        {},
        {"data": None},
        {"data": []},
        {"data": [{"index": 0, "embedding": [1, 2, 3, 4]}]},
        {"data": [{"index": i, "embedding": [1, 2, 3, 4]} for i in (0, 0)]},
        {"data": [{"index": i, "embedding": [1, 2, 3, 4]} for i in range(3)]},
        {"data": [{"index": i, "embedding": [1] * (i + 1)} for i in range(2)]},
        {"data": [{"index": i, "embedding": []} for i in range(2)]},
        {"data": [{"index": i, "embedding": [0, 0, 0, 0]} for i in range(2)]},
        {"data": [{"index": i, "embedding": ["a", 1, 2, 3]} for i in range(2)]},
        {"data": [{"index": i, "embedding": "base64"} for i in range(2)]},
        b'{"data": [{"index": 0, "embedding": [NaN, 1, 2, 3]}, {"index": 1, "embedding": [1, 1, 2, 3]}]}',
        {"data": [{"index": 0, "embedding": [None, 1, 2, 3]}, {"index": 1, "embedding": [1, 1, 2, 3]}]},
    ],
)
def test_a_fault_is_retried_and_then_raised(fault: Answer) -> None:
    messages: list[str] = []
    with running(Server(fault)) as server:
        model = served(server, notify=messages.append)
        assert model.embed(["a", "bb"]).shape == (2, 4)
        assert len(server.asked) == 2
        [message] = messages
        assert announced_wait(message) >= 1
        server.script = [fault] * 3
        with pytest.raises(ModelError, match=r"3 attempts.*SUFFICE_EMBEDDINGS") as error:
            model.embed(["a", "bb"])
        assert len(server.asked) == 5
        assert error.value.retryable
        assert "\n" not in str(error.value)


def announced_wait(message: str) -> float:
    """Return the seconds until the next attempt that a message announces."""
    return float(message.removesuffix(" s.").rpartition(" ")[2])


def test_retry_after_is_honoured() -> None:
    messages: list[str] = []
    with running(Server((429, {"Retry-After": "17"}), (429, {"Retry-After": "a while"}))) as server:
        served(server, notify=messages.append).embed(["a"])
    assert announced_wait(messages[0]) == 17
    assert 2 <= announced_wait(messages[1]) <= 3


def test_a_long_retry_after_is_a_failure() -> None:
    with running(Server((429, {"Retry-After": "600"}))) as server:
        with pytest.raises(ModelError, match="429"):
            served(server).embed(["a"])
        assert len(server.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_not_retried(status: int) -> None:
    with running(Server(status)) as server:
        with pytest.raises(ModelError, match=f"refused tiny \\({status}") as error:
            served(server).embed(["a"])
        assert len(server.asked) == 1
        assert not error.value.retryable


def test_an_unreachable_server_is_an_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match="does not answer"):
            RemoteEmbedder("tiny", url).embed(["a"])


def test_vectors_of_another_length_are_rejected() -> None:
    with running(Server()) as server:
        model = served(server)
        model.embed(["a"])
        server.size = 5
        with pytest.raises(ModelError, match="5 numbers after 4"):
            model.embed(["b"])


def test_threads_share_a_client() -> None:
    with running(Server()) as server:
        model = served(server)
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda i: model.embed(["x" * i])[0, 0], range(1, 20)))
    assert results == sorted(results)


def test_a_changed_model_behind_the_same_name_gets_new_vectors(tmp_path: Path) -> None:
    """Vectors of the old model are not compared with vectors of the new one, of the same length or not."""
    messages: list[str] = []
    with running(Server()) as server:
        EmbeddingCache(served(server), tmp_path, messages.append).embed(["a"])
        before = len(server.asked)
        EmbeddingCache(served(server), tmp_path, messages.append).embed(["a"])
        assert ["a"] not in [body["input"] for body in server.asked[before:]]
        server.vectors = lambda texts: {  # type: ignore[method-assign]
            "data": [{"index": i, "embedding": [0, 0, 1, len(text)]} for i, text in enumerate(texts)]
        }
        assert EmbeddingCache(served(server), tmp_path, messages.append).embed(["a"])[0, 0] == 0
        assert len(messages) == 1
        server.vectors = lambda texts: {"data": [{"index": i, "embedding": [3, 4]} for i, _ in enumerate(texts)]}  # type: ignore[method-assign]
        assert EmbeddingCache(served(server), tmp_path, messages.append).embed(["a"]).tolist() == [
            pytest.approx([0.6, 0.8], abs=1e-3)
        ]
