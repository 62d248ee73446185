"""Embeddings from a server: what it sends is a vector only after it was checked."""

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
from suffice.models.embeddings.server import RemoteEmbedder
from suffice.search.corpus.vectors import EmbeddingCache

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
    return RemoteEmbedder("tiny", server.url, **({"sleep": lambda seconds: None} | options))


def test_vectors_come_in_the_order_of_the_texts_at_length_one() -> None:
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


def test_the_dimension_is_asked_for_when_nothing_was_embedded() -> None:
    with running(Server(size=7)) as server:
        model = served(server)
        assert model.embed([]).shape == (0, 7)
        assert model.dimension == 7
        assert len(server.asked) == 1


def test_an_empty_text_and_half_a_character_are_sent_as_something() -> None:
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
def test_a_fault_is_tried_again_and_then_said(fault: Answer) -> None:
    said: list[str] = []
    waits: list[float] = []
    with running(Server(fault)) as server:
        model = served(server, notify=said.append, sleep=waits.append)
        assert model.embed(["a", "bb"]).shape == (2, 4)
        assert len(server.asked) == 2
        assert len(said) == len(waits) == 1
        assert waits[0] >= 2
        server.script = [fault] * 3
        with pytest.raises(ModelError, match=r"after 3 attempts; check SUFFICE_EMBEDDINGS") as error:
            model.embed(["a", "bb"])
        assert error.value.retryable
        assert "\n" not in str(error.value)


def test_the_servers_wish_to_wait_is_honoured() -> None:
    waits: list[float] = []
    with running(Server((429, {"Retry-After": "17"}), (429, {"Retry-After": "a while"}))) as server:
        served(server, sleep=waits.append).embed(["a"])
    assert waits[0] == 17
    assert 4 <= waits[1] <= 5


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_not_tried_again(status: int) -> None:
    with running(Server(status)) as server:
        with pytest.raises(ModelError, match=f"refused tiny \\({status}") as error:
            served(server).embed(["a"])
        assert len(server.asked) == 1
        assert not error.value.retryable


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match="does not answer"):
            RemoteEmbedder("tiny", url, sleep=lambda seconds: None).embed(["a"])


def test_another_length_in_the_middle_is_never_mixed_in() -> None:
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
    """Same length or another: nothing of the old model is compared with anything of the new."""
    said: list[str] = []
    with running(Server()) as server:
        EmbeddingCache(served(server), tmp_path, said.append).embed(["a"])
        before = len(server.asked)
        EmbeddingCache(served(server), tmp_path, said.append).embed(["a"])
        assert ["a"] not in [body["input"] for body in server.asked[before:]]
        server.vectors = lambda texts: {  # type: ignore[method-assign]
            "data": [{"index": i, "embedding": [0, 0, 1, len(text)]} for i, text in enumerate(texts)]
        }
        assert EmbeddingCache(served(server), tmp_path, said.append).embed(["a"])[0, 0] == 0
        assert len(said) == 1
        server.vectors = lambda texts: {"data": [{"index": i, "embedding": [3, 4]} for i, _ in enumerate(texts)]}  # type: ignore[method-assign]
        assert EmbeddingCache(served(server), tmp_path, said.append).embed(["a"]).tolist() == [
            pytest.approx([0.6, 0.8], abs=1e-3)
        ]
