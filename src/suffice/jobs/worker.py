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

from suffice.errors import SufficeError
from suffice.events import Event, Finished, record
from suffice.front import Options, prepare
from suffice.jobs import orders
from suffice.jobs.database import CONNECTIONS, PATIENCE, connect
from suffice.jobs.durable import durable
from suffice.jobs.feed import Feed
from suffice.jobs.journal import Suspended, open_journal
from suffice.jobs.keys import Keys
from suffice.jobs.numbering import Numbering
from suffice.jobs.orders import Order, pays
from suffice.jobs.roster import BEAT, Roster
from suffice.jobs.store import Kept, Line, Status, Store
from suffice.jobs.watch import Watch, watched
from suffice.pipeline import Setup, new_run_id, stream
from suffice.types import Report
from suffice.write.codec import dumps, plain

QUEUE = "runs"
FORMAT = "1"  # Of the journal. Another number: runs begun under it wait for a worker that knows it.
GIVE_UP = 5  # A run that was taken up this often and never ended takes its workers down; it is given up.
FORGOTTEN = 10.0  # Seconds after which a run that was kept but not queued is queued again.
PRIORITIES = {"high": 1, "normal": 10, "low": 100}

log = logging.getLogger(__name__)

Prepare = Callable[[str, Options], Awaitable[Setup]]


@dataclass(frozen=True)
class Limits:
    """How many runs may be worked on at once: by one worker, for one owner, and by all workers together."""

    worker: int = 32
    owner: int = 8
    overall: int | None = None


def _ignore(event: Event) -> None:
    pass


