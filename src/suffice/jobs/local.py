"""Durable runs of the command line: one process and one SQLite file per run, deleted when the run has ended.

While a process works on a run, it holds a lock on a separate ``.lock`` file beside the SQLite file.
"""

import json
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from suffice.engine.pipeline import RunConfig
from suffice.errors import InputError, SufficeError
from suffice.events import Event
from suffice.jobs.database import open_engine, sqlite_url
from suffice.jobs.journal import find_error_class
from suffice.jobs.requests import JobRequest, parse_request
from suffice.jobs.store import Priority, RunStore
from suffice.jobs.worker import Worker
from suffice.types import Report

EventCallback = Callable[[Event], None]


@dataclass(frozen=True)
class UnfinishedRun:
    """A run that was interrupted or killed and can be resumed."""

    run_id: str
    question: str
    created: float


def list_unfinished(data_dir: Path) -> list[UnfinishedRun]:
    """Return the runs that can be resumed, newest first."""
    found = []
    for path in _unfinished_dir(data_dir).glob("*.sqlite"):
        stored = _open_store(path).get(path.stem)
        found.append(UnfinishedRun(stored.id, parse_request(stored.request).question, stored.created))
    return sorted(found, key=lambda unfinished: unfinished.created, reverse=True)


def load_request(run_id: str, data_dir: Path) -> JobRequest:
    """Return the request of an unfinished run."""
    path = _run_path(run_id, data_dir)
    if not path.is_file():
        raise InputError(f"There is no unfinished run {run_id!r}; list them with: suffice resume")
    return parse_request(_open_store(path).get(run_id).request)


async def run_local(
    run_id: str, request: JobRequest, config: RunConfig, data_dir: Path, on_event: EventCallback, *, resume: bool
) -> Report | None:
    """Work on a run and return its report. If interrupted, report what was found; the run can then be resumed."""

    async def get_config(question: str, options: object) -> RunConfig:
        return config

    path = _run_path(run_id, data_dir)
    url = sqlite_url(path)
    with _lock(path):
        worker = Worker(url, takes_jobs=False, prepare=get_config)
        async with _started(worker):
            store = worker.store
            stored = (
                store.get(run_id) if resume else store.add(run_id, "local", request.to_json(), Priority.NORMAL, None)
            )
            report = await worker.run_in_process(stored, on_event, resume=resume)
            ended = store.get(run_id)
        if ended.has_ended:
            for leftover in path.parent.glob(f"{path.name}*"):
                leftover.unlink(missing_ok=True)
        if ended.error is not None:
            error = json.loads(ended.error)
            raise (find_error_class(error["type"]) or SufficeError)(error["message"])
        return report


@asynccontextmanager
async def _started(worker: Worker) -> AsyncGenerator[None, None]:
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
        raise InputError(
            f"Another process is working on the run {path.stem}; wait until it ends, or stop it and try again"
        ) from None
    try:
        yield
    finally:
        lock.release()
        if not path.exists():
            path.with_suffix(".lock").unlink(missing_ok=True)


def _open_store(path: Path) -> RunStore:
    return RunStore(open_engine(sqlite_url(path)))


def _unfinished_dir(data_dir: Path) -> Path:
    return data_dir / "unfinished"


def _run_path(run_id: str, data_dir: Path) -> Path:
    if not run_id or not all(character.isalnum() or character == "-" for character in run_id):
        raise InputError(f"{run_id!r} is not the name of a run; list unfinished runs with: suffice resume")
    return _unfinished_dir(data_dir) / f"{run_id}.sqlite"
