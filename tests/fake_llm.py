"""A scripted language-model server on loopback: OpenAI-compatible, with every fault that a test needs.

    with FakeLlm(["hello", Say("…", status=429, headers={"Retry-After": "1"}), '{"queries": []}']) as server:
        ...  # server.url is the base URL; server.requests are the bodies it received, in order

Answers are sent in order; the last one repeats. A function receives the request's body and returns the answer. The server
has chat completions, also streamed, ``/models`` and ``/props``; ``Say`` describes an answer or a fault.
"""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Body = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """One answer of the server, or a fault."""

    text: str | None = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish: str = "stop"
    usage: tuple[int, int] | None = (10, 5)
    """Input and output tokens; ``None``: the server does not report them."""
    delay: float = 0.0
    """Seconds before the server answers."""
    raw: bytes | None = None
    """Sent as the body instead of a completion."""
    reset: bool = False
    """The connection is reset: at once, or in the middle of a stream."""
    choices: bool = True
    """``False``: the list of choices is empty."""
    first: Mapping[str, float] | None = None
    """Candidates of the first token with their log-probabilities; ``None``: the server sends none."""
    tokens: Sequence[Mapping[str, float]] = ()
    """The same of every token, each with the chosen one first."""


Answer = str | Say
Script = Sequence[Answer] | Callable[[Body], Answer]


