"""The journal of a run: the outcome of every paid call, so that a resumed run does not pay for a call again.

A step is found by content, not by position: its name is the kind of call, a digest of its arguments and how often the same
call occurred before. Concurrent calls may therefore finish in any order, and a newer version that resumes a run repeats only
the calls it now makes differently.

**The clock of a durable run advances at its steps only.** Each outcome carries the seconds of work at the time it arrived.
Decisions about time are therefore the same when the run is resumed, and the time between two attempts does not count.
"""

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import msgspec
from dbos import DBOS
from dbos._context import assert_current_dbos_context

from suffice import errors
from suffice.engine.config import RunConfig
from suffice.errors import CutOff, SearchError, SufficeError
from suffice.models.base import Model, ModelWrapper, Reply, collect_usage, usage_listener
from suffice.prompts.base import Prompt
from suffice.search.base import PageBatch, Reader, Search
from suffice.search.resilience import FailureListener, ignore_failure, make_resilient
from suffice.types import Failure, Passage, Query, Usage

A = TypeVar("A")
Outcome = dict[str, Any]
"""What is stored of a step: ``at`` and one of ``answer``, ``error`` or ``cut`` (with ``usage``)."""

# Types of the attributes of errors that are not plain values.
_ERROR_ATTRIBUTE_TYPES: dict[str, Any] = {"usage": Usage, "failures": tuple[Failure, ...]}


class RunSuspended(BaseException):
    """The process gives up a run, and another one resumes it. Not an ``Exception``, so that no handler records it."""


@dataclass
class Journal:
    """The steps of one run.

    ``is_cancelled`` says whether the end of the run was requested, ``is_suspending`` whether this process is shutting down.
    """

    recorded: Mapping[str, Outcome]
    is_cancelled: Callable[[], Awaitable[bool]]
    is_suspending: Callable[[], bool]
    _occurrences: Counter[str] = field(default_factory=Counter)
    _work_seconds: float = 0.0
    _started_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._earlier_seconds = max((outcome["at"] for outcome in self.recorded.values()), default=0.0)

    def clock(self) -> float:
        """Return the seconds of work up to the last finished step."""
        return self._work_seconds

    async def step(self, kind: str, arguments: Any, call: Callable[[], Awaitable[Any]]) -> Any:
        """Return the answer of a call, or raise its error. A recorded call is not made again."""
        digest = hashlib.sha256(msgspec.json.encode(arguments, enc_hook=str, order="deterministic")).hexdigest()[:24]
        self._occurrences[digest] += 1
        name = f"{kind} {digest} {self._occurrences[digest]}"
        outcome = self.recorded.get(name)
        raised: BaseException | None = None
        if outcome is None:

            async def make_call() -> Outcome:
                nonlocal raised
                result, raised = await self._call(call)
                return {"at": self._earlier_seconds + time.monotonic() - self._started_at, **result}

            outcome = await DBOS.run_step_async({"name": name}, make_call)
        elif "cut" in outcome:
            usage_listener.get()(msgspec.convert(outcome.get("usage", {}), Usage))
        self._work_seconds = max(self._work_seconds, outcome["at"])
        if raised is not None:
            raise raised
        if "cut" in outcome:
            raise CutOff("The run's time limit ended this call")
        if "error" in outcome:
            raise error_from_dict(outcome["error"])
        return outcome["answer"]

    async def _call(self, call: Callable[[], Awaitable[Any]]) -> tuple[Outcome, BaseException | None]:
        if self.is_suspending():
            raise RunSuspended
        if await self.is_cancelled():
            await asyncio.Event().wait()  # The worker cancels this wait when it handles the cancellation.
        with collect_usage() as usages:
            try:
                return {"answer": await call()}, None
            except asyncio.CancelledError as error:
                if self.is_suspending():
                    raise RunSuspended from None
                if await self.is_cancelled():
                    raise
                # The run's time limit cut the call off. Its usage is recorded so that a resumed run counts the same.
                return {"cut": True, "usage": msgspec.to_builtins(sum(usages, Usage()))}, error
            except Exception as error:
                return {"error": error_to_dict(error)}, error


