"""How long Ollama keeps a model loaded: estimated from earlier runs, and sent to the server."""

import asyncio
import json
import statistics
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import InputError
from suffice.models.keep_alive import KeepAliveModel, estimate_keep_alive, parse_keep_alive
from suffice.prompts.judging import JudgeProgress, JudgeProgressResponse
from suffice.prompts.planning import Plan, PlanResponse
from suffice.testing import ScriptedModel

Rows = list[dict[str, Any]]


def runs(kind: str, *seconds: float) -> Rows:
    return [{"task_type": kind, "seconds": value} for value in seconds]


def test_too_few_runs_give_the_default() -> None:
    assert estimate_keep_alive([]) == 450
    assert estimate_keep_alive([], skills=["deep"]) == 675
    assert estimate_keep_alive([], skills=["lit-review"]) == -1
    assert estimate_keep_alive([], skills=["email", "deep"]) == 90
    assert estimate_keep_alive(runs("research", 1, 2, 3, 4), "research") == 450


def test_runs_of_the_same_type_decide_if_there_are_five() -> None:
    rows = runs("enumerated", 10, 10, 10, 10, 10) + runs("research", 100, 100, 100, 100)
    assert estimate_keep_alive(rows, "enumerated") == 12
    assert estimate_keep_alive(rows, "research") == 120
    assert estimate_keep_alive(rows + runs("research", 200), "research") == round((100 + 0.6 * 100) * 1.2)


def test_only_the_last_hundred_runs_count() -> None:
    assert estimate_keep_alive(runs("research", *[1000] * 50, *[10] * 100), "research") == 12


def test_runs_without_a_duration_are_ignored() -> None:
    odd: Rows = [{}, {"seconds": None}, {"seconds": "long"}, {"seconds": 0}, {"task_type": "research", "seconds": -1}]
    assert estimate_keep_alive(odd * 10, "research") == 450


@given(st.lists(st.floats(0.5, 10_000), min_size=5, max_size=100))
def test_the_estimate_is_the_90th_percentile_plus_a_fifth(seconds: list[float]) -> None:
    expected = statistics.quantiles(seconds, n=10, method="inclusive")[-1] * 1.2
    assert estimate_keep_alive(runs("research", *seconds), "research") == pytest.approx(max(1, expected), abs=0.6)


@pytest.mark.parametrize(("text", "value"), [("-1", -1), ("300", 300), ("10m", "10m"), ("1h30m", "1h30m"), ("0", 0)])
def test_the_users_value_is_parsed(text: str, value: object) -> None:
    assert parse_keep_alive(text) == value


@pytest.mark.parametrize("text", ["", "soon", "10 m", "m10"])
def test_an_invalid_duration_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match="OLLAMA_KEEP_ALIVE"):
        parse_keep_alive(text)


@pytest.fixture
def ollama() -> Iterator[ThreadingHTTPServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received.append((self.path, body))
            self.send_response(404 if body["model"] == "absent" else 200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *args: object) -> None:
            pass

    received: list[tuple[str, Any]] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.received = received  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def asked(server: ThreadingHTTPServer, rows: Rows, fixed: str | float | None = None, name: str = "qwen3") -> list[Any]:
    plan, verdict = PlanResponse((), task_type="enumerated"), JudgeProgressResponse("EXHAUSTED")
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    model = KeepAliveModel(ScriptedModel({"plan": [plan], "judge": [verdict]}), url, name, runs=rows, fixed=fixed)

    async def work() -> None:
        for _ in range(2):
            assert (await model(Plan("t", 3))).answer == plan
            assert (await model(JudgeProgress("t", "", (), ()))).answer == verdict

    asyncio.run(work())
    return server.received  # type: ignore[attr-defined,no-any-return]


def test_ollama_receives_it_before_the_first_call_and_after_the_plan(ollama: ThreadingHTTPServer) -> None:
    rows = runs("enumerated", *[10] * 5) + runs("research", *[100] * 20)
    assert asked(ollama, rows) == [
        ("/api/generate", {"model": "qwen3", "keep_alive": 120}),
        ("/api/generate", {"model": "qwen3", "keep_alive": 12}),
    ]


def test_the_users_value_wins(ollama: ThreadingHTTPServer) -> None:
    assert asked(ollama, runs("enumerated", *[10] * 9), "1h") == [
        ("/api/generate", {"model": "qwen3", "keep_alive": "1h"})
    ]


def test_a_server_that_rejects_it_does_not_stop_the_run(ollama: ThreadingHTTPServer) -> None:
    asked(ollama, [], name="absent")
    ollama.server_close()
    ollama.shutdown()
    asked(ollama, [])
