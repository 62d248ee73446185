"""The seams of a run whose every paid call is a step of its journal."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from suffice.asks.base import Prompt
from suffice.errors import SearchError
from suffice.jobs.journal import Journal, error_from_dict, error_to_dict
from suffice.models.base import Model, ModelWrapper, Reply
from suffice.pipeline import RunConfig
from suffice.search.base import PageBatch, Reader, Search
from suffice.search.resilience import FailureListener, ignore_failure, make_resilient
from suffice.types import Failure, Passage, Query, Usage

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
