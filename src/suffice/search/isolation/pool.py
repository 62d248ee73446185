"""A pool of child processes that run jobs within limits.

A worker runs one job at a time and is taken for one job only, first come first served, so that a long indexing does not keep
pages waiting. A worker that crashed or reached a limit is killed; the next job starts another one. A job that ran out of memory
in a used worker is tried again in a fresh one, because earlier jobs may have left their memory behind.

The pool may be used from several threads, from asyncio (``run_async``), and after a fork, which gets workers of its own.
"""

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib import import_module
from multiprocessing.connection import wait
from pathlib import Path
from typing import TypeVar

import msgspec

import suffice
from suffice.errors import SearchError, SufficeError
from suffice.search.isolation.jobs import HEADER_BYTES, IsolatedJob, JobFailed, Outcome, frame
from suffice.search.threads import WorkCancelled, run_in_thread
from suffice.settings import get_child_environment

MAX_WORKERS = 4
_WORKER_MODULE = "suffice.search.isolation.worker"
_PIPE_BYTES = 1024 * 1024  # Most results fit, so that a child goes on while the parent is busy (Linux only).
_FRAME_OVERHEAD = 1024
_GRACE_SECONDS = 5.0  # After the child should have ended itself.
_POLL_SECONDS = 0.1
_MAX_TRIES = 3
_RUN_AHEAD = 4  # Jobs of a sequence, for each worker, that are started before the caller has taken earlier results.
_JOBS_PER_WORKER = 8  # A worker more is started for so many jobs: starting one takes as long as parsing a few files.

T = TypeVar("T")


class _Worker:
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
        self.is_used = False

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def run(self, job: IsolatedJob, check_cancelled: Callable[[], None]) -> bytes | int:
        """Return the answer to a job, or how the child ended: its exit status, minus SIGALRM if it took too long."""
        deadline = time.monotonic() + job.limits.seconds + _GRACE_SECONDS
        view = memoryview(frame(msgspec.msgpack.encode(job)))
        with suppress(BrokenPipeError):  # The child is gone; its status says how.
            while view:
                view = view[self._stdin.write(view) or 0 :]
        received, size = bytearray(), HEADER_BYTES
        while len(received) < size:
            check_cancelled()
            if time.monotonic() > deadline:
                return -signal.SIGALRM
            if not wait([self._stdout.fileno()], _POLL_SECONDS):
                continue
            part = os.read(self._stdout.fileno(), _PIPE_BYTES)
            if not part:
                return self._process.wait()
            received += part
            if size == HEADER_BYTES <= len(received):
                size += int.from_bytes(received[:HEADER_BYTES], "big")
                if size > job.limits.output_bytes + _FRAME_OVERHEAD:
                    return msgspec.msgpack.encode(Outcome("output"))
        return bytes(received[HEADER_BYTES:])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._stdin.close()
        self._stdout.close()


