"""The journal of a run: every paid call and its outcome, found again by what was asked.

A step of the workflow is looked up by content, not by position: its name is the kind of call, a digest of what was asked and
how often the same was asked before. So calls under way at the same time may finish in any order, and a run that is picked up
by a newer version repeats only what it now asks differently.

**The clock of a durable run ticks at its steps.** Each outcome carries the seconds the run had worked when it came; between
steps the clock stands still. So every decision about time is the same when the run is gone through again, and time in which
nobody worked on the run does not count.
"""

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec
from dbos import DBOS
from dbos._context import assert_current_dbos_context

from suffice import errors
from suffice.engine.pipeline import RunConfig
from suffice.errors import CutOff, SearchError, SufficeError
from suffice.models.base import Model, ModelWrapper, Reply, collect_usage, usage_listener
from suffice.prompts.base import Prompt
from suffice.search.base import PageBatch, Reader, Search
from suffice.search.resilience import FailureListener, ignore_failure, make_resilient
from suffice.types import Failure, Passage, Query, Usage

Outcome = dict[str, Any]

_ERROR_ATTRIBUTE_TYPES: dict[str, Any] = {
    "usage": Usage,
    "failures": tuple[Failure, ...],
}  # By errors, beside plain values.


class RunSuspended(BaseException):
    """The process lets go of the run; whoever picks it up goes on. No error, so nothing may record it as one."""


class Journal:
    """``stopped`` says whether somebody cancelled the run, ``suspended`` whether this process is about to end."""

    def __init__(
        self,
        recorded: Mapping[str, Outcome],
        *,
        is_cancelled: Callable[[], Awaitable[bool]],
        is_suspending: Callable[[], bool],
    ) -> None:
        self._recorded = recorded
        self._is_cancelled = is_cancelled
        self._is_suspending = is_suspending
        self._occurrences: Counter[str] = Counter()
        self._work_seconds = 0.0
        self._earlier_seconds = max((outcome["at"] for outcome in recorded.values()), default=0.0)
        self._started_at = time.monotonic()

    def clock(self) -> float:
        """Seconds of work at the last finished step."""
        return self._work_seconds

    async def step(self, kind: str, asked: Any, call: Callable[[], Awaitable[Any]]) -> Any:
        """The outcome of a call, from the journal if it was made before. Its errors are outcomes too."""
        digest = hashlib.sha256(msgspec.json.encode(asked, enc_hook=str, order="deterministic")).hexdigest()[:24]
        self._occurrences[digest] += 1
        name = f"{kind} {digest} {self._occurrences[digest]}"
        outcome = self._recorded.get(name)
        raised: BaseException | None = None
        if outcome is None:

            async def made() -> Outcome:
                nonlocal raised
                answer, raised = await self._call(call)
                return {"at": self._earlier_seconds + time.monotonic() - self._started_at, **answer}

            outcome = await DBOS.run_step_async({"name": name}, made)
        elif "cut" in outcome:
            usage_listener.get()(msgspec.convert(outcome.get("usage", {}), Usage))
        self._work_seconds = max(self._work_seconds, outcome["at"])
        if raised is not None:
            raise raised
        return _unwrap_outcome(outcome)

    async def _call(self, call: Callable[[], Awaitable[Any]]) -> tuple[Outcome, BaseException | None]:
        if self._is_suspending():
            raise RunSuspended
        if await self._is_cancelled():
            await asyncio.Event().wait()  # Whoever saw that the run was cancelled ends this wait.
        with collect_usage() as spent:
            try:
                return {"answer": await call()}, None
            except asyncio.CancelledError as cut:
                if self._is_suspending():
                    raise RunSuspended from None
                if await self._is_cancelled():
                    raise
                # The run's own time limit cut it off; the bill has to be the same when the run is gone through again.
                return {"cut": True, "usage": msgspec.to_builtins(sum(spent, Usage()))}, cut
            except Exception as error:
                return {"error": error_to_dict(error)}, error


