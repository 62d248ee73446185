"""Who is at work: a heartbeat a worker, and a sweep that hands a dead worker's runs to the living.

A worker is dead when its heart has not beaten for ``DEAD_AFTER`` seconds of the observer's own clock (so clocks of machines
need not agree), or at once when it was a process of this machine that is gone.
"""

import os
import secrets
import socket
import time
from collections.abc import Callable

import sqlalchemy as sa

from suffice.jobs.database import workers

HEARTBEAT_SECONDS = 2.0  # Seconds between heartbeats.
DEAD_AFTER = 15.0  # Seconds without one.


class Heartbeats:
    def __init__(self, engine: sa.Engine, *, dead_after: float = DEAD_AFTER) -> None:
        self._engine = engine
        self._dead_after = dead_after
        self._host = socket.gethostname()
        self._pid = os.getpid()
        self.id = f"{self._host[:40]}-{self._pid}-{secrets.token_hex(3)}"
        self._last_seen: dict[str, tuple[float, float]] = {}  # Worker → its last beat, and when that was first seen.

    def register(self) -> None:
        me = {"id": self.id, "host": self._host, "pid": self._pid, "beat": time.time()}
        with self._engine.begin() as connection:
            connection.execute(sa.insert(workers).values(me))

    def beat(self) -> None:
        with self._engine.begin() as connection:
            connection.execute(sa.update(workers).where(workers.c.id == self.id).values(beat=time.time()))

    def deregister(self) -> None:
        """Say that this worker is gone: its runs may be taken at once."""
        with self._engine.begin() as connection:
            connection.execute(sa.update(workers).where(workers.c.id == self.id).values(pid=0))

    def count_alive(self) -> int:
        with self._engine.connect() as connection:
            rows = list(connection.execute(sa.select(workers)))
        return sum(not self._is_dead(*row) for row in rows)

    def reap_dead(self, on_dead: Callable[[str], None]) -> None:
        """Call ``adopt`` for every dead worker, once among all who sweep; it leaves the roster when that is done."""
        with self._engine.connect() as connection:
            rows = list(connection.execute(sa.select(workers).where(workers.c.id != self.id)))
        for worker, host, pid, beat in rows:
            if self._is_dead(worker, host, pid, beat) and self._claim(worker, beat):
                on_dead(worker)
                with self._engine.begin() as connection:
                    connection.execute(sa.delete(workers).where(workers.c.id == worker))
                self._last_seen.pop(worker, None)

    def _claim(self, worker: str, beat: float) -> bool:
        """One sweeper wins; if it dies before it is done, the dead worker's heart stands still again for the next."""
        with self._engine.begin() as connection:
            claimed = connection.execute(
                sa.update(workers)
                .where(workers.c.id == worker, workers.c.beat == beat)
                .values(beat=time.time(), host="(being swept)")
            )
        return bool(claimed.rowcount)

    def _is_dead(self, worker: str, host: str, pid: int, beat: float) -> bool:
        if worker == self.id:
            return False
        if pid == 0 and host != "(being swept)":
            return True
        if host == self._host and (pid == self._pid or not _is_process_running(pid)):
            return True
        known, since = self._last_seen.get(worker, (None, 0.0))
        if known != beat:
            self._last_seen[worker] = (beat, time.monotonic())
            return False
        return time.monotonic() - since > self._dead_after


def _is_process_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
