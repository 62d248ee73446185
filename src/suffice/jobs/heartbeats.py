"""Heartbeats of workers. If a worker's heartbeats stop, another worker resumes its runs.

A worker counts as dead when its heartbeat has not changed for ``DEAD_AFTER`` seconds of the observer's own clock, so the
clocks of several machines do not have to agree. A worker whose process on this machine has ended counts as dead at once.
"""

import json
import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from suffice.jobs.database import listeners, workers
from suffice.jobs.served import Tags

HEARTBEAT_SECONDS = 2.0  # Seconds between heartbeats.
DEAD_AFTER = 15.0  # Seconds without a heartbeat.
_CLAIMED = "(claimed)"  # Stored as the host of a dead worker while another worker takes over its runs.


@dataclass(frozen=True, slots=True)
class Listener:
    """What a worker takes its runs from: a queue, and the tags of the collections it serves."""

    queue: str
    tags: Tags


class Heartbeats:
    """The heartbeat of this process and its view of the other workers."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._host = socket.gethostname()
        self._pid = os.getpid()
        self.id = f"{self._host[:40]}-{self._pid}-{secrets.token_hex(3)}"
        self._last_seen: dict[str, tuple[float, float]] = {}  # Worker → its last heartbeat, and when we first saw that.

    def register(self, listener: Listener | None = None) -> None:
        """Add this process to the workers, with what it listens to if it takes runs; it may be there already."""
        row = {"id": self.id, "host": self._host, "pid": self._pid, "beat": time.time()}
        with self._engine.begin() as connection:
            _remove(connection, self.id)
            connection.execute(sa.insert(workers).values(row))
            if listener is not None:
                values = {"worker": self.id, "queue": listener.queue, "tags": json.dumps(listener.tags)}
                connection.execute(sa.insert(listeners).values(values))

    def beat(self) -> bool:
        """Record that this process is alive; return false if the others took it for dead and removed it."""
        return self._update(workers.c.id == self.id, beat=time.time())

    def deregister(self) -> None:
        """Record that this process has ended, so that another worker resumes its runs at once."""
        self._update(workers.c.id == self.id, pid=0)

    def count_alive(self) -> int:
        return sum(not self._is_dead(*row) for row in self._read(sa.select(workers)))

    def list_listeners(self) -> list[Listener]:
        """Return what the workers that are alive listen to."""
        query = sa.select(workers, listeners.c.queue, listeners.c.tags).join(
            listeners, listeners.c.worker == workers.c.id
        )
        rows = self._read(query)
        return [Listener(queue, json.loads(tags)) for *worker, queue, tags in rows if not self._is_dead(*worker)]

    def is_alive_here(self) -> bool:
        """Whether a worker on this machine has sent a heartbeat lately; for health checks, which run beside the worker."""
        rows = self._read(sa.select(workers).where(workers.c.host == self._host))
        return any(
            pid != 0 and _is_process_running(pid) and time.time() - beat < DEAD_AFTER for _, _, pid, beat in rows
        )

    def take_over_dead_workers(self, on_dead: Callable[[str], None]) -> None:
        """Call ``on_dead`` with the id of each dead worker, then remove it. Only one process does so for each worker."""
        for worker, host, pid, beat in self._read(sa.select(workers).where(workers.c.id != self.id)):
            if self._is_dead(worker, host, pid, beat) and self._claim(worker, beat):
                on_dead(worker)
                with self._engine.begin() as connection:
                    _remove(connection, worker)
                self._last_seen.pop(worker, None)

    def _claim(self, worker: str, beat: float) -> bool:
        """Claim a dead worker. If the claimant dies too, the heartbeat stands still again and the next process claims it."""
        return self._update(workers.c.id == worker, workers.c.beat == beat, beat=time.time(), host=_CLAIMED)

    def _read(self, query: sa.Select[Any]) -> Sequence[Any]:
        with self._engine.connect() as connection:
            return connection.execute(query).all()

    def _update(self, *conditions: sa.ColumnElement[bool], **values: Any) -> bool:
        with self._engine.begin() as connection:
            return bool(connection.execute(sa.update(workers).where(*conditions).values(**values)).rowcount)

    def _is_dead(self, worker: str, host: str, pid: int, beat: float) -> bool:
        if worker == self.id:
            return False
        if pid == 0 and host != _CLAIMED:
            return True
        if host == self._host and (pid == self._pid or not _is_process_running(pid)):
            return True
        known, since = self._last_seen.get(worker, (None, 0.0))
        if known != beat:
            self._last_seen[worker] = (beat, time.monotonic())
            return False
        return time.monotonic() - since > DEAD_AFTER


def _remove(connection: sa.Connection, worker: str) -> None:
    connection.execute(sa.delete(listeners).where(listeners.c.worker == worker))
    connection.execute(sa.delete(workers).where(workers.c.id == worker))


def _is_process_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