class FakeLlm:
    def __init__(
        self,
        script: Script = ("ok",),
        *,
        models: Sequence[str] = ("fake-model",),
        context: int | None = None,
        routes: Mapping[str, Any] | None = None,
        refuses_key: bool = False,
    ) -> None:
        self._script = script if callable(script) else list(script)
        self._models = models
        self._context = context
        self._routes = dict(routes or {})
        """More paths and the JSON they answer, also for POST."""
        self.refuses_key = refuses_key
        """Whether every GET is answered with 401."""
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.busiest = 0
        """The largest number of requests at the same time."""
        self._open = 0
        self.disconnected = threading.Event()
        self.asked = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @contextmanager
    def working(self) -> Iterator[None]:
        with self._lock:
            self._open += 1
            self.busiest = max(self.busiest, self._open)
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1

    def answer(self, path: str, body: Body, headers: Mapping[str, str]) -> Say:
        with self._lock:
            self.requests.append(body)
            self.paths.append(path)
            self.headers.append({name.lower(): value for name, value in headers.items()})
            self.asked.set()
            if callable(self._script):
                answer = self._script(body)
            else:
                answer = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        return Say(answer) if isinstance(answer, str) else answer

    def known(self, path: str) -> Any:
        """Return the JSON of a plain path; ``None`` when there is no such path."""
        if path in self._routes:
            return self._routes[path]
        if path == "/v1/models":
            return {"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]}
        if path == "/props" and self._context:
            return {"default_generation_settings": {"n_ctx": self._context}}
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    fake: FakeLlm

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that have disconnected."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.server.fake.refuses_key:
            self._send(401, b"{}", {})
            return
        known = self.server.fake.known(self.path)
        self._send(200 if known is not None else 404, json.dumps(known or {"error": "no such path"}).encode(), {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        known = self.server.fake.known(self.path)
        if known is not None:
            self._send(200, json.dumps(known).encode(), {})
            return
        with self.server.fake.working():
            said = self.server.fake.answer(self.path, body, self.headers)
            if said.delay and self._disconnects_within(said.delay):
                self.server.fake.disconnected.set()
                self.close_connection = True
                return
        if said.raw is not None:
            self._send(said.status, said.raw, said.headers)
        elif said.status != 200:
            error = {"error": {"message": said.text or "it did not work", "type": "fault", "code": None}}
            self._send(said.status, json.dumps(error).encode(), said.headers)
        elif body.get("stream"):
            self._stream(said)
        elif said.reset:
            self._reset()
        else:
            self._send(200, json.dumps(_completion(said)).encode(), said.headers)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, said: Say) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        text = said.text or ""
        pieces = [text[i : i + 12] for i in range(0, len(text), 12)]
        for number, piece in enumerate(pieces):
            if said.reset and number >= len(pieces) // 2:
                self._reset()
                return
            self._event(_chunk({"role": "assistant", "content": piece}))
        self._event(_chunk({}, said.finish))
        if said.usage is not None:
            self._event({**_chunk({}), "choices": [], "usage": _usage(said.usage)})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _event(self, event: Body) -> None:
        self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        self.wfile.flush()

    def _reset(self) -> None:
        """Close with RST, as the kernel of a crashed server does."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def _disconnects_within(self, seconds: float) -> bool:
        """Wait; return true as soon as the client has disconnected."""
        self.connection.settimeout(seconds)
        try:
            return self.connection.recv(1, socket.MSG_PEEK) == b""
        except TimeoutError:
            return False
        except OSError:
            return True
        finally:
            self.connection.settimeout(None)


def _completion(said: Say) -> Body:
    message = {"role": "assistant", "content": said.text}
    choice = {"index": 0, "message": message, "finish_reason": said.finish, "logprobs": _logprobs(said)}
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "fake-model",
        "choices": [choice] if said.choices else [],
        **({"usage": _usage(said.usage)} if said.usage is not None else {}),
    }


def _logprobs(said: Say) -> Body | None:
    candidates = said.tokens or ([said.first] if said.first is not None else [])
    if not candidates:
        return None
    tops = [[{"token": token, "logprob": value, "bytes": None} for token, value in one.items()] for one in candidates]
    return {"content": [{**top[0], "top_logprobs": top} for top in tops], "refusal": None}


def _chunk(delta: Body, finish: str | None = None) -> Body:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake-model", "choices": [choice]}


def _usage(tokens: tuple[int, int]) -> Body:
    return {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}


SENSIBLE = {
    "plan": '{"queries": [{"query": "forth bridge opened", "intent": "when"}], "complexity": "simple"}',
    "reflect": '{"sufficient": true, "confidence": 0.9, "gaps": [], "new_queries": []}',
    "draft": "The Forth Bridge was opened in 1890 [1].\n\n## Key findings\n- It was opened in 1890 [1].",
    "extract": '{"facts": [{"text": "The Forth Bridge was opened in 1890.", "handles": ["[1]"], "about": ""}]}',
    "curate": '{"kept": [{"of": [1], "text": ""}]}',
    "compress": '{"bullets": [{"text": "The Forth Bridge was opened in 1890.", "handles": ["[1]"]}]}',
    "gap": "who designed the bridge",
    "novelty": "7",
    "judge": "PRODUCTIVE",
    "judge_neutral": "PRODUCTIVE",
    "notes": "The bridge was opened in 1890 [1].",
    "compute": '{"code": "", "more": false}',
    "answer_from_memory": "1890",
    "grade": '{"correctness": 90, "completeness": 80, "irrelevance": 0}',
    "outline": '{"topics": ["opening", "design", "designers", "railway"]}',
    "hypothetical": "The bridge was opened in the nineteenth century.",
    "label": "railway bridges",
    "thought": "So the answer is: 1890.",
    "act": '{"thought": "It is known.", "action": "Finish", "argument": "1890"}',
    "step": '{"inner_monologue": "Known.", "tool": "send_message", "arguments": {"message": "1890"}}',
    "answer": "The Forth Bridge was opened in 1890 [1].\nShort answer: 1890",
    "self_test": "Petr Kolbe died in 1874 in Vienna [2] [3]. The mill burned in 1871, and he died three years later [2] [3].",
    "short_answer": "It was opened in 1890.",
    "hypotheses": '{"rivals": [{"text": "It was 1890.", "query": "bridge 1890"}, {"text": "1891.", "query": "bridge 1891"}]}',
    "evaluate": '{"relevance": 9, "completeness": 9, "depth": 9, "grounded": 9, "specificity": 9, "structure": 9}',
    "check_draft": '{"statements": []}',  # Every statement is then the reader's to judge.
    "mend": '{"sentences": []}',
    "look": "A sign reads FORTH BRIDGE OPENED 1890.",
    "revise": "The Forth Bridge was opened in 1890 [1].",
}
_SEARCHES = {
    "act": '{"thought": "Look.", "action": "Search", "argument": "forth bridge opened"}',
    "step": '{"inner_monologue": "Look.", "tool": "archival_search", "arguments": {"query": "forth bridge opened"}}',
}


def role_of(body: Body) -> str:
    """Return the role of a request, by the first words of its prompt."""
    from suffice.prompts.base import load_template

    content = body["messages"][0]["content"]
    prompt = content if isinstance(content, str) else content[0]["text"]  # Images come after the text.
    [role] = [role for role in SENSIBLE if prompt.startswith(load_template(role).body.template[:40])]
    return role


def sensible(body: Body) -> str:
    """Return a sensible answer to any prompt, about a bridge that was opened in 1890."""
    role = role_of(body)
    if role in _SEARCHES and "1890" not in body["messages"][0]["content"]:
        return _SEARCHES[role]
    return SENSIBLE[role]
