"""A worker: takes runs from the queue, works on them, and keeps what happens.

It is also where runs are ordered and cancelled, so that a process which only takes orders needs nothing else.
"""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from dbos import DBOS, DBOSConfig, Serializer, SetEnqueueOptions, SetWorkflowID

from suffice.api import Options, prepare_run
from suffice.engine.pipeline import RunConfig, new_run_id, run_pipeline
from suffice.errors import SufficeError
from suffice.events import Event, Finished, serialize_event
from suffice.jobs import requests
from suffice.jobs.database import POOL_SIZE, POOL_TIMEOUT, open_engine
from suffice.jobs.event_stream import EventNumbering, EventStream
from suffice.jobs.heartbeats import HEARTBEAT_SECONDS, Heartbeats
from suffice.jobs.journal import RunSuspended, make_durable, open_journal
from suffice.jobs.keys import ApiKeyStore
from suffice.jobs.requests import JobRequest, has_paid_calls
from suffice.jobs.store import RunStatus, RunStore, StoredEvent, StoredRun
from suffice.jobs.telemetry import Telemetry, add_tracing
from suffice.storage.report_json import dumps, to_json_safe
from suffice.types import Report

QUEUE = "runs"
JOURNAL_VERSION = "1"  # Of the journal. Another number: runs begun under it wait for a worker that knows it.
MAX_ATTEMPTS = 5  # A run that was taken up this often and never ended takes its workers down; it is given up.
REQUEUE_AFTER = 10.0  # Seconds after which a run that was kept but not queued is queued again.
PRIORITIES = {"high": 1, "normal": 10, "low": 100}

log = logging.getLogger(__name__)

PrepareRun = Callable[[str, Options], Awaitable[RunConfig]]


@dataclass(frozen=True)
class ConcurrencyLimits:
    """How many runs may be worked on at once: by one worker, for one owner, and by all workers together."""

    per_worker: int = 32
    per_owner: int = 8
    total: int | None = None


def _ignore_event(event: Event) -> None:
    pass