class WorkerPool:
    """Runs jobs in at most ``size`` child processes, which are started when they are needed."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._idle: list[_Worker] = []
        self._busy = 0
        self._queue: deque[object] = deque()  # Who waits for a worker, first come first.
        self._condition = threading.Condition()

    def run(self, job: IsolatedJob, result_type: type[T], check_cancelled: Callable[[], None] = lambda: None) -> T:
        """Run one job and return its result. Raises ``JobFailed``, or the ``SufficeError`` that the job raised.

        ``check_cancelled`` is called now and then and may raise to stop; the job is then killed.
        """
        for attempt in range(_MAX_TRIES):
            check_cancelled()
            worker = self._take_worker(check_cancelled)
            was_used, worker.is_used = worker.is_used, True
            can_retry, is_reusable = was_used and attempt + 1 < _MAX_TRIES, False
            try:
                answer = worker.run(job, check_cancelled)
                if isinstance(answer, bytes):
                    outcome = msgspec.msgpack.decode(answer, type=Outcome)
                    is_reusable = outcome.kind not in ("memory", "output")
                    if outcome.kind != "memory" or not can_retry:
                        return _read_outcome(outcome, job, result_type)
                # Status 0: the worker ended because it was idle, before it saw the job.
                elif not can_retry or answer in (-signal.SIGALRM, -signal.SIGXCPU):
                    raise _make_exit_error(answer, job, was_used)
            except msgspec.DecodeError as error:
                raise JobFailed("bug", f"cannot be parsed ({error})") from error
            finally:
                self._give_back(worker, is_reusable)
        raise AssertionError("the last try returns or raises")

    async def run_async(self, job: IsolatedJob, result_type: type[T]) -> T:
        """Run one job without blocking the event loop. If the caller is cancelled, the job is killed."""
        return await run_in_thread(lambda check_cancelled: self.run(job, result_type, check_cancelled))

    def run_all(
        self,
        jobs: Iterable[IsolatedJob],
        result_type: type[T],
        check_cancelled: Callable[[], None] = lambda: None,
        *,
        max_workers: int | None = None,
        start: Callable[[IsolatedJob], IsolatedJob] = lambda job: job,
    ) -> Iterator[T | JobFailed | SufficeError]:
        """Yield results and failures in order, ahead of the caller; ``start`` may limit a job whose turn has come."""
        limit = min(max_workers or self.size, self.size)
        stopped = threading.Event()

        def check() -> None:
            if stopped.is_set():
                raise WorkCancelled
            check_cancelled()

        def run(job: IsolatedJob) -> T | JobFailed | SufficeError:
            try:
                return self.run(start(job), result_type, check)
            except (JobFailed, SufficeError) as error:
                return error

        with ThreadPoolExecutor(limit) as threads:
            try:
                window: deque[Future[T | JobFailed | SufficeError]] = deque()
                for job in jobs:
                    window.append(threads.submit(run, job))
                    if len(window) >= limit * _RUN_AHEAD:
                        yield window.popleft().result()
                while window:
                    yield window.popleft().result()
            finally:
                stopped.set()
                threads.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Kill all idle workers. The pool can still be used."""
        with self._condition:
            workers, self._idle = self._idle, []
        for worker in workers:
            worker.kill()

    def _take_worker(self, check_cancelled: Callable[[], None]) -> _Worker:
        place = object()
        with self._condition:
            self._queue.append(place)
            try:
                while self._queue[0] is not place or self._busy >= self.size:
                    self._condition.wait(_POLL_SECONDS)
                    check_cancelled()
            finally:
                self._queue.remove(place)
                self._condition.notify_all()
            while self._idle:
                worker = self._idle.pop()
                if worker.is_alive():
                    break
                worker.kill()
            else:
                worker = _Worker()
            self._busy += 1
            return worker

    def _give_back(self, worker: _Worker, is_reusable: bool) -> None:
        if not is_reusable:
            worker.kill()
        with self._condition:
            self._busy -= 1
            if is_reusable:
                self._idle.append(worker)
            self._condition.notify_all()


def choose_worker_count(jobs: int) -> int:
    """Return how many workers are worth starting for so many jobs."""
    return min(get_pool().size, 1 + jobs // _JOBS_PER_WORKER)


@cache
def get_pool() -> WorkerPool:
    pool = WorkerPool(min(MAX_WORKERS, max(2, os.cpu_count() or 1)))
    atexit.register(pool.close)
    return pool


def _reset_after_fork() -> None:
    if get_pool.cache_info().currsize:
        get_pool()._idle.clear()  # They belong to the parent, which goes on to use them.
    get_pool.cache_clear()


os.register_at_fork(after_in_child=_reset_after_fork)


def _make_exit_error(status: int, job: IsolatedJob, was_used: bool) -> Exception:
    if status > 0 and not was_used:  # A child that has begun to work ends with a signal or with status 0.
        return SearchError(
            f"The process that parses files cannot be started: {sys.executable} -m {_WORKER_MODULE} ends with"
            f" status {status}; check the installation."
        )
    if status in (-signal.SIGALRM, -signal.SIGXCPU):
        return JobFailed.from_limit("time", job.limits)
    name = signal.Signals(-status).name if -status in set(signal.Signals) else f"exit status {status}"
    return JobFailed("crash", f"crashes its parser ({name}), perhaps for lack of memory")


def _read_outcome(outcome: Outcome, job: IsolatedJob, result_type: type[T]) -> T:
    """Return the result, or raise the error of the job. Only errors of suffice are made again."""
    if outcome.kind == "done":
        return msgspec.msgpack.decode(outcome.result, type=result_type)
    if outcome.kind in ("memory", "output"):
        raise JobFailed.from_limit(outcome.kind, job.limits)
    module, _, name = outcome.error.partition(":")
    if module.startswith("suffice."):
        kind = getattr(import_module(module), name, None)
        if isinstance(kind, type) and issubclass(kind, SufficeError):
            raise kind(outcome.message)
    raise JobFailed("bug", f"cannot be parsed ({outcome.message})")


def _make_python_path() -> str:
    """Return where the child finds suffice and its libraries: as here, but never in the working directory."""
    home, here = str(Path(suffice.__file__).parents[1]), os.getcwd()
    return os.pathsep.join(dict.fromkeys([home, *(p for p in sys.path if os.path.isabs(p) and p != here)]))
