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
from suffice.errors import InputError, SufficeError
from suffice.events import Event
from suffice.jobs import orders
from suffice.jobs.database import connect, sqlite
from suffice.jobs.orders import Order
from suffice.jobs.store import Store
from suffice.jobs.worker import Worker
from suffice.pipeline import Setup
from suffice.types import Report

Watch = Callable[[Event], None]


@dataclass(frozen=True)
class Unfinished:
    run: str
    task: str
    created: float


def unfinished(data_dir: Path) -> list[Unfinished]:
    """The runs that can be taken up, newest first."""
    found = []
    for path in _folder(data_dir).glob("*.sqlite"):
        kept = _store(path).run(path.stem)
        found.append(Unfinished(kept.id, orders.loads(kept.order).task, kept.created))
    return sorted(found, key=lambda left: left.created, reverse=True)


def ordered(run: str, data_dir: Path) -> Order:
    """What an unfinished run was ordered as."""
    path = _path(run, data_dir)
    if not path.is_file():
        raise InputError(f"There is no unfinished run {run!r}; suffice resume without a name lists those there are")
    return orders.loads(_store(path).run(run).order)


async def work(run: str, order: Order, setup: Setup, data_dir: Path, watch: Watch, *, again: bool) -> Report | None:
    """Work on a run to its end. Interrupted, it gives the report of what was found, and the run can be taken up again."""

    async def prepared(task: str, options: object) -> Setup:
        return setup

    path = _path(run, data_dir)
    url = sqlite(path)
    with _lock(path):
        worker = Worker(url, takes=False, prepare=prepared)
        async with _started(worker):
            kept = worker.store.run(run) if again else worker.store.add(run, "local", order.dumps(), 10, None)
            report = await worker.here(kept, watch, again=again)
            ended = worker.store.run(run)
        if ended.ended:
            for left in path.parent.glob(f"{path.name}*"):
                left.unlink(missing_ok=True)
        if ended.error is not None:
            raise _error(**json.loads(ended.error))
        return report


def _error(type: str, message: str, retryable: bool) -> SufficeError:
    """A run's error as it was raised, so that it ends the program with its own status."""
    kind: Any = getattr(errors, type, SufficeError)
    return kind(message) if issubclass(kind, SufficeError) else SufficeError(message)


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
        raise InputError(f"Another process works on the run {path.stem} just now") from None
    try:
        yield
    finally:
        lock.release()
        if not path.exists():
            path.with_suffix(".lock").unlink(missing_ok=True)


def _store(path: Path) -> Store:
    return Store(connect(sqlite(path)))


def _folder(data_dir: Path) -> Path:
    return data_dir / "unfinished"


def _path(run: str, data_dir: Path) -> Path:
    if not run or not all(character.isalnum() or character == "-" for character in run):
        raise InputError(f"{run!r} is not the name of a run; suffice resume without a name lists those there are")
    return _folder(data_dir) / f"{run}.sqlite"
