"""The service on a free port of this machine, and a client for it. Tests replace the model and the search of its runs."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2

from suffice.api import prepare_run
from suffice.jobs.worker import ConcurrencyLimits, Worker
from suffice.server.app import create_app
from suffice.server.connection import build_http_server, open_socket
from suffice.server.dependencies import Service

BEES = (
    "The waggle dance of the honeybee tells nestmates where flowers are. Karl von Frisch decoded the dance in 1927.\n"
)
BRIDGE = "The Forth Bridge was opened in 1890. Benjamin Baker and John Fowler designed the Forth Bridge.\n"


def wait_until(condition: Callable[[], bool], message: str, seconds: float = 120.0) -> None:
    """Wait until a condition holds; fail after some seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, message
        time.sleep(0.02)


@dataclass
class Overrides:
    """Replaces the model and the search of the runs that follow; ``None`` leaves them as they are."""

    model: object = None
    search: object = None


@dataclass(frozen=True)
class RunningService:
    client: httpx2.Client
    worker: Worker
    overrides: Overrides
    url: str

    def run(self, question="Who decoded the waggle dance?", **body):
        return self.client.post("/run", json={"question": question, "options": {"alpha": 1}, **body})

    def wait_for_job(self, job, *, seconds=120.0):
        """Return a job once it has ended."""
        found = {}

        def has_ended() -> bool:
            found.update(self.client.get(f"/jobs/{job}").json())
            return found["status"] in ("done", "failed", "cancelled")

        wait_until(has_ended, f"{job} has not ended", seconds)
        return found

    def read_events(self, path, method="GET", **request):
        """Return the server-sent events of a response as (id, type, data)."""
        events = []
        with self.client.stream(method, path, **request) as response:
            assert response.headers["content-type"].startswith("text/event-stream"), response.read()
            fields = {}
            for line in response.iter_lines():
                if not line:
                    if "data" in fields:
                        events.append((fields.get("id"), fields.get("event"), json.loads(fields["data"])))
                    fields = {}
                elif not line.startswith(":"):
                    name, _, value = line.partition(": ")
                    fields[name] = value
        return events


@contextmanager
def run_service(
    folder: Path, *, limits: ConcurrencyLimits = ConcurrencyLimits(), **options
) -> Iterator[RunningService]:
    """Run the service over two small documents; ``options`` are those of ``Service``."""
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "bees.txt").write_text(BEES, encoding="utf-8")
    (docs / "bridge.txt").write_text(BRIDGE, encoding="utf-8")
    overrides = Overrides()

    async def prepare(question, options):
        if overrides.model is not None:
            options = replace(options, model=overrides.model)
        if overrides.search is not None:
            options = replace(options, search=overrides.search)
        return await prepare_run(question, options)

    url = f"sqlite:///{folder / 'service.sqlite'}"
    worker = Worker(url, {"default": [str(docs)]}, prepare=prepare, limits=limits)
    listening = open_socket("127.0.0.1", 0)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    server = build_http_server(create_app(Service(worker, "extractive", **options)))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), "the service does not start", 180)
        assert thread.is_alive()
        with httpx2.Client(base_url=address, timeout=120, trust_env=False) as client:
            yield RunningService(client, worker, overrides, address)
    finally:
        server.should_exit = True
        thread.join()
