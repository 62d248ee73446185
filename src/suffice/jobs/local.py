"""Durable runs of the command line: one process and one SQLite file per run, deleted when the run has ended.

While a process works on a run, it holds a lock on a separate ``.lock`` file beside the SQLite file.
"""

import json
from pathlib import Path

from suffice.engine.config import RunConfig
from suffice.errors import InputError, SufficeError
from suffice.jobs.database import open_engine, sqlite_url
from suffice.jobs.executor import EventListeners
from suffice.jobs.journal import find_error_class
from suffice.jobs.requests import JobRequest, parse_request
from suffice.jobs.store import Priority, RunStore, is_run_id
from suffice.jobs.worker import Worker
from suffice.storage.locks import lock_or_refuse
from suffice.storage.runs import UNFINISHED_DIR
from suffice.types import Report


def list_unfinished(data_dir: Path) -> list[tuple[str, str]]:
    """Return the id and question of the runs that were interrupted or killed and can be resumed, newest first."""
    stored = [_open_store(path).get(path.stem) for path in (data_dir / UNFINISHED_DIR).glob("*.sqlite")]
    newest = sorted(stored, key=lambda run: run.created, reverse=True)
    return [(run.id, parse_request(run.request).question) for run in newest]


def load_request(run_id: str, data_dir: Path) -> JobRequest:
    path = _run_path(run_id, data_dir)
    if not path.is_file():
        raise InputError(f"There is no unfinished run {run_id!r}; list them with: suffice resume")
    return parse_request(_open_store(path).get(run_id).request)


async def run_local(
    run_id: str, request: JobRequest, config: RunConfig, data_dir: Path, listeners: EventListeners, *, resume: bool
) -> Report | None:
    """Work on a run and return its report. If interrupted, report what was found; the run can then be resumed."""

    async def get_config(question: str, options: object) -> RunConfig:
        return config

    path = _run_path(run_id, data_dir)
    url = sqlite_url(path)
    lock = path.with_suffix(".lock")
    refusal = f"Another process is working on the run {run_id}; wait until it ends, or stop it and try again"
    with lock_or_refuse(lock, refusal):
        worker = Worker(url, takes_jobs=False, prepare=get_config)
        await worker.start()
        try:
            store = worker.store
            if not resume:
                store.add(run_id, "local", request.to_json(), Priority.NORMAL, None)
            report = await worker.run_in_process(store.get(run_id), listeners, resume=resume)
            ended = store.get(run_id)
        finally:
            await worker.stop()
        if ended.has_ended:
            for leftover in path.parent.glob(f"{path.name}*"):
                leftover.unlink(missing_ok=True)
            lock.unlink(missing_ok=True)
        if ended.error is not None:
            error = json.loads(ended.error)
            raise (find_error_class(error["type"]) or SufficeError)(error["message"])
        return report


def _open_store(path: Path) -> RunStore:
    return RunStore(open_engine(sqlite_url(path)))


def _run_path(run_id: str, data_dir: Path) -> Path:
    if not is_run_id(run_id):
        raise InputError(f"{run_id!r} is not the name of a run; list unfinished runs with: suffice resume")
    return data_dir / UNFINISHED_DIR / f"{run_id}.sqlite"