@dataclass
class _Active:
    """A run this process works on. ``watch`` sees its events as they come; once ``let_go``, nothing more of it is kept, so
    that whoever takes it up again goes on from here."""

    work: asyncio.Task[None] | None = None
    watch: Callable[[Event], None] = _ignore
    alone: bool = False
    interrupted: bool = False
    let_go: bool = False
    report: Report | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Worker:
    """``offered`` are the operator's collections by name. Without ``takes`` it only orders and follows runs."""

    def __init__(
        self,
        database: str,
        offered: Mapping[str, Sequence[str]] | None = None,
        *,
        limits: Limits = Limits(),
        takes: bool = True,
        prepare: Prepare = prepare,
        dead_after: float | None = None,
        watched: bool = False,
    ) -> None:
        self._database = database
        self.offered = dict(offered or {})
        self._limits = limits
        self._takes = takes
        self._prepare = prepare
        self._watched = watched
        engine = connect(database)
        self.store = Store(engine)
        self.feed = Feed(self.store)
        self.keys = Keys(engine)
        self.roster = Roster(engine) if dead_after is None else Roster(engine, dead_after=dead_after)
        self._active: dict[str, _Active] = {}
        self._workflows: set[asyncio.Task[Any]] = set()
        self._stopping = threading.Event()
        self._heart = threading.Thread(target=self._live, name="heart", daemon=True)
        self._workflow: Callable[[str], Any] = _unstarted

    # -- a process's life ----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        config: DBOSConfig = {
            "name": "suffice",
            "system_database_url": self._database,
            "application_version": FORMAT,
            "executor_id": self.roster.id,
            "serializer": _Plain(),
            "log_level": "ERROR",
            "max_executor_threads": 64,
            "sys_db_pool_size": CONNECTIONS,
            "db_engine_kwargs": {"pool_timeout": PATIENCE},
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
        if not self._takes:
            DBOS.listen_queues([])
        await asyncio.to_thread(self.roster.join)
        DBOS.launch()
        await DBOS.register_queue_async(
            QUEUE,
            worker_concurrency=self._limits.worker,
            partition_concurrency=self._limits.owner,
            global_concurrency=self._limits.overall,
            polling_interval_sec=0.2,
            on_conflict="always_update",
        )
        self._heart.start()

    async def stop(self) -> None:
        """Let go of everything: runs under way go on with whoever takes them up."""
        self._stopping.set()
        self.feed.close()
        for active in self._active.values():
            if active.work is not None:
                active.work.cancel()
        if self._workflows:
            await asyncio.wait(self._workflows)
        await asyncio.to_thread(self._heart.join)
        await asyncio.to_thread(self.roster.leave)
        # In a thread of its own: it shuts down the pool that the loop's other threads come from.
        ended = threading.Thread(target=lambda: DBOS.destroy(destroy_registry=True))
        ended.start()
        while ended.is_alive():
            await asyncio.sleep(0.01)
        self._loop.set_default_executor(_fresh_pool())
        self.store.engine.dispose()

    def _live(self) -> None:
        """The heartbeat: say that we live, look after the dead, and hear who wants a run to end."""
        while not self._stopping.is_set():
            try:
                self.roster.beat()
                self._heed()
                if self._takes:
                    self.roster.sweep(self._adopt)
                    self._remember()
            except Exception:  # The database may be away for a while; the runs are not lost by it.
                log.warning("The database did not answer a heartbeat", exc_info=True)
            for _ in range(int(BEAT / 0.5)):
                if self._stopping.wait(0.5):
                    return
                with suppress(Exception):
                    self._heed()

    def _heed(self) -> None:
        for run in self.store.cancelled(list(self._active)):
            self._loop.call_soon_threadsafe(self._interrupt, run)

    def _adopt(self, worker: str) -> None:
        for found in DBOS.list_workflows(status="PENDING", executor_id=worker, load_input=False, load_output=False):
            DBOS.resume_workflow(found.workflow_id, queue_name=QUEUE)

    def _remember(self) -> None:
        for kept in self.store.forgotten(time.time() - FORGOTTEN):
            if DBOS.get_workflow_status(kept.id) is None:
                self._enqueue(kept)

    # -- orders --------------------------------------------------------------------------------------------------------

    async def order(
        self, order: Order, *, owner: str = "local", priority: str = "normal", idempotency: str | None = None
    ) -> Kept:
        """Queue a run; an order whose key its owner has used before is the run it was used for."""
        run = new_run_id()
        kept = await asyncio.to_thread(self.store.add, run, owner, order.dumps(), PRIORITIES[priority], idempotency)
        if kept.id == run:
            await asyncio.to_thread(self._enqueue, kept)
        return kept

    def _enqueue(self, kept: Kept) -> None:
        with (
            SetWorkflowID(kept.id),
            SetEnqueueOptions(priority=kept.priority, queue_partition_key=kept.owner),
        ):
            DBOS.enqueue_workflow(QUEUE, self._workflow, kept.id)

    async def cancel(self, run: str) -> Kept:
        """End a run: at once when nobody has begun it, else before its next paid call."""
        if await asyncio.to_thread(self.store.cancel, run):
            await DBOS.cancel_workflow_async(run)
            self.feed.wake(run)
        else:
            self._interrupt(run)
        return await asyncio.to_thread(self.store.run, run)

    def _interrupt(self, run: str) -> None:
        active = self._active.get(run)
        if active is not None and active.work is not None and not active.interrupted:
            active.interrupted = True
            active.work.cancel()

    async def here(self, kept: Kept, watch: Callable[[Event], None], *, again: bool) -> Report | None:
        """Work on a run in this process, without the queue. Interrupted, the run is let go of: this is the report of what was
        found, and the run itself has not ended."""
        active = self._active[kept.id] = _Active(watch=watch, alone=True)
        if again:
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
            active.let_go = True
            self._interrupt(kept.id)
            await active.done.wait()
        return active.report

    # -- work ----------------------------------------------------------------------------------------------------------

    async def _execute(self, run: str) -> str:
        """The workflow of a run: from its order to its report."""
        kept = await asyncio.to_thread(self.store.begin, run)
        if kept is None:
            return "ended"
        active = self._active.setdefault(run, _Active())
        try:
            if kept.attempts > GIVE_UP and not active.alone:
                raise SufficeError(f"Given up: the run was taken up {GIVE_UP} times and never came to an end")
            await self._work(kept, active)
        except Suspended:  # Not its fault.
            await asyncio.to_thread(self.store.spare, run)
            raise
        except SufficeError as error:
            await self._fail(run, type(error).__name__, str(error), getattr(error, "retryable", False))
        except Exception:
            log.exception("Run %s failed", run)
            await self._fail(run, "InternalError", "Something went wrong inside; the operator's log says what", False)
        finally:
            self._active.pop(run, None)
            active.done.set()
            self.feed.wake(run)
        return "done"

    async def _work(self, kept: Kept, active: _Active) -> None:
        order = orders.loads(kept.order)
        happened: asyncio.Queue[Event | None] = asyncio.Queue()
        watch = Watch(kept.id) if self._watched else None

        async def work() -> None:
            try:
                setup = await self._setup(kept, order, active)
                setup = setup if watch is None else watched(setup, watch)
                async with aclosing(stream(setup)) as events:
                    async for event in events:
                        happened.put_nowait(event)
            finally:
                happened.put_nowait(None)
                if watch is not None:
                    watch.end()

        active.work = asyncio.ensure_future(work())
        latest = await asyncio.to_thread(self.store.latest, kept.id)
        numbers, ended = Numbering(latest.seq if latest else 0), False
        while not ended:
            batch = [await happened.get()]
            while not happened.empty():
                batch.append(happened.get_nowait())
            if self._stopping.is_set():
                raise Suspended
            lines = []
            for event in batch:
                if event is None:
                    ended = True
                    break
                if isinstance(event, Finished):
                    active.report = event.report
                active.watch(event)
                if watch is not None:
                    watch.see(event)
                for number, numbered in numbers.of(event):
                    shown = record(numbered, kept.id)
                    lines.append(Line(number, shown["type"], json.dumps(plain(shown))))
            if lines and not active.let_go:
                await self.feed.append(kept.id, lines)
        try:
            await active.work
        except asyncio.CancelledError:
            if self._stopping.is_set():
                raise Suspended from None
            if not active.interrupted:
                raise
        if self._stopping.is_set() or active.let_go:
            raise Suspended
        await self._finish(kept.id, active)

    async def _setup(self, kept: Kept, order: Order, active: _Active) -> Setup:
        options = orders.searchable(order, self.offered)
        setup = replace(await self._prepare(order.task, options), run_id=kept.id)
        if not pays(setup):
            return setup

        async def stopped() -> bool:
            return active.interrupted or bool(await asyncio.to_thread(self.store.cancelled, [kept.id]))

        return durable(setup, await open_journal(kept.id, stopped=stopped, suspended=self._stopping.is_set))

    async def _finish(self, run: str, active: _Active) -> None:
        report = active.report
        status: Status = "cancelled" if report is None or report.stop.reason == "cancelled" else "done"
        text = None if report is None else dumps(report)
        await asyncio.to_thread(self.store.finish, run, status, report=text)

    async def _fail(self, run: str, kind: str, message: str, retryable: bool) -> None:
        error = json.dumps({"type": kind, "message": message, "retryable": retryable})
        await asyncio.to_thread(self.store.finish, run, "failed", error=error)


class _Plain(Serializer):
    """What is kept of steps is JSON: nothing in the database is ever executed."""

    def serialize(self, data: Any) -> str:
        return json.dumps(data, ensure_ascii=False, default=repr)

    def deserialize(self, serialized_data: str) -> Any:
        return json.loads(serialized_data)

    def name(self) -> str:
        return "suffice_json"


def _fresh_pool() -> Any:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor()


def _unstarted(run: str) -> str:
    raise AssertionError("start() comes first")
