"""The stored runs of the service: requests, progress, events and reports.

The methods are synchronous and each runs one short transaction; code with an event loop calls them in a thread.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from importlib import import_module
from itertools import islice
from typing import Any, Literal

import msgspec
import sqlalchemy as sa

from suffice.jobs.api_keys import Quota
from suffice.jobs.database import events, run_log, runs
from suffice.settings import Retention
from suffice.storage.findings import StoredFinding

RunStatus = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED_STATUSES = ("done", "failed", "cancelled")
PAGE_SIZE = 200  # Runs that are looked at together.
MAX_FINDINGS = 200  # The latest findings of an owner, from which a run recalls the most similar ones.


AcceptRequest = Callable[[str], bool]
"""Whether the stored JSON of a request is wanted."""


class QuotaExceeded(Exception):
    """The owner's quota allows no further run now; another try may succeed after ``retry_after`` seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def is_run_id(text: str) -> bool:
    """Whether a text can be the id of a run."""
    return re.fullmatch(r"[\w-]{1,64}", text, re.ASCII) is not None


class Priority(IntEnum):
    """The place of a run in the queue; the lowest number is taken first."""

    HIGH = 1
    NORMAL = 10
    LOW = 100


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it is stored. ``request``, ``report`` and ``error`` are JSON."""

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
    """One event of a run: its number in the run's stream, its type, and the event as JSON."""

    seq: int
    type: str
    data: str


