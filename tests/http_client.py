"""The service itself, on a free port of this machine, with a model that answers from what it is asked."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2

from suffice.api import prepare_run
from suffice.jobs.worker import ConcurrencyLimits, Worker
from suffice.server.app import create_app
from suffice.server.connection import build_http_server, open_socket
from suffice.server.context import Service

BEES = (
    "The waggle dance of the honeybee tells nestmates where flowers are. Karl von Frisch decoded the dance in 1927.\n"
)
BRIDGE = "The Forth Bridge was opened in 1890. Benjamin Baker and John Fowler designed the Forth Bridge.\n"


@dataclass
class Stage:
    """What a test may put in the place of the model and the search of the runs that come."""

    model: object = None
    search: object = None


@dataclass(frozen=True)
class Running:
    get_client: httpx2.Client
    worker: Worker
    stage: Stage
    url: str

    def run(self, task="Who decoded the waggle dance?", **body):
        return self.get_client.post("/run", json={"task": task, "options": {"alpha": 1}, **body})

    def job(self, job, *, until=("done", "failed", "cancelled"), patience=20.0):
        """The job once it has one of these states."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            found = self.get_client.get(f"/jobs/{job}").json()
            if found["status"] in until:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{job} is still {found['status']}")

    def events(self, path, method="GET", **request):
        """The server-sent events of an answer: (id, type, data)."""
        found = []
        with self.get_client.stream(method, path, **request) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream"), answer.read()
            fields = {}
            for line in answer.iter_lines():
                if not line:
                    if "data" in fields:
                        found.append((fields.get("id"), fields.get("event"), json.loads(fields["data"])))
                    fields = {}
                elif not line.startswith(":"):
                    name, _, value = line.partition(": ")
                    fields[name] = value
        return found


@contextmanager
def running(folder: Path, **service) -> Iterator[Running]:
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "bees.txt").write_text(BEES, encoding="utf-8")
    (docs / "bridge.txt").write_text(BRIDGE, encoding="utf-8")
    stage = Stage()

    async def prepared(task, options):
        if stage.model is not None:
            options = replace(options, model=stage.model)
        if stage.search is not None:
            options = replace(options, search=stage.search)
        return await prepare_run(task, options)

    url = f"sqlite:///{folder / 'service.sqlite'}"
    worker = Worker(url, {"default": [str(docs)]}, prepare=prepared, limits=service.pop("limits", ConcurrencyLimits()))
    listening = open_socket("127.0.0.1", 0)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    app = create_app(Service(worker, "extractive", **service))
    server = build_http_server(app)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.02)
        with httpx2.Client(base_url=address, timeout=30, trust_env=False) as client:
            yield Running(client, worker, stage, address)
    finally:
        server.should_exit = True
        thread.join()
