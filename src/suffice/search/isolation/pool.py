"""A pool of child processes that run jobs within limits.

A worker runs one job at a time and is taken for one job only, so that a long indexing does not keep pages waiting. A worker
that crashed or reached a limit is killed; the next job starts another one. A job that ran out of memory in a used worker is
tried again in a fresh one, because earlier jobs may have left their memory behind.

The pool may be used from several threads, from asyncio (``run_async``), and after a fork, which gets workers of its own.
"""

import asyncio
import atexit
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

import suffice
from suffice.errors import SearchError, SufficeError
from suffice.search.isolation.jobs import HEADER_BYTES, IsolatedJob, JobFailed, Outcome, frame
from suffice.settings import get_child_environment

MAX_WORKERS = 4
_WORKER_MODULE = "suffice.search.isolation.worker"
_PIPE_BYTES = 1024 * 1024  # Most results fit, so that a child goes on while the parent is busy (Linux only).
_FRAME_OVERHEAD = 1024
_GRACE_SECONDS = 5.0  # After the child should have ended itself.
_POLL_SECONDS = 0.1
_RUN_AHEAD = (
    4  # Jobs of a sequence that are started before the caller has taken the results of earlier ones, per worker.
)
_JOBS_PER_WORKER = 8  # A worker more is started for so many jobs: starting one takes as long as parsing a few files.

T = TypeVar("T")


def _never_cancelled() -> None:
    pass


class _Cancelled(Exception):
    """The caller was cancelled. It stops the work in the thread and never leaves this module."""


class _Worker:
    """A child process and the part of its answer that has arrived."""

    def __init__(self) -> None:
        if not sys.executable:
            raise SearchError("Files cannot be parsed, because this Python does not know its own program to start.")
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", _WORKER_MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env=get_child_environment(PYTHONPATH=_make_python_path()),
                start_new_session=True,  # Ctrl-C goes to the parent only.
                pipesize=_PIPE_BYTES,
            )
        except OSError as error:
            raise SearchError(f"The process that parses files cannot be started ({error}).", retryable=True) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._received = bytearray()
        self.deadline = 0.0
        self.jobs_started = 0

    def fileno(self) -> int:
        return self._stdout.fileno()

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def start(self, job: IsolatedJob) -> None:
        self.jobs_started += 1
        self.deadline = time.monotonic() + job.limits.seconds + _GRACE_SECONDS
        self._received.clear()
        view = memoryview(frame(msgspec.msgpack.encode(job)))
        with suppress(BrokenPipeError):  # The child is gone; ``receive`` says how.
            while view:
                view = view[self._stdin.write(view) or 0 :]

    def receive(self, max_bytes: int) -> bytes | int | None:
        """Return the answer if it is complete, the exit status if the child is gone, and ``None`` if more will come."""
        part = os.read(self.fileno(), _PIPE_BYTES)
        if not part:
            return self._process.wait()
        self._received += part
        if len(self._received) < HEADER_BYTES:
            return None
        size = int.from_bytes(self._received[:HEADER_BYTES], "big")
        if size > max_bytes + _FRAME_OVERHEAD:
            return msgspec.msgpack.encode(Outcome("output"))
        if len(self._received) < HEADER_BYTES + size:
            return None
        return bytes(memoryview(self._received)[HEADER_BYTES:])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._stdin.close()
        self._stdout.close()

    def forget(self) -> None:
        """Close this end of the pipes in a forked process; the child belongs to the parent."""
        self._process.returncode = 0
        self._stdin.close()
        self._stdout.close()


@dataclass(slots=True)
class _Task(Generic[T]):
    job: IsolatedJob
    result: T | JobFailed | SufficeError | None = None
    is_done: bool = False
    retries: int = 0


