"""The service under random faults for a while: killed workers, a slow and failing model, a full queue, cancelled runs.

    python -m reliability.soak [--minutes 30] [--seed 1]

A service that only takes orders and two workers share a Postgres. The model is the stub of ``bench.load`` behind a server that
delays, refuses or drops a share of the calls. Every few seconds something happens: a worker is killed with signal 9 and started
again, a burst of jobs fills the queue, some jobs are cancelled, one is purged. At the end the faults stop. Every run must then
reach a named state, and a report or an error must say how it ended.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx2
from postgres_server import run_postgres

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from bench.load import BODY, TEXT, find_free_port, make_completion, stream_completion  # noqa: E402

ENDED = ("done", "failed", "cancelled")
SETTLE_SECONDS = 240.0  # Seconds that the runs have to end after the last fault.
MAX_QUEUED = 150  # Jobs that are not yet ended; a burst waits until there are fewer.


class FaultyModel:
    """A model server that misbehaves for a share of its calls while ``share`` is above zero."""

    def __init__(self, rng: random.Random, share: float) -> None:
        self.share = share
        self.faults: Counter[str] = Counter()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                fault = rng.choice(["slow", "error", "busy", "drop", "nonsense"]) if rng.random() < model.share else ""
                model.faults[fault or "none"] += 1
                time.sleep(3.0 if fault == "slow" else 0.05)
                if fault == "drop":
                    self.close_connection = True
                    self.connection.close()
                    return
                status = {"error": 500, "busy": 429}.get(fault, 200)
                answer = make_completion(body, rng.randrange(10**6))
                streamed = bool(body.get("stream")) and status == 200
                data = stream_completion(answer) if streamed else json.dumps(answer).encode()
                if fault == "nonsense":
                    data, streamed = b"<html>not json</html>", False
                with suppress(OSError):
                    self.send_response(status)
                    self.send_header("content-type", "text/event-stream" if streamed else "application/json")
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)

            def do_GET(self) -> None:
                data = b'{"data": [{"id": "stub"}]}'
                self.send_response(200)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        Thread(target=self.server.serve_forever, daemon=True).start()


class Processes:
    """The service and its workers."""

    def __init__(self, folder: Path, environment: dict[str, str], workers: int) -> None:
        self._environment = {**os.environ, **environment}
        self._log = (folder / "log").open("ab")
        self.port = find_free_port()
        docs = ["--docs", str(folder / "docs")]
        self._worker_command = ["worker", *docs, "--runs", "16", "--runs-per-user", "64"]
        self.service = self._start("serve", "--port", str(self.port), "--orders-only", "--model", "openai:stub", *docs)
        self.workers = [self._start(*self._worker_command) for _ in range(workers)]

    def kill_worker(self, number: int) -> None:
        """Kill a worker without warning and start another."""
        self.workers[number].send_signal(signal.SIGKILL)
        self.workers[number].wait()
        self.workers[number] = self._start(*self._worker_command)

    def stop(self) -> None:
        for process in (self.service, *self.workers):
            process.send_signal(signal.SIGTERM)
        for process in (self.service, *self.workers):
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        self._log.close()

    def _start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-W", "ignore", "-m", "suffice", *arguments]
        return subprocess.Popen(command, env=self._environment, stdout=self._log, stderr=self._log)


async def soak(processes: Processes, model: FaultyModel, rng: random.Random, seconds: float) -> dict[str, object]:
    jobs: dict[str, str] = {}
    actions: Counter[str] = Counter()
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{processes.port}", timeout=60, trust_env=False) as client:
        await _wait_until_ready(client)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            action = rng.choice(["burst", "burst", "burst", "kill", "cancel", "purge", "search"])
            actions[action] += 1
            with suppress(httpx2.TransportError):
                await _act(action, client, processes, rng, jobs)
            await asyncio.sleep(rng.uniform(0.5, 3.0))
            await _refresh(client, jobs)
        model.share = 0.0
        deadline = time.monotonic() + SETTLE_SECONDS
        while any(status not in (*ENDED, "purged") for status in jobs.values()) and time.monotonic() < deadline:
            await asyncio.sleep(2)
            await _refresh(client, jobs)
        nameless = [job for job, status in jobs.items() if status in ENDED and not await _says_how(client, job)]
    return {"jobs": Counter(jobs.values()), "actions": actions, "calls": model.faults, "nameless": nameless}


async def _act(
    action: str, client: httpx2.AsyncClient, processes: Processes, rng: random.Random, jobs: dict[str, str]
) -> None:
    active = [job for job, status in jobs.items() if status not in (*ENDED, "purged")]
    if action == "burst" and len(active) < MAX_QUEUED:
        for _ in range(rng.randint(5, 25)):
            response = await client.post("/run", json=BODY)
            if response.status_code == 202:
                jobs[response.json()["job_id"]] = "queued"
    elif action == "kill":
        await asyncio.to_thread(processes.kill_worker, rng.randrange(len(processes.workers)))
    elif action == "cancel" and active:
        await client.delete(f"/jobs/{rng.choice(active)}")
    elif action == "purge" and jobs:
        job = rng.choice([job for job, status in jobs.items() if status != "purged"] or list(jobs))
        if (await client.delete(f"/jobs/{job}?purge")).status_code == 200:
            jobs[job] = "purged"
    elif action == "search":
        await client.post("/search", json={"question": "waggle dance", "options": {"alpha": 1}})


async def _refresh(client: httpx2.AsyncClient, jobs: dict[str, str]) -> None:
    for job in [job for job, status in jobs.items() if status not in (*ENDED, "purged")][:40]:
        with suppress(httpx2.TransportError):
            response = await client.get(f"/jobs/{job}")
            if response.status_code == 200:
                jobs[job] = response.json()["status"]


async def _says_how(client: httpx2.AsyncClient, job: str) -> bool:
    """Whether an ended run has a report or an error; a run that was cancelled in the queue needs neither."""
    found = (await client.get(f"/jobs/{job}")).json()
    return found["status"] == "cancelled" or found["report"] is not None or found["error"] is not None


async def _wait_until_ready(client: httpx2.AsyncClient) -> None:
    for _ in range(600):
        with suppress(httpx2.TransportError):
            if (await client.get("/readyz")).status_code == 200:
                return
        await asyncio.sleep(0.1)
    raise TimeoutError("the service does not start")


def run_soak(minutes: float, seed: int, workers: int = 2) -> dict[str, object]:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name, run_postgres(vectors=False) as database:
        folder = Path(name)
        (folder / "docs").mkdir()
        (folder / "docs" / "bees.txt").write_text(TEXT, encoding="utf-8")
        model = FaultyModel(random.Random(seed + 1), share=0.2)
        environment = {
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": "none",
            "SUFFICE_DATA_DIR": str(folder / "data"),
            "SUFFICE_CACHE_DIR": str(folder / "cache"),
            "SUFFICE_DATABASE_URL": database,
        }
        processes = Processes(folder, environment, workers)
        try:
            return asyncio.run(soak(processes, model, rng, minutes * 60))
        finally:
            processes.stop()
            model.server.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    result = run_soak(arguments.minutes, arguments.seed)
    for name, value in result.items():
        print(f"{name}: {dict(value) if isinstance(value, Counter) else value}")
    jobs = result["jobs"]
    assert isinstance(jobs, Counter)
    unended = sum(count for status, count in jobs.items() if status not in (*ENDED, "purged"))
    if unended or result["nameless"]:
        sys.exit(f"{unended} runs did not end; without report or error: {result['nameless']}")


if __name__ == "__main__":
    main()
