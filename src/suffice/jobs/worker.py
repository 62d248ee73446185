"""The worker process: submits, cancels, takes and resumes runs through dbos queues.

There is one queue for all workers that serve the same collections. A run is put into the queue of a worker that serves its
collections. If no worker listens to that queue any more, another worker that serves them moves the run to its own; without
one, the run waits.

A process that only submits and follows runs uses a ``Worker`` with ``takes_jobs=False``: dbos enqueues only the workflows of a
launched process. How one run is executed is in ``executor``.
"""

import asyncio
import json
import logging
import math
import random
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig, Serializer, SetEnqueueOptions, SetWorkflowID

from suffice.api import prepare_run
from suffice.engine.pipeline import new_run_id
from suffice.errors import SufficeError
from suffice.jobs.api_keys import ApiKeyStore, Quota
from suffice.jobs.database import POOL_SIZE, POOL_TIMEOUT, lock_setup, open_engine
from suffice.jobs.event_stream import EventStream
from suffice.jobs.executor import ActiveRun, EventListeners, PrepareRun, RunExecutor
from suffice.jobs.heartbeats import DEAD_AFTER, HEARTBEAT_SECONDS, Heartbeats, Listener
from suffice.jobs.requests import JobRequest, parse_request
from suffice.jobs.served import ServedCollections, shares_tags
from suffice.jobs.store import Priority, RunStore, StoredRun
from suffice.settings import Retention
from suffice.types import Report

JOURNAL_VERSION = "1"  # Of the stored steps. Runs of another version wait for a worker that has it.
CLEANUP_SECONDS = 60.0  # Seconds between two deletions of expired runs.
LOOP_BLOCKED_SECONDS = 60.0  # Seconds without a turn of the event loop after which a worker counts itself as stuck.
PURGE_TIMEOUT = 10.0  # Seconds within which an active run must end to be purged.
READ_TAGS_SECONDS = 300.0  # Seconds between two looks at the collections' files, if machines share the database.
REQUEUE_AFTER = 10.0  # Seconds after which a stored run that did not reach the queue is queued again.

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ConcurrencyLimits:
    """How many runs are worked on at the same time: by one worker, and by all workers that serve the same collections, for
    one owner and in all."""

    per_worker: int = 32
    per_owner: int = 8
    total: int | None = None


