"""The child process: runs one job after another, each within its limits.

Limits that the process sets for itself end it with a signal, also in C code that never returns to Python: SIGXCPU for CPU time
and SIGALRM for time. A thread reads the jobs, so that the process ends as soon as its parent is gone, even while it works.
"""

import gc
import os
import queue
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, BinaryIO

import msgspec

from suffice.errors import SufficeError
from suffice.search.isolation.jobs import HEADER_BYTES, IsolatedJob, Limits, Outcome, frame
from suffice.text.plain import replace_surrogates

IDLE_SECONDS = 60.0  # A child without work ends after this time; the next job starts another one.
# A child that has grown ends itself, so that the next job has its whole limit for itself; usual ones have 110 to 150 MB.
MAX_IDLE_BYTES = 400 << 20
_MAX_MESSAGE_CHARS = 300


def main() -> None:
    """Run jobs until the parent closes the pipe or sends nothing for a while."""
    results = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # A parser that prints must not break the protocol.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.set_threshold(50_000)  # Parsers make many objects and few cycles.
    sys.setswitchinterval(0.05)  # The other thread only waits for the parent.
    jobs: queue.SimpleQueue[IsolatedJob] = queue.SimpleQueue()
    threading.Thread(target=_receive_jobs, args=(sys.stdin.buffer, jobs), daemon=True).start()
    while True:
        try:
            job = jobs.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            os._exit(0)
        body = _run(job)
        try:
            results.write(frame(body))
            results.flush()
        except OSError:
            os._exit(0)  # The parent is gone.
        del job, body
        if _get_memory_bytes() > MAX_IDLE_BYTES:
            os._exit(0)


def _receive_jobs(pipe: BinaryIO, jobs: "queue.SimpleQueue[IsolatedJob]") -> None:
    decoder = msgspec.msgpack.Decoder(IsolatedJob)
    while len(header := pipe.read(HEADER_BYTES)) == HEADER_BYTES:
        jobs.put(decoder.decode(pipe.read(int.from_bytes(header, "big"))))
    os._exit(0)


def _run(job: IsolatedJob) -> bytes:
    encode = msgspec.msgpack.Encoder().encode
    try:
        with _limited(job.limits):
            result = encode(_call(job))
    except MemoryError:
        gc.collect()
        return encode(Outcome("memory"))
    except SufficeError as error:
        name = f"{type(error).__module__}:{type(error).__qualname__}"
        return encode(Outcome("error", error=name, message=replace_surrogates(str(error))))
    except Exception as error:
        message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return encode(Outcome("bug", message=replace_surrogates(message)[:_MAX_MESSAGE_CHARS]))
    if len(result) > job.limits.output_bytes:
        return encode(Outcome("output"))
    return encode(Outcome("done", msgspec.Raw(result)))


def _call(job: IsolatedJob) -> Any:
    if job.folder:
        os.chdir(job.folder)
    module, _, name = job.function.partition(":")
    return getattr(import_module(module), name)(*job.args)


def _get_memory_bytes() -> int:
    """Return the address space on Linux; elsewhere the most memory that was ever used."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # In bytes on macOS.


@contextmanager
def _limited(limits: Limits) -> Iterator[None]:
    """Set the limits for one job. Only the soft limits change, so that they can be raised again for the next one."""
    _, max_memory = resource.getrlimit(resource.RLIMIT_AS)
    _, max_cpu = resource.getrlimit(resource.RLIMIT_CPU)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime) + 1 + limits.cpu_seconds
    _set_soft_limit(resource.RLIMIT_AS, limits.memory_bytes, max_memory)
    _set_soft_limit(resource.RLIMIT_CPU, cpu, max_cpu)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _set_soft_limit(resource.RLIMIT_CPU, max_cpu, max_cpu)
        _set_soft_limit(resource.RLIMIT_AS, max_memory, max_memory)


def _set_soft_limit(which: int, value: int, hard: int) -> None:
    if hard != resource.RLIM_INFINITY and value != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(which, (value, hard))
    except (ValueError, OSError):
        if sys.platform == "linux":
            raise  # macOS refuses some limits on memory; the other limits still hold there.


if __name__ == "__main__":
    main()