@dataclass
class _ActiveRun:
    """A run this process works on. ``watch`` sees its events as they come; once ``let_go``, nothing more of it is kept, so
    that whoever takes it up again goes on from here."""

    task: asyncio.Task[None] | None = None
    on_event: Callable[[Event], None] = _ignore_event
    is_local: bool = False
    is_interrupted: bool = False
    is_released: bool = False
    report: Report | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Worker:
    """``offered`` are the operator's collections by name. Without ``takes`` it only orders and follows runs."""

    def __init__(
        self,
        database: str,
        collections: Mapping[str, Sequence[str]] | None = None,
        *,
        limits: ConcurrencyLimits = ConcurrencyLimits(),
        takes_jobs: bool = True,
        prepare: PrepareRun = prepare_run,
        dead_after: float | None = None,
        has_telemetry: bool = False,
    ) -> None:
        self._database = database
        self.collections = dict(collections or {})
        self._limits = limits
        self._takes_jobs = takes_jobs
        self._prepare = prepare
        self._has_telemetry = has_telemetry
        engine = open_engine(database)
        self.store = RunStore(engine)
        self.event_stream = EventStream(self.store)
        self.api_keys = ApiKeyStore(engine)
        self.heartbeats = Heartbeats(engine) if dead_after is None else Heartbeats(engine, dead_after=dead_after)
        self._active: dict[str, _ActiveRun] = {}
        self._workflows: set[asyncio.Task[Any]] = set()
        self._stopping = threading.Event()
        self._heartbeat_thread = threading.Thread(target=self._heartbeat_loop, name="heart", daemon=True)
        self._workflow: Callable[[str], Any] = _not_started

    # -- a process's life ----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        config: DBOSConfig = {
            "name": "suffice",
            "system_database_url": self._database,
            "application_version": JOURNAL_VERSION,
            "executor_id": self.heartbeats.id,
            "serializer": _JsonSerializer(),
            "log_level": "ERROR",
            "max_executor_threads": 64,
            "sys_db_pool_size": POOL_SIZE,
            "db_engine_kwargs": {"pool_timeout": POOL_TIMEOUT},
            "use_listen_notify": False,
        }
        # Its handler keeps the standard error of the first run in this process, which may be closed by now.
        logging.getLogger("dbos").handlers.clear()
        DBOS(config=config)

        async def research(run: str) -> str:
            workflow = asyncio.current_task()
            assert workflow is not None
            self._workflows.add(workflow)
            workflow.add_done_callback(self._workflows.discard)
            return await self._execute(run)

        self._workflow = DBOS.workflow(name="research", max_recovery_attempts=None)(research)
        if not self._takes_jobs:
            DBOS.listen_queues([])
        await asyncio.to_thread(self.heartbeats.register)
        DBOS.launch()
        await DBOS.register_queue_async(
            QUEUE,
            worker_concurrency=self._limits.per_worker,
            partition_concurrency=self._limits.per_owner,
            global_concurrency=self._limits.total,
            polling_interval_sec=0.2,
            on_conflict="always_update",
        )
        self._heartbeat_thread.start()

    async def stop(self) -> None:
        """Let go of everything: runs under way go on with whoever takes them up."""
        self._stopping.set()
        self.event_stream.close()
        for active in self._active.values():
            if active.task is not None:
                active.task.cancel()
        if self._workflows:
            await asyncio.wait(self._workflows)
        await asyncio.to_thread(self._heartbeat_thread.join)
        await asyncio.to_thread(self.heartbeats.deregister)
        # In a thread of its own: it shuts down the pool that the loop's other threads come from.
        ended = threading.Thread(target=lambda: DBOS.destroy(destroy_registry=True))
        ended.start()
        while ended.is_alive():
            await asyncio.sleep(0.01)
        self._loop.set_default_executor(_new_thread_pool())
        self.store.engine.dispose()

    def _heartbeat_loop(self) -> None:
        """The heartbeat: say that we live, look after the dead, and hear who wants a run to end."""
        while not self._stopping.is_set():
            try:
                self.heartbeats.beat()
                self._interrupt_cancelled()
                if self._takes_jobs:
                    self.heartbeats.reap_dead(self._requeue_runs_of)
                    self._requeue_stale()
            except Exception:  # The database may be away for a while; the runs are not lost by it.
                log.warning("The database did not answer a heartbeat", exc_info=True)
            for _ in range(int(HEARTBEAT_SECONDS / 0.5)):
                if self._stopping.wait(0.5):
                    return
                with suppress(Exception):
                    self._interrupt_cancelled()

    def _interrupt_cancelled(self) -> None:
        for run in self.store.find_cancelled(list(self._active)):
            self._loop.call_soon_threadsafe(self._interrupt, run)

    def _requeue_runs_of(self, worker: str) -> None:
        for found in DBOS.list_workflows(status="PENDING", executor_id=worker, load_input=False, load_output=False):
            DBOS.resume_workflow(found.workflow_id, queue_name=QUEUE)

    def _requeue_stale(self) -> None:
        for kept in self.store.list_stale_queued(time.time() - REQUEUE_AFTER):
            if DBOS.get_workflow_status(kept.id) is None:
                self._enqueue(kept)

    # -- orders --------------------------------------------------------------------------------------------------------

    async def submit(
        self, order: JobRequest, *, owner: str = "local", priority: str = "normal", idempotency: str | None = None
    ) -> StoredRun:
        """Queue a run; an order whose key its owner has used before is the run it was used for."""
        run = new_run_id()
        kept = await asyncio.to_thread(self.store.add, run, owner, order.to_json(), PRIORITIES[priority], idempotency)
        if kept.id == run:
            await asyncio.to_thread(self._enqueue, kept)
        return kept

    def _enqueue(self, kept: StoredRun) -> None:
        with (
            SetWorkflowID(kept.id),
            SetEnqueueOptions(priority=kept.priority, queue_partition_key=kept.owner),
        ):
            DBOS.enqueue_workflow(QUEUE, self._workflow, kept.id)

    async def cancel(self, run: str) -> StoredRun:
        """End a run: at once when nobody has begun it, else before its next paid call."""
        if await asyncio.to_thread(self.store.request_cancel, run):
            await DBOS.cancel_workflow_async(run)
            self.event_stream.notify(run)
        else:
            self._interrupt(run)
        return await asyncio.to_thread(self.store.get, run)

    def _interrupt(self, run: str) -> None:
        active = self._active.get(run)
        if active is not None and active.task is not None and not active.is_interrupted:
            active.is_interrupted = True
            active.task.cancel()

    async def run_in_process(
        self, kept: StoredRun, on_event: Callable[[Event], None], *, resume: bool
    ) -> Report | None:
        """Work on a run in this process, without the queue. Interrupted, the run is let go of: this is the report of what was
        found, and the run itself has not ended."""
        active = self._active[kept.id] = _ActiveRun(on_event=on_event, is_local=True)
        if resume:
            await DBOS.resume_workflow_async(kept.id)
        else:
            with SetWorkflowID(kept.id):
                await DBOS.start_workflow_async(self._workflow, kept.id)
        try:
            await active.done.wait()
        except asyncio.CancelledError:
            current = asyncio.current_task()
            assert current is not None
            current.uncancel()
            active.is_released = True
            self._interrupt(kept.id)
            await active.done.wait()
        return active.report

    # -- work ----------------------------------------------------------------------------------------------------------

    async def _execute(self, run: str) -> str:
        """The workflow of a run: from its order to its report."""
        kept = await asyncio.to_thread(self.store.mark_started, run)
        if kept is None:
            return "ended"
        active = self._active.setdefault(run, _ActiveRun())
        try:
            if kept.attempts > MAX_ATTEMPTS and not active.is_local:
                raise SufficeError(f"Given up: the run was taken up {MAX_ATTEMPTS} times and never came to an end")
            await self._process(kept, active)
        except RunSuspended:  # Not its fault.
            await asyncio.to_thread(self.store.uncount_attempt, run)
            raise
        except SufficeError as error:
            await self._fail(run, type(error).__name__, str(error), getattr(error, "retryable", False))
        except Exception:
            log.exception("Run %s failed", run)
            await self._fail(run, "InternalError", "Something went wrong inside; the operator's log says what", False)
        finally:
            self._active.pop(run, None)
            active.done.set()
            self.event_stream.notify(run)
        return "done"

    async def _process(self, kept: StoredRun, active: _ActiveRun) -> None:
        order = requests.parse_request(kept.request)
        happened: asyncio.Queue[Event | None] = asyncio.Queue()
        watch = Telemetry(kept.id) if self._has_telemetry else None

        async def work() -> None:
            try:
                setup = await self._build_config(kept, order, active)
                setup = setup if watch is None else add_tracing(setup, watch)
                async with aclosing(run_pipeline(setup)) as events:
                    async for event in events:
                        happened.put_nowait(event)
            finally:
                happened.put_nowait(None)
                if watch is not None:
                    watch.end()

        active.task = asyncio.ensure_future(work())
        latest = await asyncio.to_thread(self.store.last_event, kept.id)
        numbers, ended = EventNumbering(latest.seq if latest else 0), False
        while not ended:
            batch = [await happened.get()]
            while not happened.empty():
                batch.append(happened.get_nowait())
            if self._stopping.is_set():
                raise RunSuspended
            lines = []
            for event in batch:
                if event is None:
                    ended = True
                    break
                if isinstance(event, Finished):
                    active.report = event.report
                active.on_event(event)
                if watch is not None:
                    watch.record_event(event)
                for number, numbered in numbers.assign(event):
                    shown = serialize_event(numbered, kept.id)
                    lines.append(StoredEvent(number, shown["type"], json.dumps(to_json_safe(shown))))
            if lines and not active.is_released:
                await self.event_stream.append(kept.id, lines)
        try:
            await active.task
        except asyncio.CancelledError:
            if self._stopping.is_set():
                raise RunSuspended from None
            if not active.is_interrupted:
                raise
        if self._stopping.is_set() or active.is_released:
            raise RunSuspended
        await self._finish(kept.id, active)

    async def _build_config(self, kept: StoredRun, order: JobRequest, active: _ActiveRun) -> RunConfig:
        options = requests.resolve_collections(order, self.collections)
        setup = replace(await self._prepare(order.task, options), run_id=kept.id)
        if not has_paid_calls(setup):
            return setup

        async def stopped() -> bool:
            return active.is_interrupted or bool(await asyncio.to_thread(self.store.find_cancelled, [kept.id]))

        return make_durable(
            setup, await open_journal(kept.id, is_cancelled=stopped, is_suspending=self._stopping.is_set)
        )

    async def _finish(self, run: str, active: _ActiveRun) -> None:
        report = active.report
        status: RunStatus = "cancelled" if report is None or report.stop.reason == "cancelled" else "done"
        text = None if report is None else dumps(report)
        await asyncio.to_thread(self.store.mark_ended, run, status, report=text)

    async def _fail(self, run: str, kind: str, message: str, retryable: bool) -> None:
        error = json.dumps({"type": kind, "message": message, "retryable": retryable})
        await asyncio.to_thread(self.store.mark_ended, run, "failed", error=error)


class _JsonSerializer(Serializer):
    """What is kept of steps is JSON: nothing in the database is ever executed."""

    def serialize(self, data: Any) -> str:
        return json.dumps(data, ensure_ascii=False, default=repr)

    def deserialize(self, serialized_data: str) -> Any:
        return json.loads(serialized_data)

    def name(self) -> str:
        return "suffice_json"


def _new_thread_pool() -> Any:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor()


def _not_started(run: str) -> str:
    raise AssertionError("start() comes first")
