"""Jobs in child processes: limits, crashes, cancellation, and no process left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from suffice.errors import PageError, SearchError
from suffice.search.isolation.jobs import IsolatedJob, JobFailed, Limits
from suffice.search.isolation.pool import WorkerPool

LIMITS = Limits(memory_bytes=1 << 30, cpu_seconds=30, seconds=120, output_bytes=1 << 20)


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    workers = WorkerPool(2)
    yield workers
    workers.close()


def job(name: str, *args: Any, **limits: Any) -> IsolatedJob:
    return IsolatedJob(f"isolated_jobs:{name}", args, msgspec.structs.replace(LIMITS, **limits))


def test_result_comes_back(pool: WorkerPool) -> None:
    assert pool.run(job("add", 2, 3), int) == 5


def test_results_keep_the_order_of_the_jobs(pool: WorkerPool) -> None:
    jobs = [job("sleep", 0.3), *(job("add", n, 0) for n in range(20))]
    assert list(pool.run_all(jobs, float)) == [0.3, *range(20)]


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (job("burn", seconds=0.3), "time"),
        (job("burn_in_c", seconds=0.3), "time"),
        (job("burn", cpu_seconds=0, seconds=60), "time"),
        (job("allocate", 500, memory_bytes=400 << 20), "memory"),
        (job("repeat", "x" * 1024, 2048), "output"),
        (job("crash"), "crash"),
        (job("fail", "odd"), "bug"),
    ],
    ids=lambda value: value.function if isinstance(value, IsolatedJob) else value,
)
def test_one_bad_job_does_not_touch_the_others(pool: WorkerPool, bad: IsolatedJob, kind: str) -> None:
    first, failed, last = pool.run_all([job("add", 1, 1), bad, job("add", 2, 2)], int)
    assert (first, last) == (2, 4)
    assert isinstance(failed, JobFailed)
    assert failed.kind == kind


def test_errors_of_suffice_are_raised_again(pool: WorkerPool) -> None:
    with pytest.raises(PageError, match="no text here"):
        pool.run(job("refuse", "no text here"), int)


def test_workers_are_reused(pool: WorkerPool) -> None:
    pids = set(pool.run_all([job("get_pid") for _ in range(10)], int))
    assert len(pids) <= 2


def test_a_worker_that_ended_while_idle_is_replaced() -> None:
    workers = WorkerPool(1)
    try:
        pid = workers.run(job("get_pid"), int)
        os.kill(pid, signal.SIGKILL)
        assert workers.run(job("add", 1, 1), int) == 2
    finally:
        workers.close()


def test_a_worker_that_has_grown_is_replaced() -> None:
    workers = WorkerPool(1)
    try:
        pids = [workers.run(job("keep", 600), int) for _ in range(3)]
    finally:
        workers.close()
    assert len(set(pids)) == 3


def test_an_installation_that_cannot_start_workers_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "python").chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SearchError, match=r"cannot be started.*status 3"):
        WorkerPool(1).run(job("add", 1, 1), int)


def test_a_result_of_another_type_is_an_error(pool: WorkerPool) -> None:
    with pytest.raises(JobFailed):
        pool.run(job("repeat", "x", 1), int)


def test_nothing_that_a_job_prints_reaches_the_user(pool: WorkerPool, capfd: pytest.CaptureFixture[str]) -> None:
    assert pool.run(job("print_and_return", "noise"), str) == "noise"
    assert capfd.readouterr() == ("", "")


def test_a_job_does_not_see_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    workers = WorkerPool(1)
    try:
        names = workers.run(job("list_variables"), list[str])
    finally:
        workers.close()
    assert "PATH" in names
    assert not any("KEY" in name for name in names)


def test_threads_share_the_pool(pool: WorkerPool) -> None:
    results: list[int] = []
    threads = [threading.Thread(target=lambda n=n: results.append(pool.run(job("add", n, 0), int))) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert sorted(results) == list(range(12))


def test_single_jobs_get_a_turn_during_a_long_sequence(pool: WorkerPool) -> None:
    sequence = pool.run_all([job("sleep", 0.05) for _ in range(40)], float)
    next(sequence)
    consumer = threading.Thread(target=lambda: list(sequence))
    consumer.start()
    try:
        assert pool.run(job("add", 1, 1), int) == 2
        assert consumer.is_alive()
    finally:
        consumer.join(120)


def test_cancelling_kills_the_job() -> None:
    async def main() -> float:
        started = time.monotonic()
        task = asyncio.create_task(workers.run_async(job("sleep", 100.0), float))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return started

    workers = WorkerPool(1)
    started = asyncio.run(main())  # It waits for its threads.
    assert time.monotonic() - started < 60
    workers.close()


def test_a_forked_process_gets_workers_of_its_own(tmp_path: Path) -> None:
    code = """
import os, sys
from suffice.search.isolation.jobs import IsolatedJob, Limits
from suffice.search.isolation.pool import get_pool
job = IsolatedJob("os:getpid", (), Limits(1 << 30, 30, 120, 1 << 20))
mine = get_pool().run(job, int)
child = os.fork()
if child == 0:
    os._exit(0 if get_pool().run(job, int) != mine else 1)
assert os.waitpid(child, 0)[1] == 0
assert get_pool().run(job, int) == mine
"""
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert (completed.returncode, completed.stderr) == (0, "")


def test_modules_of_the_working_directory_are_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("open('pwned', 'w')")
    code = """
import sys; sys.path.remove("")
from suffice.search.isolation.jobs import IsolatedJob, Limits
from suffice.search.isolation.pool import get_pool
sys.path.insert(0, "")
print(get_pool().run(IsolatedJob("operator:add", (1, 2), Limits(1 << 30, 30, 120, 1 << 20)), int))
"""
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert completed.stdout == "3\n", completed.stderr
    assert not (tmp_path / "pwned").exists()


# A script without the guard that multiprocessing would need.
HANG = """
import sys, threading
sys.path.append(sys.argv[1])
from suffice.search.isolation.jobs import IsolatedJob, Limits
from suffice.search.isolation.pool import get_pool
limits = Limits(1 << 30, 300, 300.0, 1 << 20)
print(get_pool().run(IsolatedJob("isolated_jobs:get_pid", (), limits), int), flush=True)
get_pool().run(IsolatedJob("isolated_jobs:" + sys.argv[2], (), limits), int)
"""


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc/self/stat").exists()
    return status not in "ZX"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_process_outlives_its_parent(how: signal.Signals) -> None:
    tests = str(Path(__file__).parents[2])
    parent = subprocess.Popen(
        [sys.executable, "-c", HANG, tests, "burn"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    time.sleep(0.2)
    parent.send_signal(how)
    parent.wait(60)
    parent.stdout.close()
    deadline = time.monotonic() + 60
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(child)