async def open_journal(
    run_id: str, *, is_cancelled: Callable[[], Awaitable[bool]], is_suspending: Callable[[], bool]
) -> Journal:
    """Open the journal of the current workflow with all steps recorded so far."""
    # Listing runs in another thread, outside the workflow's context; inside, dbos would record the list as a step.
    steps = await asyncio.get_running_loop().run_in_executor(None, DBOS.list_workflow_steps, run_id)
    # New steps are numbered after the recorded ones. Steps are found by name, so the numbers only have to be unique.
    assert_current_dbos_context().function_id = max((step["function_id"] for step in steps), default=0)
    recorded = {step["function_name"]: step["output"] for step in steps if isinstance(step["output"], dict)}
    return Journal(recorded, is_cancelled=is_cancelled, is_suspending=is_suspending)


def make_durable(config: RunConfig, journal: Journal) -> RunConfig:
    """Return the same run with its calls recorded in the journal and the journal's clock."""
    return replace(
        config,
        model=DurableModel(config.model, journal),
        search=DurableSearch(config.search, journal),
        page_reader=None if config.page_reader is None else DurableReader(config.page_reader, journal),
        clock=journal.clock,
    )


class DurableModel(ModelWrapper):
    """Wraps a model. A prompt that was answered before a crash is not sent again."""

    def __init__(self, model: Model, journal: Journal) -> None:
        super().__init__(model)
        self._journal = journal

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        async def call() -> Any:
            return msgspec.to_builtins(await self.wrapped(prompt))

        reply = await self._journal.step(f"ask {prompt.role}", [type(prompt).__qualname__, prompt], call)
        kind: Any = prompt.response_type
        return Reply(
            msgspec.convert(reply["answer"], kind | None),
            msgspec.convert(reply["usage"], Usage),
            msgspec.convert(reply["failures"], tuple[Failure, ...]),
        )


class DurableSearch:
    """Wraps a search. A query that was answered before a crash is not sent again.

    Failed attempts belong to the step; ``on_failure`` receives them when the step is over.
    """

    def __init__(self, search: Search, journal: Journal, on_failure: FailureListener = ignore_failure) -> None:
        self._search = search
        self._journal = journal
        self._on_failure = on_failure

    def with_failure_listener(self, on_failure: FailureListener) -> "DurableSearch":
        return DurableSearch(self._search, self._journal, on_failure)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        async def call() -> Any:  # The keys of its result are stored: "heard" are the failed attempts.
            failures: list[Failure] = []
            try:
                found = await make_resilient(self._search, failures.append)(query, k)
            except SearchError as error:
                return msgspec.to_builtins({"heard": failures, "error": error_to_dict(error)})
            return msgspec.to_builtins({"heard": failures, "found": found})

        outcome = await self._journal.step("search", [query.text, k], call)
        for failure in msgspec.convert(outcome["heard"], list[Failure]):
            self._on_failure(failure)
        if "error" in outcome:
            raise error_from_dict(outcome["error"])
        return msgspec.convert(outcome["found"], list[Passage])


class DurableReader:
    """Wraps a page reader. Pages that were read before a crash are not fetched again."""

    def __init__(self, reader: Reader, journal: Journal) -> None:
        self._reader = reader
        self._journal = journal

    async def __call__(self, found: Sequence[Passage], known: str, seconds: float | None = None) -> PageBatch:
        async def call() -> Any:
            return msgspec.to_builtins(await self._reader(found, known, seconds))

        arguments = [[passage.location for passage in found], known]
        return msgspec.convert(await self._journal.step("pages", arguments, call), PageBatch)

    async def aclose(self) -> None:
        await self._reader.aclose()


def error_to_dict(error: Exception) -> dict[str, Any]:
    """Return an error as plain data: its type, message and attributes."""
    attributes = msgspec.to_builtins(vars(error), enc_hook=str)
    return {"type": type(error).__name__, "message": str(error), "carried": attributes}


def error_from_dict(data: Mapping[str, Any]) -> Exception:
    """Restore an error of suffice; any other error becomes a ``RuntimeError``."""
    error_class = find_error_class(data["type"])
    if error_class is None:
        return RuntimeError(f"{data['type']}: {data['message']}")
    error = error_class(data["message"])
    for name, value in data["carried"].items():
        setattr(error, name, msgspec.convert(value, _ERROR_ATTRIBUTE_TYPES.get(name, Any)))
    return error


def find_error_class(name: str) -> type[SufficeError] | None:
    found = getattr(errors, name, None)
    return found if isinstance(found, type) and issubclass(found, SufficeError) else None
