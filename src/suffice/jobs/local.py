"""A durable run without a service: one process, one SQLite file, which is gone when the run has ended by itself.

While somebody works on the run its file is locked, so that nobody else takes it up.
"""

import json
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from suffice import errors
from suffice.engine.pipeline import RunConfig
from suffice.errors import InputError, SufficeError
from suffice.events import Event
from suffice.jobs import requests
from suffice.jobs.database import open_engine, sqlite_url
from suffice.jobs.requests import JobRequest
from suffice.jobs.store import RunStore
from suffice.jobs.worker import Worker
from suffice.types import Report

EventCallback = Callable[[Event], None]


@dataclass(frozen=True)
class UnfinishedRun:
    run: str
    task: str
    created: float


def list_unfinished(data_dir: Path) -> list[UnfinishedRun]:
    """The runs that can be taken up, newest first."""
    found = []
    for path in _folder(data_dir).glob("*.sqlite"):
        kept = _open_store(path).get(path.stem)
        found.append(UnfinishedRun(kept.id, requests.parse_request(kept.request).task, kept.created))
    return sorted(found, key=lambda left: left.created, reverse=True)


def load_request(run: str, data_dir: Path) -> JobRequest:
    """What an unfinished run was ordered as."""
    path = _run_path(run, data_dir)
    if not path.is_file():
        raise InputError(f"There is no unfinished run {run!r}; suffice resume without a name lists those there are")
    return requests.parse_request(_open_store(path).get(run).request)


async def run_local(
    run: str, order: JobRequest, setup: RunConfig, data_dir: Path, on_event: EventCallback, *, resume: bool
) -> Report | None:
    """Work on a run to its end. Interrupted, it gives the report of what was found, and the run can be taken up again."""

    async def prepared(task: str, options: object) -> RunConfig:
        return setup

    path = _run_path(run, data_dir)
    url = sqlite_url(path)
    with _lock(path):
        worker = Worker(url, takes_jobs=False, prepare=prepared)
        async with _running(worker):
            kept = worker.store.get(run) if resume else worker.store.add(run, "local", order.to_json(), 10, None)
            report = await worker.run_in_process(kept, on_event, resume=resume)
            ended = worker.store.get(run)
        if ended.has_ended:
            for left in path.parent.glob(f"{path.name}*"):
                left.unlink(missing_ok=True)
        if ended.error is not None:
            raise _restore_error(**json.loads(ended.error))
        return report


def _restore_error(type: str, message: str, retryable: bool) -> SufficeError:
    """A run's error as it was raised, so that it ends the program with its own status."""
    kind: Any = getattr(errors, type, SufficeError)
    return kind(message) if issubclass(kind, SufficeError) else SufficeError(message)


@asynccontextmanager
async def _running(worker: Worker) -> AsyncGenerator[None, None]:
    await worker.start()
    try:
        yield
    finally:
        await worker.stop()


@contextmanager
def _lock(path: Path) -> Generator[None, None, None]:
    lock = FileLock(path.with_suffix(".lock"), blocking=False)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(f"Another process works on the run {path.stem} just now") from None
    try:
        yield
    finally:
        lock.release()
        if not path.exists():
            path.with_suffix(".lock").unlink(missing_ok=True)


def _open_store(path: Path) -> RunStore:
    return RunStore(open_engine(sqlite_url(path)))


def _folder(data_dir: Path) -> Path:
    return data_dir / "unfinished"


def _run_path(run: str, data_dir: Path) -> Path:
    if not run or not all(character.isalnum() or character == "-" for character in run):
        raise InputError(f"{run!r} is not the name of a run; suffice resume without a name lists those there are")
    return _folder(data_dir) / f"{run}.sqlite"