class WorkerPool:
    """Runs jobs in at most ``size`` child processes, which are started when they are needed."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._waiting = 0
        self._condition = threading.Condition()

    def run(self, job: IsolatedJob, result_type: type[T], check_cancelled: Callable[[], None] = _never_cancelled) -> T:
        """Run one job and return its result. Raises ``JobFailed``, or the ``SufficeError`` that the job raised."""
        (result,) = self.run_all([job], result_type, check_cancelled, max_workers=1)
        if isinstance(result, JobFailed | SufficeError):
            raise result
        return result

    async def run_async(self, job: IsolatedJob, result_type: type[T]) -> T:
        """Run one job without blocking the event loop. If the caller is cancelled, the job is killed."""
        cancelled = threading.Event()

        def check_cancelled() -> None:
            if cancelled.is_set():
                raise _Cancelled

        try:
            return await asyncio.to_thread(self.run, job, result_type, check_cancelled)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def run_all(
        self,
        jobs: Iterable[IsolatedJob],
        result_type: type[T],
        check_cancelled: Callable[[], None] = _never_cancelled,
        *,
        max_workers: int | None = None,
    ) -> Iterator[T | JobFailed | SufficeError]:
        """Yield the results of jobs in order; failures are results too.

        Jobs run ahead of the caller. ``check_cancelled`` is called now and then and may raise to stop.
        """
        limit = min(max_workers or self.size, self.size)
        source = iter(jobs)
        window: deque[_Task[T]] = deque()  # In the order of the results.
        waiting: deque[_Task[T]] = deque()
        running: dict[_Worker, _Task[T]] = {}
        with selectors.DefaultSelector() as selector:
            try:
                while True:
                    while len(window) < limit * _RUN_AHEAD and (job := next(source, None)) is not None:
                        window.append(_Task(job))
                        waiting.append(window[-1])
                    while waiting and len(running) < limit:
                        worker = self._take_worker(check_cancelled, wait=not running)
                        if worker is None:
                            break
                        task = waiting.popleft()
                        running[worker] = task
                        selector.register(worker, selectors.EVENT_READ)
                        worker.start(task.job)
                    if not window:
                        return
                    # Take what has arrived even if a result can be yielded, so that the workers get the next jobs.
                    for key, _ in selector.select(0 if window[0].is_done else _POLL_SECONDS):
                        worker = key.fileobj  # type: ignore[assignment]
                        assert isinstance(worker, _Worker)
                        task = running[worker]
                        answer = worker.receive(task.job.limits.output_bytes)
                        if answer is not None:
                            selector.unregister(worker)
                            del running[worker]
                            if not self._finish(worker, task, answer, result_type):
                                waiting.appendleft(task)
                    for worker in [w for w in running if time.monotonic() > w.deadline]:
                        selector.unregister(worker)
                        task = running.pop(worker)
                        self._discard(worker)
                        task.result, task.is_done = JobFailed.from_limit("time", task.job.limits), True
                    check_cancelled()
                    if window[0].is_done:
                        result = window.popleft().result
                        yield result  # type: ignore[misc]
            finally:
                for worker in running:
                    self._discard(worker)

    def close(self) -> None:
        """Kill all workers. The pool can still be used."""
        with self._condition:
            workers, self._idle = self._idle, []
        for worker in workers:
            worker.kill()

    def _finish(self, worker: _Worker, task: _Task[T], answer: bytes | int, result_type: type[T]) -> bool:
        """Record the result of a task; return false if it must be tried again."""
        was_used = worker.jobs_started > 1
        if isinstance(answer, int):
            self._discard(worker)
            if answer > 0 and not was_used:  # A child that has begun to work ends with a signal or with status 0.
                raise SearchError(
                    f"The process that parses files cannot be started: {sys.executable} -m {_WORKER_MODULE} ends with"
                    f" status {answer}; check the installation."
                )
            # Status 0: the worker ended because it was idle, before it saw the job.
            if (answer == 0 or was_used) and task.retries < 2 and not _is_timeout(answer):
                task.retries += 1
                return False
            task.result, task.is_done = JobFailed.from_exit_status(answer, task.job.limits), True
            return True
        try:
            outcome = msgspec.msgpack.decode(answer, type=Outcome)
            if outcome.kind == "memory" and was_used and task.retries < 2:
                self._discard(worker)
                task.retries += 1
                return False
            task.result = _read_outcome(outcome, task.job, result_type)
        except msgspec.DecodeError as error:
            outcome = Outcome("bug")
            task.result = JobFailed("bug", f"cannot be parsed ({error})")
        task.is_done = True
        if outcome.kind in ("memory", "output"):
            self._discard(worker)
        else:
            self._release(worker)
        return True

    def _take_worker(self, check_cancelled: Callable[[], None], *, wait: bool) -> _Worker | None:
        """Return an idle or a new worker; ``None`` if there is none and the caller does not wait, or others wait longer."""
        with self._condition:
            if not wait and self._waiting:
                return None
            self._waiting += 1
            try:
                while len(self._busy) >= self.size:
                    if not wait:
                        return None
                    self._condition.wait(_POLL_SECONDS)
                    check_cancelled()
            finally:
                self._waiting -= 1
            while self._idle:
                worker = self._idle.pop()
                if worker.is_alive():
                    self._busy.add(worker)
                    return worker
                worker.kill()
            worker = _Worker()
            self._busy.add(worker)
            return worker

    def _release(self, worker: _Worker) -> None:
        with self._condition:
            self._busy.discard(worker)
            self._idle.append(worker)
            self._condition.notify()

    def _discard(self, worker: _Worker) -> None:
        worker.kill()
        with self._condition:
            self._busy.discard(worker)
            self._condition.notify()

    def _forget(self) -> None:
        for worker in (*self._idle, *self._busy):
            worker.forget()


def choose_worker_count(jobs: int) -> int:
    """Return how many workers are worth starting for so many jobs."""
    return min(get_pool().size, 1 + jobs // _JOBS_PER_WORKER)


_pools: dict[str, WorkerPool] = {}
_pools_lock = threading.Lock()


def get_pool(name: str = "files") -> WorkerPool:
    """Return a pool of this process.

    Work that is done between two results of ``run_all`` needs a pool of its own: the workers of the first one are held.
    """
    with _pools_lock:
        if name not in _pools:
            _pools[name] = WorkerPool(min(MAX_WORKERS, max(2, os.cpu_count() or 1)))
            atexit.register(_pools[name].close)
        return _pools[name]


def _reset_after_fork() -> None:
    global _pools_lock
    _pools_lock = threading.Lock()
    for pool in _pools.values():
        pool._forget()
    _pools.clear()


os.register_at_fork(after_in_child=_reset_after_fork)


def _is_timeout(status: int) -> bool:
    return -status in (signal.SIGALRM, signal.SIGXCPU)


def _read_outcome(outcome: Outcome, job: IsolatedJob, result_type: type[T]) -> T | JobFailed | SufficeError:
    match outcome.kind:
        case "done":
            return msgspec.msgpack.decode(outcome.result, type=result_type)
        case "error":
            return _make_error(outcome)
        case "bug":
            return JobFailed("bug", f"cannot be parsed ({outcome.message})")
        case kind:
            return JobFailed.from_limit(kind, job.limits)


def _make_error(outcome: Outcome) -> SufficeError | JobFailed:
    """Return the error that the job raised. Only errors of suffice are made again."""
    module, _, name = outcome.error.partition(":")
    if module.startswith("suffice."):
        kind = getattr(import_module(module), name, None)
        if isinstance(kind, type) and issubclass(kind, SufficeError):
            return kind(outcome.message)
    return JobFailed("bug", f"cannot be parsed ({outcome.message})")


def _make_python_path() -> str:
    """Return where the child finds suffice and its libraries: as here, but never in the working directory."""
    home, here = str(Path(suffice.__file__).parents[1]), os.getcwd()
    return os.pathsep.join(dict.fromkeys([home, *(p for p in sys.path if os.path.isabs(p) and p != here)]))