async def open_journal(
    run: str, *, is_cancelled: Callable[[], Awaitable[bool]], is_suspending: Callable[[], bool]
) -> Journal:
    """The journal of the workflow that calls this, as far as it was written."""
    # Outside the workflow's context: within it the list itself would be a step, and remembered.
    steps = await asyncio.get_running_loop().run_in_executor(None, DBOS.list_workflow_steps, run)
    # New steps are numbered after those there are: a step is found by its name, its number says nothing.
    assert_current_dbos_context().function_id = max((step["function_id"] for step in steps), default=0)
    recorded = {step["function_name"]: step["output"] for step in steps if isinstance(step["output"], dict)}
    return Journal(recorded, is_cancelled=is_cancelled, is_suspending=is_suspending)


def error_to_dict(error: Exception) -> dict[str, Any]:
    """An error as what can be kept: its kind, its sentence and what it carries."""
    carried = msgspec.to_builtins(vars(error), enc_hook=str)
    return {"type": type(error).__name__, "message": str(error), "carried": carried}


def error_from_dict(error: dict[str, Any]) -> Exception:
    """The error again, if it is one of ours."""
    kind = getattr(errors, error["type"], None)
    if not (isinstance(kind, type) and issubclass(kind, SufficeError)):
        return RuntimeError(f"{error['type']}: {error['message']}")
    again = kind(error["message"])
    for name, value in error["carried"].items():
        setattr(again, name, msgspec.convert(value, _ERROR_ATTRIBUTE_TYPES.get(name, Any)))
    return again


def _unwrap_outcome(outcome: Outcome) -> Any:
    if "cut" in outcome:
        raise CutOff("the run's time was up before this call was answered")
    if "error" in outcome:
        raise error_from_dict(outcome["error"])
    return outcome["answer"]


A = TypeVar("A")


class DurableModel(ModelWrapper):
    """Wraps any model: an ask that was answered before a crash is not asked again."""

    def __init__(self, model: Model, journal: Journal) -> None:
        super().__init__(model)
        self._journal = journal

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        async def call() -> Any:
            return msgspec.to_builtins(await self._model(prompt))

        found = await self._journal.step(f"ask {prompt.role}", [type(prompt).__qualname__, prompt], call)
        return Reply(
            msgspec.convert(found["answer"], prompt.response_type),
            msgspec.convert(found["usage"], Usage),
            msgspec.convert(found["failures"], tuple[Failure, ...]),
        )


class DurableSearch:
    """Wraps any search: a query that was answered before a crash is not sent again. Attempts that fail and are made again
    belong to the step; ``report`` hears of them when it is over."""

    def __init__(self, search: Search, journal: Journal, report: FailureListener = ignore_failure) -> None:
        self._search = search
        self._journal = journal
        self._report = report

    def with_failure_listener(self, report: FailureListener) -> "DurableSearch":
        return DurableSearch(self._search, self._journal, report)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        async def call() -> Any:
            heard: list[Failure] = []
            try:
                found = await make_resilient(self._search, heard.append)(query, k)
            except SearchError as error:
                return msgspec.to_builtins({"heard": heard, "error": error_to_dict(error)})
            return msgspec.to_builtins({"heard": heard, "found": found})

        outcome = await self._journal.step("search", [query.text, k], call)
        for failure in msgspec.convert(outcome["heard"], list[Failure]):
            self._report(failure)
        if "error" in outcome:
            raise error_from_dict(outcome["error"])
        return msgspec.convert(outcome["found"], list[Passage])


class DurableReader:
    """Wraps any reader: pages that were read before a crash are not fetched again."""

    def __init__(self, reader: Reader, journal: Journal) -> None:
        self._reader = reader
        self._journal = journal

    async def __call__(self, found: Sequence[Passage], known: str, seconds: float | None = None) -> PageBatch:
        async def call() -> Any:
            return msgspec.to_builtins(await self._reader(found, known, seconds))

        asked = [[passage.location for passage in found], known]
        return msgspec.convert(await self._journal.step("pages", asked, call), PageBatch)

    async def aclose(self) -> None:
        await self._reader.aclose()


def make_durable(setup: RunConfig, journal: Journal) -> RunConfig:
    """The same run with its calls in the journal and its clock ticking there."""
    return replace(
        setup,
        model=DurableModel(setup.model, journal),
        search=DurableSearch(setup.search, journal),
        reader=None if setup.reader is None else DurableReader(setup.reader, journal),
        clock=journal.clock,
    )
