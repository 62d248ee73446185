"""What is kept of runs: who ordered what, how far it is, its events and its report. One small transaction a question.

Plain synchronous functions over a database; whoever has an event loop calls them in a thread.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from suffice.jobs.database import events, runs

RunStatus = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED_STATUSES = ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it is kept. ``report`` and ``error`` are JSON."""

    id: str
    owner: str
    status: RunStatus
    request: str
    priority: int
    created: float
    started: float | None
    finished: float | None
    attempts: int
    cancel_requested: bool
    idempotency_key: str | None
    report: str | None
    error: str | None

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED_STATUSES


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One event of a run: its place in the run's stream, its type, and the event as JSON."""

    seq: int
    type: str
    data: str


class RunStore:
    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    # -- runs ----------------------------------------------------------------------------------------------------------

    def add(self, run: str, owner: str, request: str, priority: int, idempotency_key: str | None) -> StoredRun:
        """Keep a new run; with a key that its owner used before, the run that was ordered with it then."""
        values = {
            "id": run,
            "owner": owner,
            "status": "queued",
            "order": request,
            "priority": priority,
            "created": time.time(),
            "attempts": 0,
            "cancel": False,
            "idempotency": idempotency_key,
        }
        try:
            with self.engine.begin() as connection:
                connection.execute(sa.insert(runs).values(values))
        except sa.exc.IntegrityError:
            earlier = None if idempotency_key is None else self.find_by_idempotency_key(owner, idempotency_key)
            if earlier is None:
                raise
            return earlier
        return self.get(run)

    def find_by_idempotency_key(self, owner: str, idempotency: str) -> StoredRun | None:
        """The run that its owner ordered with this key."""
        chosen = sa.select(runs).where(runs.c.owner == owner, runs.c.idempotency_key == idempotency)
        with self.engine.connect() as connection:
            found = connection.execute(chosen).one_or_none()
        return None if found is None else StoredRun(*found)

    def get(self, run: str) -> StoredRun:
        """A run that is there; ``KeyError`` when it is not."""
        with self.engine.connect() as connection:
            found = connection.execute(sa.select(runs).where(runs.c.id == run)).one_or_none()
        if found is None:
            raise KeyError(run)
        return StoredRun(*found)

    def list_runs(
        self, owner: str | None, *, limit: int, after: tuple[float, str] | None = None, status: str | None = None
    ) -> list[StoredRun]:
        """An owner's runs (everybody's for ``None``), newest first, from behind a given one."""
        chosen = sa.select(runs).order_by(runs.c.created.desc(), runs.c.id.desc()).limit(limit)
        if owner is not None:
            chosen = chosen.where(runs.c.owner == owner)
        if status is not None:
            chosen = chosen.where(runs.c.status == status)
        if after is not None:
            created, run = after
            older = runs.c.created < created
            chosen = chosen.where(sa.or_(older, sa.and_(runs.c.created == created, runs.c.id < run)))
        with self.engine.connect() as connection:
            return [StoredRun(*row) for row in connection.execute(chosen)]

    def count_by_status(self, owner: str | None = None) -> dict[str, int]:
        """How many runs there are of each status."""
        counted = sa.select(runs.c.status, sa.func.count()).group_by(runs.c.status)
        if owner is not None:
            counted = counted.where(runs.c.owner == owner)
        with self.engine.connect() as connection:
            return {str(row[0]): int(row[1]) for row in connection.execute(counted)}

    def count_since(self, owner: str, moment: float) -> int:
        counted = sa.select(sa.func.count()).where(runs.c.owner == owner, runs.c.created > moment)
        with self.engine.connect() as connection:
            return connection.execute(counted).scalar_one()

    def list_stale_queued(self, before: float) -> list[StoredRun]:
        """Runs that were kept but perhaps never queued, because whoever took the order died in between."""
        chosen = sa.select(runs).where(runs.c.status == "queued", runs.c.created < before).limit(100)
        with self.engine.connect() as connection:
            return [StoredRun(*row) for row in connection.execute(chosen)]

    def mark_started(self, run: str) -> StoredRun | None:
        """Take a run up, for the first time or again; ``None`` when it has ended."""
        with self.engine.begin() as connection:
            taken = connection.execute(
                sa.update(runs)
                .where(runs.c.id == run, runs.c.status.in_(("queued", "running")))
                .values(
                    status="running",
                    attempts=runs.c.attempts + 1,
                    started=sa.func.coalesce(runs.c.started, time.time()),
                )
            )
        return self.get(run) if taken.rowcount else None

    def uncount_attempt(self, run: str) -> None:
        """Do not count an attempt that its worker gave up of its own accord."""
        with self.engine.begin() as connection:
            connection.execute(sa.update(runs).where(runs.c.id == run).values(attempts=runs.c.attempts - 1))

    def mark_ended(self, run: str, status: RunStatus, *, report: str | None = None, error: str | None = None) -> bool:
        """The end of a run; the first one to say it is believed."""
        return self._set_ended(run, ("queued", "running"), status=status, report=report, error=error)

    def request_cancel(self, run: str) -> bool:
        """Ask for the end of a run. One that nobody has begun ends at once, and true is returned."""
        with self.engine.begin() as connection:
            connection.execute(sa.update(runs).where(runs.c.id == run).values(cancel=True))
        return self._set_ended(run, ("queued",), status="cancelled")

    def find_cancelled(self, ids: Sequence[str]) -> set[str]:
        """Which of these runs somebody wants to end."""
        if not ids:
            return set()
        with self.engine.connect() as connection:
            return set(connection.scalars(sa.select(runs.c.id).where(runs.c.id.in_(ids), runs.c.cancel)))

    def _set_ended(self, run: str, was: tuple[str, ...], **values: Any) -> bool:
        with self.engine.begin() as connection:
            ended = connection.execute(
                sa.update(runs).where(runs.c.id == run, runs.c.status.in_(was)).values(finished=time.time(), **values)
            )
        return bool(ended.rowcount)

    # -- events --------------------------------------------------------------------------------------------------------

    def last_event(self, run: str) -> StoredEvent | None:
        """The last event kept."""
        chosen = (
            sa.select(events.c.seq, events.c.type, events.c.data)
            .where(events.c.run == run)
            .order_by(events.c.seq.desc())
            .limit(1)
        )
        with self.engine.connect() as connection:
            found = connection.execute(chosen).one_or_none()
        return None if found is None else StoredEvent(*found)

    def latest_positions(self, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """How far these runs are: status and number of the last event."""
        last = sa.select(sa.func.max(events.c.seq)).where(events.c.run == runs.c.id).scalar_subquery()
        with self.engine.connect() as connection:
            rows = connection.execute(sa.select(runs.c.id, runs.c.status, last).where(runs.c.id.in_(ids)))
            return {run: (status, seq or 0) for run, status, seq in rows}

    def append_events(self, run: str, lines: Sequence[StoredEvent]) -> None:
        """Keep events. One that is there already stays as it was: a run gone through again says the same again."""
        rows = [{"run": run, "seq": line.seq, "type": line.type, "data": line.data} for line in lines]
        insert: Any
        if self.engine.dialect.name == "sqlite":
            from sqlalchemy.dialects.sqlite import insert
        else:
            from sqlalchemy.dialects.postgresql import insert
        with self.engine.begin() as connection:
            connection.execute(insert(events).on_conflict_do_nothing(), rows)

    def read_events(self, run: str, after: int, limit: int = 100) -> list[StoredEvent]:
        """The events behind a number, in order."""
        chosen = (
            sa.select(events.c.seq, events.c.type, events.c.data)
            .where(events.c.run == run, events.c.seq > after)
            .order_by(events.c.seq)
            .limit(limit)
        )
        with self.engine.connect() as connection:
            return [StoredEvent(*row) for row in connection.execute(chosen)]

    def read_events_of_type(self, run: str, type: str) -> list[StoredEvent]:
        """A run's events of one type, in order."""
        chosen = (
            sa.select(events.c.seq, events.c.type, events.c.data)
            .where(events.c.run == run, events.c.type == type)
            .order_by(events.c.seq)
        )
        with self.engine.connect() as connection:
            return [StoredEvent(*row) for row in connection.execute(chosen)]
