"""Execution of one run: prepare it, journal its calls, store its events as they come, and store how it ended."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TypeVar

import sqlalchemy as sa

from suffice import settings
from suffice.engine.config import RunConfig
from suffice.engine.pipeline import run_pipeline
from suffice.errors import SufficeError
from suffice.events import Event, Finished, serialize_event
from suffice.jobs.database import is_database_failure
from suffice.jobs.event_stream import EventNumbering, EventStream
from suffice.jobs.journal import RunSuspended, make_durable, open_journal
from suffice.jobs.requests import has_paid_calls, parse_request, resolve_collections
from suffice.jobs.served import ServedCollections
from suffice.jobs.store import RunStatus, RunStore, StoredEvent, StoredRun
from suffice.jobs.telemetry import Telemetry
from suffice.options import RunOptions
from suffice.storage.findings import build_finding, list_folders, recall_findings
from suffice.storage.report_json import dumps, to_json_safe
from suffice.storage.runs import RunLogBuilder, build_prior_run
from suffice.types import Report

DATABASE_RETRY_SECONDS = 2.0  # Seconds between attempts to store the state of a run while the database fails.
MAX_ATTEMPTS = 5  # A run that was started this often without ending probably crashes its workers; it fails then.

log = logging.getLogger(__name__)

T = TypeVar("T")
EventListeners = Sequence[Callable[[Event], None]]
PrepareRun = Callable[[str, RunOptions], Awaitable[RunConfig]]


@dataclass
class ActiveRun:
    """A run that this process works on."""

    listeners: EventListeners = ()
    """Receive the run's events as they come."""
    is_local: bool = False
    """The run belongs to the command line, which may resume it any number of times."""
    is_interrupted: bool = False
    is_released: bool = False
    """Nothing more of the run is stored, so that it can be resumed from here."""
    task: asyncio.Task[None] | None = None
    report: Report | None = None
    log: RunLogBuilder = field(default_factory=RunLogBuilder)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def interrupt(self) -> None:
        """Stop the search; the run ends with a report of what was found."""
        if not self.is_interrupted:
            self.is_interrupted = True
            if self.task is not None:
                self.task.cancel()