class Worker:
    """This process's part in the service. ``collections`` are the operator's documents by name."""

    def __init__(
        self,
        database: str,
        collections: Mapping[str, Sequence[str]] | None = None,
        *,
        limits: ConcurrencyLimits = ConcurrencyLimits(),
        takes_jobs: bool = True,
        prepare: PrepareRun = prepare_run,
        has_telemetry: bool = False,
        retention: Retention = Retention(),
    ) -> None:
        self._database = database
        self._retention = retention
        self._next_cleanup = 0.0
        self.collections = dict(collections or {})
        self._is_shared = not database.startswith("sqlite")
        self.served = ServedCollections(self.collections, socket.gethostname() if self._is_shared else None)
        self._limits = limits
        self._takes_jobs = takes_jobs
        engine = open_engine(database)
        self.store = RunStore(engine)
        self.event_stream = EventStream(self.store)
        self.api_keys = ApiKeyStore(engine)
        self.heartbeats = Heartbeats(engine)
        self._stopping = threading.Event()
        self._last_beat = self._loop_alive_at = -math.inf
        parts = self.store, self.event_stream, self.served, prepare
        self._executor = RunExecutor(*parts, is_stopping=self._stopping.is_set, has_telemetry=has_telemetry)
        self._workflows: set[asyncio.Task[Any]] = set()
        self._reading_tags: asyncio.Task[None] | None = None
        self._stranded: set[str] = set()
        self._heartbeat_thread = threading.Thread(target=self._heartbeat_loop, name="heartbeat", daemon=True)

    # -- start and stop ------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Launch dbos, register this worker and start its heartbeat."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self.served.read_tags)
        self._queue = f"runs-{self.served.digest}"
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
        # Its handler holds the standard error stream of the first launch in this process, which may be closed by now.
        logging.getLogger("dbos").handlers.clear()
        DBOS(config=config)

        async def research(run_id: str) -> str:
            workflow = asyncio.current_task()
            assert workflow is not None
            self._workflows.add(workflow)
            workflow.add_done_callback(self._workflows.discard)
            return await self._executor.execute(run_id)

        self._workflow = DBOS.workflow(name="research", max_recovery_attempts=None)(research)
        DBOS.listen_queues([self._queue] if self._takes_jobs else [])
        await asyncio.to_thread(self._register)
        with lock_setup(self._database):
            DBOS.launch()
        await DBOS.register_queue_async(
            self._queue,
            worker_concurrency=self._limits.per_worker,
            partition_concurrency=self._limits.per_owner,
            global_concurrency=self._limits.total,
            polling_interval_sec=0.2,
            on_conflict="always_update",
        )
        self._last_beat = self._loop_alive_at = time.monotonic()
        self._heartbeat_thread.start()
        if self._is_shared:
            self._reading_tags = asyncio.ensure_future(self._keep_reading_tags())

    async def stop(self) -> None:
        """Suspend this process's runs, so that other workers resume them, and shut down."""
        self._stopping.set()
        if self._reading_tags is not None:
            self._reading_tags.cancel()
        self.event_stream.close()
        for active in self._executor.active.values():
            if active.task is not None:
                active.task.cancel()
        if self._workflows:
            await asyncio.wait(self._workflows)
        await asyncio.to_thread(self._heartbeat_thread.join)
        await asyncio.to_thread(self.heartbeats.deregister)
        # In a thread of its own, because it shuts down the default executor that ``to_thread`` uses.
        destroying = threading.Thread(target=lambda: DBOS.destroy(destroy_registry=True))
        destroying.start()
        while destroying.is_alive():
            await asyncio.sleep(0.01)
        self._loop.set_default_executor(ThreadPoolExecutor())
        self.store.engine.dispose()

    # -- submit, cancel, run -------------------------------------------------------------------------------------------

    async def submit(
        self,
        request: JobRequest,
        *,
        owner: str = "local",
        priority: Priority = Priority.NORMAL,
        idempotency_key: str | None = None,
        quota: Quota | None = None,
    ) -> StoredRun:
        """Queue a run. If its owner used the idempotency key before, return the run of that time instead.

        Raises ``QuotaExceeded`` if the run is more than the quota allows.
        """
        run_id = new_run_id()
        stored = await asyncio.to_thread(
            self.store.add, run_id, owner, self.served.bind(request).to_json(), priority, idempotency_key, quota
        )
        if stored.id == run_id:
            await asyncio.to_thread(self._enqueue, stored)
        return stored

    async def cancel(self, run_id: str) -> StoredRun:
        """End a run: at once if it is still queued, otherwise before its next paid call."""
        if await asyncio.to_thread(self.store.request_cancel, run_id):
            await DBOS.cancel_workflow_async(run_id)
            self.event_stream.notify(run_id)
        else:
            self._executor.interrupt(run_id)
        return await asyncio.to_thread(self.store.get, run_id)

    async def run_in_process(self, stored: StoredRun, listeners: EventListeners, *, resume: bool) -> Report | None:
        """Work on a run in this process, without the queue, and return its report.

        If this call is cancelled, the report covers what was found so far and the run stays unfinished.
        """
        active = self._executor.active[stored.id] = ActiveRun(listeners, is_local=True)
        if resume:
            await DBOS.resume_workflow_async(stored.id)
        else:
            with SetWorkflowID(stored.id):
                await DBOS.start_workflow_async(self._workflow, stored.id)
        try:
            await active.done.wait()
        except asyncio.CancelledError:
            current = asyncio.current_task()
            assert current is not None
            current.uncancel()
            active.is_released = True
            active.interrupt()
            await active.done.wait()
        return active.report

    def _enqueue(self, stored: StoredRun) -> None:
        with SetWorkflowID(stored.id), SetEnqueueOptions(priority=stored.priority, queue_partition_key=stored.owner):
            DBOS.enqueue_workflow(self._choose_queue(stored), self._workflow, stored.id)

    def _choose_queue(self, stored: StoredRun) -> str:
        """Return this worker's own queue if it can take the run, else that of a worker that can, else its own."""
        request = parse_request(stored.request)
        if self._takes_jobs and self.served.serves(request):
            return self._queue
        queues = [each.queue for each in self.heartbeats.list_listeners() if shares_tags(each.tags, request)]
        return random.choice(queues) if queues else self._queue

    def explain_waiting(self, stored: StoredRun) -> str | None:
        """Say why a run waits for ever: no worker that is alive serves its collections."""
        workflow = None if stored.has_ended else DBOS.get_workflow_status(stored.id)
        if workflow is None or workflow.status != "ENQUEUED":
            return None
        if workflow.queue_name in {each.queue for each in self.heartbeats.list_listeners()}:
            return None
        names = ", ".join(parse_request(stored.request).collections)
        wanted = f"serves the collections of this run ({names}) with the same files" if names else "is running"
        return f"The run waits because no worker {wanted}; start one that does, or cancel the run"

    # -- health and deletion -------------------------------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        """Whether this process could write to the database lately; otherwise other workers count it as dead."""
        return time.monotonic() - self._last_beat < DEAD_AFTER

    async def purge(self, run_id: str) -> bool:
        """Delete everything stored of a run; cancel it first if it is active. Return false if it does not end in time."""
        await self.cancel(run_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(PURGE_TIMEOUT):
                await self.event_stream.wait_until_ended(run_id)
        return bool(await asyncio.to_thread(self._delete, [run_id]))

    def _delete(self, ids: Sequence[str]) -> list[str]:
        deleted = self.store.delete(ids)
        if deleted:
            DBOS.delete_workflows(deleted)  # The journal of their calls.
        return deleted

    # -- collections ---------------------------------------------------------------------------------------------------

    def _register(self) -> None:
        self.heartbeats.register(Listener(self._queue, self.served.tags) if self._takes_jobs else None)

    async def _keep_reading_tags(self) -> None:
        """Follow changes of the files, so that workers that start later recognise the collections of new runs."""
        while True:
            await asyncio.sleep(READ_TAGS_SECONDS)
            try:
                await asyncio.to_thread(self.served.read_tags)
                await asyncio.to_thread(self._register)
            except (SufficeError, OSError, sa.exc.SQLAlchemyError) as error:
                log.warning("The collections could not be read again: %s", str(error).partition("\n")[0])

    # -- heartbeat -----------------------------------------------------------------------------------------------------

    def _heartbeat_loop(self) -> None:
        """Send heartbeats, take over the runs of dead workers, and interrupt cancelled runs of this process."""
        while not self._stopping.is_set():
            blocked = time.monotonic() - self._loop_alive_at
            try:
                # Without a heartbeat other workers take over the runs of this one. A run that blocks every worker is set aside
                # after ``executor.MAX_ATTEMPTS`` attempts.
                if blocked > LOOP_BLOCKED_SECONDS:
                    runs = ", ".join(self._executor.active) or "none"
                    log.error("The event loop has been blocked for %.0f seconds; runs in progress: %s", blocked, runs)
                else:
                    self._loop.call_soon_threadsafe(self._mark_loop_alive)
                    self._beat()
            except Exception as error:  # The database may be unavailable. The next heartbeat tries again.
                log.warning("Heartbeat failed: %s", str(error).partition("\n")[0])
            for _ in range(int(HEARTBEAT_SECONDS / 0.5)):
                if self._stopping.wait(0.5):
                    return
                with suppress(Exception):
                    self._interrupt_cancelled()

    def _beat(self) -> None:
        if not self.heartbeats.beat():
            self._register()
        self._last_beat = time.monotonic()
        self._interrupt_cancelled()
        if self._takes_jobs:
            self._clean_up()
            self.heartbeats.take_over_dead_workers(self._requeue_runs_of)
            self._requeue_stale()
            self._adopt_stranded()

    def _mark_loop_alive(self) -> None:
        self._loop_alive_at = time.monotonic()

    def _clean_up(self) -> None:
        """Delete the runs that the retention rules do not keep, every ``CLEANUP_SECONDS``."""
        if self._retention == Retention() or time.monotonic() < self._next_cleanup:
            return
        self._next_cleanup = time.monotonic() + CLEANUP_SECONDS
        deleted = True
        while deleted and not self._stopping.is_set():
            deleted = bool(self._delete(self.store.find_expired(self._retention)))

    def _interrupt_cancelled(self) -> None:
        for run_id in self.store.find_cancelled(list(self._executor.active)):
            self._loop.call_soon_threadsafe(self._executor.interrupt, run_id)

    def _requeue_runs_of(self, worker: str) -> None:
        for workflow in DBOS.list_workflows(status="PENDING", executor_id=worker, load_input=False, load_output=False):
            DBOS.resume_workflow(workflow.workflow_id, queue_name=workflow.queue_name or self._queue)

    def _requeue_stale(self) -> None:
        for stored in self.store.list_stale_queued(time.time() - REQUEUE_AFTER):
            if DBOS.get_workflow_status(stored.id) is None:
                self._enqueue(stored)

    def _adopt_stranded(self) -> None:
        """Move the runs of queues that no worker listens to into this worker's, if it serves their collections."""
        names = {queue.name for queue in DBOS.list_queues()}
        names -= {listener.queue for listener in self.heartbeats.list_listeners()}
        if not names:
            return
        for workflow in DBOS.list_workflows(
            status="ENQUEUED", queue_name=sorted(names), load_input=False, load_output=False
        ):
            stored = self.store.get(workflow.workflow_id)
            if self.served.serves(parse_request(stored.request)):
                self._move(stored.id, workflow.queue_name)
            elif stored.id not in self._stranded and (reason := self.explain_waiting(stored)):
                self._stranded.add(stored.id)
                log.warning("%s: %s", stored.id, reason)

    def _move(self, run_id: str, queue: str | None) -> None:
        """Move a waiting run to this worker's queue, unless another worker has moved or taken it since."""
        # Resuming it would do the same also to a run that is being worked on by now.
        table = "dbos.workflow_status" if self._is_shared else "workflow_status"
        move = sa.text(
            f"UPDATE {table} SET queue_name = :own "
            "WHERE workflow_uuid = :id AND queue_name = :queue AND status = 'ENQUEUED'"
        )
        with self.store.engine.begin() as connection:
            connection.execute(move, {"own": self._queue, "id": run_id, "queue": queue})


class _JsonSerializer(Serializer):
    """Stores steps as JSON, so that nothing from the database is ever executed."""

    def serialize(self, data: Any) -> str:
        return json.dumps(data, ensure_ascii=False, default=repr)

    def deserialize(self, serialized_data: str) -> Any:
        return json.loads(serialized_data)

    def name(self) -> str:
        return "suffice_json"