class RunStore:
    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    # -- runs ----------------------------------------------------------------------------------------------------------

    def add(
        self,
        run_id: str,
        owner: str,
        request: str,
        priority: int,
        idempotency_key: str | None,
        quota: Quota | None = None,
    ) -> StoredRun:
        """Store a new run. If its owner used the idempotency key before, return the run of that time instead.

        Raises ``QuotaExceeded``, and stores nothing, if the run is more than the quota allows.
        """
        values = {
            "id": run_id,
            "owner": owner,
            "status": "queued",
            "order": request,
            "priority": int(priority),
            "created": time.time(),
            "idempotency": idempotency_key,
        }
        try:
            with self.engine.begin() as connection:
                if quota is not None and self.engine.dialect.name == "postgresql":
                    # Requests of one owner wait for each other here. On SQLite all writers do, from the insert on.
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(owner))))
                connection.execute(sa.insert(runs).values(values))
                if quota is not None:
                    _check_quota(connection, owner, quota)
        except sa.exc.IntegrityError:
            earlier = sa.select(runs).where(runs.c.owner == owner, runs.c.idempotency == idempotency_key)
            if found := self._find_runs(earlier):
                return found[0]
            raise
        return self.get(run_id)

    def get(self, run_id: str) -> StoredRun:
        """Return a run; raise ``KeyError`` if there is no such run."""
        found = self._find_runs(sa.select(runs).where(runs.c.id == run_id))
        if not found:
            raise KeyError(run_id)
        return found[0]

    def _find_runs(self, query: sa.Select[Any]) -> list[StoredRun]:
        return [StoredRun(*row) for row in self._read(query)]

    def _read(self, query: sa.Select[Any]) -> Sequence[Any]:
        with self.engine.connect() as connection:
            return connection.execute(query).all()

    def list_runs(
        self,
        owner: str,
        *,
        limit: int,
        after: tuple[float, str] | None = None,
        status: str | None = None,
        accept: AcceptRequest,
    ) -> list[StoredRun]:
        """Return the runs of an owner whose requests are accepted, newest first.

        ``after`` is the creation time and id of the run that the list continues from.
        """
        newest, place = (runs.c.created.desc(), runs.c.id.desc()), sa.tuple_(runs.c.created, runs.c.id)
        query = sa.select(runs.c.created, runs.c.id, runs.c.order).where(runs.c.owner == owner)
        query = query.order_by(*newest).limit(PAGE_SIZE)
        if status is not None:
            query = query.where(runs.c.status == status)
        ids: list[str] = []
        while len(ids) < limit:
            rows = self._read(query if after is None else query.where(place < after))
            ids += [run_id for _, run_id, request in rows if accept(request)]
            if len(rows) < PAGE_SIZE:
                break
            after = (rows[-1][0], rows[-1][1])
        return self._find_runs(sa.select(runs).where(runs.c.id.in_(ids[:limit])).order_by(*newest))

    def count_by_status(self) -> dict[str, int]:
        query = sa.select(runs.c.status, sa.func.count()).group_by(runs.c.status)
        return dict(self._read(query))

    def list_stale_queued(self, before: float) -> list[StoredRun]:
        """Return old queued runs; some may never have reached the queue because the process died after storing them."""
        return self._find_runs(sa.select(runs).where(runs.c.status == "queued", runs.c.created < before).limit(100))

    def mark_started(self, run_id: str) -> StoredRun | None:
        """Mark a run as running and count the attempt; return ``None`` if the run has ended."""
        started = sa.func.coalesce(runs.c.started, time.time())
        counted = runs.c.attempts + 1
        is_open = self._update(run_id, ("queued", "running"), status="running", attempts=counted, started=started)
        return self.get(run_id) if is_open else None

    def uncount_attempt(self, run_id: str) -> None:
        """Take back an attempt that the worker itself suspended."""
        self._update(run_id, attempts=runs.c.attempts - 1)

    def mark_ended(
        self, run_id: str, status: RunStatus, *, report: str | None = None, error: str | None = None
    ) -> bool:
        """Store the end of a run; return false if it had ended before, which then stays as it was."""
        values = {"status": status, "report": report, "error": error, "finished": time.time()}
        return self._update(run_id, ("queued", "running"), **values)

    def request_cancel(self, run_id: str) -> bool:
        """Request the end of a run; return true if it was still queued and has therefore ended now."""
        self._update(run_id, cancel=True)
        return self._update(run_id, ("queued",), status="cancelled", finished=time.time())

    def find_cancelled(self, ids: Sequence[str]) -> set[str]:
        """Return those of the runs whose end was requested."""
        query = sa.select(runs.c.id).where(runs.c.id.in_(ids), runs.c.cancel)
        return {run_id for (run_id,) in self._read(query)} if ids else set()

    def _update(self, run_id: str, from_statuses: Sequence[str] = (), **values: Any) -> bool:
        """Change a run, if it has one of these statuses where they are given; return whether it was changed."""
        change = sa.update(runs).where(runs.c.id == run_id)
        if from_statuses:
            change = change.where(runs.c.status.in_(from_statuses))
        with self.engine.begin() as connection:
            return bool(connection.execute(change.values(**values)).rowcount)

    # -- log and memory ------------------------------------------------------------------------------------------------

    def log_run(self, run_id: str, owner: str, row: dict[str, Any], finding: StoredFinding | None) -> None:
        """Store the line of the log and the finding of a run. What is stored already stays: a resumed run ends twice."""
        values = {
            "run": run_id,
            "owner": owner,
            "at": time.time(),
            "row": json.dumps(row, ensure_ascii=False),
            "finding": None if finding is None else msgspec.json.encode(finding).decode(),
        }
        with self.engine.begin() as connection:
            connection.execute(self._make_insert(run_log).on_conflict_do_nothing(), [values])

    def iter_log(self, owner: str, accept: AcceptRequest) -> Iterator[dict[str, Any]]:
        """Yield the lines of an owner's log whose requests are accepted, oldest first."""
        query = sa.select(run_log.c.row, runs.c.order).join(runs, runs.c.id == run_log.c.run)
        query = query.where(run_log.c.owner == owner).order_by(run_log.c.at, run_log.c.run)
        with self.engine.connect() as connection:
            for row, request in connection.execute(query):
                if accept(request):
                    yield json.loads(row)

    def load_findings(self, owner: str, before: float, accept: AcceptRequest) -> list[StoredFinding]:
        """Return what an owner's runs of accepted requests found before a time, the same when a run is resumed."""
        query = sa.select(run_log.c.finding, runs.c.order).join(runs, runs.c.id == run_log.c.run)
        query = query.where(run_log.c.owner == owner, run_log.c.at < before, run_log.c.finding.is_not(None))
        with self.engine.connect() as connection:
            rows = connection.execute(query.order_by(run_log.c.at.desc()))
            latest = list(islice((finding for finding, request in rows if accept(request)), MAX_FINDINGS))
        found = [msgspec.json.decode(encoded, type=StoredFinding) for encoded in reversed(latest)]
        return [replace(finding, id=number) for number, finding in enumerate(found, 1)]

    # -- deletion and export -------------------------------------------------------------------------------------------

    def delete(self, ids: Sequence[str]) -> list[str]:
        """Delete runs that have ended, with their events; return the ids of those that were deleted."""
        with self.engine.begin() as connection:
            chosen = sa.select(runs.c.id).where(runs.c.id.in_(ids), runs.c.status.in_(ENDED_STATUSES))
            ended = list(connection.scalars(chosen.with_for_update()))
            connection.execute(sa.delete(events).where(events.c.run.in_(ended)))
            connection.execute(sa.delete(run_log).where(run_log.c.run.in_(ended)))
            connection.execute(sa.delete(runs).where(runs.c.id.in_(ended)))
        return ended

    def find_expired(self, retention: Retention) -> list[str]:
        """Return the oldest ended runs that the retention rules do not keep, at most ``PAGE_SIZE`` of them."""
        oldest = _select_oldest_ended(runs.c.id).limit(PAGE_SIZE)
        found: list[str] = []
        if retention.seconds is not None:
            expired = oldest.where(runs.c.finished < time.time() - retention.seconds)
            found += [run_id for (run_id,) in self._read(expired)]
        if retention.runs is not None:
            by_status = self.count_by_status()
            surplus = sum(by_status.get(status, 0) for status in ENDED_STATUSES) - retention.runs
            found += [run_id for (run_id,) in self._read(oldest)][: max(0, surplus)]
        if retention.bytes is not None:
            found += self._find_oldest_beyond(retention.bytes)
        return list(dict.fromkeys(found))[:PAGE_SIZE]

    def iter_export(self, owner: str, accept: AcceptRequest) -> Iterator[dict[str, Any]]:
        """Yield everything that is stored of an owner's runs: request, times, status, report, error and events."""
        after: tuple[float, str] | None = None
        while page := self.list_runs(owner, limit=20, after=after, accept=accept):
            after = (page[-1].created, page[-1].id)
            for stored in page:
                yield {
                    "job_id": stored.id,
                    **{name: getattr(stored, name) for name in ("status", "created", "started", "finished")},
                    "request": json.loads(stored.request),
                    "report": None if stored.report is None else json.loads(stored.report),
                    "error": None if stored.error is None else json.loads(stored.error),
                    "events": [json.loads(event.data) for event in self.read_events(stored.id, 0, 100_000)],
                }

    def _find_oldest_beyond(self, allowed: int) -> Iterator[str]:
        """Yield the oldest ended runs until the others take up no more characters than are allowed."""
        run_size = _size(runs.c.order) + _size(runs.c.report) + _size(runs.c.error)
        event_size = sa.func.sum(_size(events.c.data))
        stored = sum(self._read(sa.select(size))[0][0] or 0 for size in (sa.func.sum(run_size), event_size))
        of_events = sa.select(event_size).where(events.c.run == runs.c.id).scalar_subquery()
        size = run_size + sa.func.coalesce(of_events, 0)
        oldest = self._read(_select_oldest_ended(runs.c.id, size).limit(PAGE_SIZE)) if stored > allowed else ()
        for run_id, chars in oldest:
            if stored <= allowed:
                return
            stored -= chars
            yield run_id

    # -- events --------------------------------------------------------------------------------------------------------

    def append_events(self, run_id: str, new: Sequence[StoredEvent]) -> None:
        """Store events. An event whose number is stored already stays as it was: a resumed run repeats its events."""
        rows = [{"run": run_id, "seq": event.seq, "type": event.type, "data": event.data} for event in new]
        with self.engine.begin() as connection:
            connection.execute(self._make_insert(events).on_conflict_do_nothing(), rows)

    def _make_insert(self, table: sa.Table) -> Any:
        """Return an insert that can leave existing rows alone, which each database writes in its own way."""
        return import_module(f"sqlalchemy.dialects.{self.engine.dialect.name}").insert(table)

    def read_events(self, run_id: str, after: int, limit: int = 100) -> list[StoredEvent]:
        """Return the events with a number greater than ``after``, in order."""
        query = _select_events(run_id).where(events.c.seq > after).order_by(events.c.seq).limit(limit)
        return [StoredEvent(*row) for row in self._read(query)]

    def load_events(self, run_id: str, *types: str) -> list[dict[str, Any]]:
        """Return the events of these types as they were serialized, in order."""
        found = self._read(_select_events(run_id).where(events.c.type.in_(types)).order_by(events.c.seq))
        return [json.loads(data) for _, _, data in found]

    def last_event(self, run_id: str) -> StoredEvent | None:
        found = self._read(_select_events(run_id).order_by(events.c.seq.desc()).limit(1))
        return StoredEvent(*found[0]) if found else None

    def latest_positions(self, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Return the status of each run and the number of its last event."""
        last = sa.select(sa.func.max(events.c.seq)).where(events.c.run == runs.c.id).scalar_subquery()
        rows = self._read(sa.select(runs.c.id, runs.c.status, last).where(runs.c.id.in_(ids)))
        return {run_id: (status, seq or 0) for run_id, status, seq in rows}


def _check_quota(connection: sa.Connection, owner: str, quota: Quota) -> None:
    """Raise ``QuotaExceeded`` if the owner's runs, with the one that was just inserted, are too many."""
    count = sa.select(sa.func.count()).where(runs.c.owner == owner)
    if connection.execute(count.where(runs.c.status.in_(("queued", "running")))).scalar_one() > quota.active:
        raise QuotaExceeded(f"This key allows {quota.active} queued or running runs at the same time", 10)
    if connection.execute(count.where(runs.c.created > time.time() - 60)).scalar_one() > quota.per_minute:
        plural = "" if quota.per_minute == 1 else "s"
        raise QuotaExceeded(f"This key allows {quota.per_minute} run{plural} a minute", 60)


def _select_oldest_ended(*columns: Any) -> sa.Select[Any]:
    return sa.select(*columns).where(runs.c.status.in_(ENDED_STATUSES)).order_by(runs.c.finished, runs.c.id)


def _size(column: Any) -> Any:
    return sa.func.coalesce(sa.func.length(column), 0)


def _select_events(run_id: str) -> sa.Select[Any]:
    return sa.select(events.c.seq, events.c.type, events.c.data).where(events.c.run == run_id)