@dataclass
class RunExecutor:
    """Executes stored runs. ``is_stopping`` says whether this process is shutting down; its runs are then suspended."""

    store: RunStore
    event_stream: EventStream
    served: ServedCollections
    prepare: PrepareRun
    is_stopping: Callable[[], bool]
    has_telemetry: bool
    active: dict[str, ActiveRun] = field(default_factory=dict)

    def interrupt(self, run_id: str) -> None:
        """Interrupt a run if this process works on it."""
        if run_id in self.active:
            self.active[run_id].interrupt()

    async def execute(self, run_id: str) -> str:
        stored = await self._retry(lambda: self.store.mark_started(run_id))
        if stored is None:
            return "ended"
        active = self.active.setdefault(run_id, ActiveRun())
        try:
            if stored.attempts > MAX_ATTEMPTS and not active.is_local:
                raise SufficeError(
                    f"The run was started {MAX_ATTEMPTS} times and never ended, so it was abandoned; see the worker log"
                )
            await self._process(stored, active)
        except RunSuspended:  # The run did not cause this, so the attempt does not count.
            with suppress(sa.exc.SQLAlchemyError):
                await asyncio.to_thread(self.store.uncount_attempt, run_id)
            raise
        except SufficeError as error:
            await self._fail(run_id, type(error).__name__, str(error), getattr(error, "retryable", False))
        except Exception as error:
            if is_database_failure(error):
                log.error("Run %s failed because its database did: %s", run_id, str(error).partition("\n")[0])
                await self._fail(run_id, "Unavailable", "The database failed during the run; start it again", True)
                return "done"
            log.exception("Run %s failed", run_id)
            await self._fail(run_id, "InternalError", "An internal error occurred; see the server's log", False)
        finally:
            self.active.pop(run_id, None)
            active.done.set()
            self.event_stream.notify(run_id)
        return "done"

    async def _process(self, stored: StoredRun, active: ActiveRun) -> None:
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        record = (Telemetry(stored.id).record_event,) if self.has_telemetry else ()
        listeners = (active.log.record_event, *active.listeners, *record)

        async def produce_events() -> None:
            config = await self._build_config(stored, active)
            async with aclosing(run_pipeline(config)) as pipeline:
                async for event in pipeline:
                    events.put_nowait(event)

        active.task = asyncio.ensure_future(produce_events())
        # Not at the end of the task's own code, which never runs if the task is cancelled before its first step.
        active.task.add_done_callback(lambda _: events.put_nowait(None))
        if active.is_interrupted:
            active.task.cancel()
        try:
            await self._store_events(stored.id, active, listeners, events)
        except BaseException:
            active.task.cancel()
            raise
        try:
            await active.task
        except asyncio.CancelledError:
            if self.is_stopping():
                raise RunSuspended from None
            if not active.is_interrupted:
                raise
        if self.is_stopping() or active.is_released:
            raise RunSuspended
        if not active.is_local:  # The command line keeps its own log.
            await self._log_run(stored, active)
        await self._finish(stored.id, active.report)

    async def _store_events(
        self, run_id: str, active: ActiveRun, listeners: EventListeners, events: asyncio.Queue[Event | None]
    ) -> None:
        """Number and store the events from the queue, in batches of those that have arrived."""
        last = await asyncio.to_thread(self.store.last_event, run_id)
        numbering, ended = EventNumbering(last.seq if last else 0), False
        while not ended:
            batch = [await events.get()]
            while not events.empty():
                batch.append(events.get_nowait())
            if self.is_stopping():
                raise RunSuspended
            numbered, ended = [], batch[-1] is None
            for event in [one for one in batch if one is not None]:
                if isinstance(event, Finished):
                    active.report = event.report
                for listen in listeners:
                    listen(event)
                for number, each in numbering.assign(event):
                    data = serialize_event(each, run_id)
                    numbered.append(StoredEvent(number, data["type"], json.dumps(to_json_safe(data))))
            if numbered and not active.is_released:
                await self.event_stream.append(run_id, numbered)

    async def _build_config(self, stored: StoredRun, active: ActiveRun) -> RunConfig:
        request = parse_request(stored.request)
        options = resolve_collections(request, self.served.collections)
        if isinstance(options.continues, str) and request.working_dir is None:
            earlier, load = options.continues, self.store.load_events
            types = ("started", "continued", "round")
            prior_run = await asyncio.to_thread(lambda: build_prior_run(earlier, load(earlier, *types)))
            options = replace(options, continues=prior_run)
        config = await self.prepare(request.question, options)
        config = replace(config, run_id=stored.id, today=date.fromtimestamp(stored.created))
        if request.working_dir is None:
            config = await asyncio.to_thread(self._recall, stored, options, config)
        if not has_paid_calls(config):
            return config

        async def is_cancelled() -> bool:
            return active.is_interrupted or bool(await asyncio.to_thread(self.store.find_cancelled, [stored.id]))

        journal = await open_journal(stored.id, is_cancelled=is_cancelled, is_suspending=self.is_stopping)
        return make_durable(config, journal)

    def _recall(self, stored: StoredRun, options: RunOptions, config: RunConfig) -> RunConfig:
        """Let the run look up again what earlier runs of its owner found."""
        if not settings.load().recall:
            return config
        findings = self.store.load_findings(stored.owner, stored.created, self.served.accepts)
        folders = () if options.scope.uses_web else list_folders(config.metadata["searched"])
        recalled = tuple(recall_findings(findings, config.task, folders, config.embed, config.prior_run))
        workspace = replace(config.skills.workspace, findings=tuple(findings))
        return replace(
            config,
            recalled_findings=recalled,
            skills=replace(config.skills, workspace=workspace),
            metadata=config.metadata | {"recalled": [finding.title for finding in recalled]},
        )

    async def _log_run(self, stored: StoredRun, active: ActiveRun) -> None:
        """Store the run's line of the log, and what it found for later runs of its owner."""
        report = active.report
        if report is None or active.log.started is None:
            return
        row = to_json_safe(active.log.build_row(report))
        finding = build_finding(report) if settings.load().recall else None
        await self._retry(lambda: self.store.log_run(stored.id, stored.owner, row, finding))

    async def _finish(self, run_id: str, report: Report | None) -> None:
        status: RunStatus = "cancelled" if report is None or report.stop.reason == "cancelled" else "done"
        text = None if report is None else dumps(report)
        await self._retry(lambda: self.store.mark_ended(run_id, status, report=text))

    async def _fail(self, run_id: str, error_type: str, message: str, retryable: bool) -> None:
        error = json.dumps({"type": error_type, "message": message, "retryable": retryable})
        await self._retry(lambda: self.store.mark_ended(run_id, "failed", error=error))

    async def _retry(self, write: Callable[[], T]) -> T:
        """Store the state of a run, however long the database fails: a run must not stay ``running`` for ever."""
        while True:
            try:
                return await asyncio.to_thread(write)
            except sa.exc.SQLAlchemyError as error:
                if not is_database_failure(error):
                    raise
            if self.is_stopping():
                raise RunSuspended
            await asyncio.sleep(DATABASE_RETRY_SECONDS)
