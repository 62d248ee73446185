"""The seams of a run whose every paid call is a step of its journal."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from suffice.asks.base import Ask
from suffice.errors import SearchError
from suffice.jobs.journal import Journal, described, restored
from suffice.models.base import Model, Reply, Wrapping
from suffice.pipeline import Setup
from suffice.search.base import PagesRead, Reader, Search
from suffice.search.resilience import Listener, nobody, surviving
from suffice.types import Failure, Passage, Query, Usage

A = TypeVar("A")


class DurableModel(Wrapping):
    """Wraps any model: an ask that was answered before a crash is not asked again."""

    def __init__(self, model: Model, journal: Journal) -> None:
        super().__init__(model)
        self._journal = journal

    async def __call__(self, ask: Ask[A]) -> Reply[A]:
        async def call() -> Any:
            return msgspec.to_builtins(await self._model(ask))

        found = await self._journal.step(f"ask {ask.role}", [type(ask).__qualname__, ask], call)
        return Reply(
            msgspec.convert(found["answer"], ask.answer),
            msgspec.convert(found["usage"], Usage),
            msgspec.convert(found["failures"], tuple[Failure, ...]),
        )


class DurableSearch:
    """Wraps any search: a query that was answered before a crash is not sent again. Attempts that fail and are made again
    belong to the step; ``report`` hears of them when it is over."""

    def __init__(self, search: Search, journal: Journal, report: Listener = nobody) -> None:
        self._search = search
        self._journal = journal
        self._report = report

    def reporting(self, report: Listener) -> "DurableSearch":
        return DurableSearch(self._search, self._journal, report)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        async def call() -> Any:
            heard: list[Failure] = []
            try:
                found = await surviving(self._search, heard.append)(query, k)
            except SearchError as error:
                return msgspec.to_builtins({"heard": heard, "error": described(error)})
            return msgspec.to_builtins({"heard": heard, "found": found})

        outcome = await self._journal.step("search", [query.text, k], call)
        for failure in msgspec.convert(outcome["heard"], list[Failure]):
            self._report(failure)
        if "error" in outcome:
            raise restored(outcome["error"])
        return msgspec.convert(outcome["found"], list[Passage])


class DurableReader:
    """Wraps any reader: pages that were read before a crash are not fetched again."""

    def __init__(self, reader: Reader, journal: Journal) -> None:
        self._reader = reader
        self._journal = journal

    async def __call__(self, found: Sequence[Passage], known: str, seconds: float | None = None) -> PagesRead:
        async def call() -> Any:
            return msgspec.to_builtins(await self._reader(found, known, seconds))

        asked = [[passage.location for passage in found], known]
        return msgspec.convert(await self._journal.step("pages", asked, call), PagesRead)

    async def aclose(self) -> None:
        await self._reader.aclose()


def durable(setup: Setup, journal: Journal) -> Setup:
    """The same run with its calls in the journal and its clock ticking there."""
    return replace(
        setup,
        model=DurableModel(setup.model, journal),
        search=DurableSearch(setup.search, journal),
        reader=None if setup.reader is None else DurableReader(setup.reader, journal),
        clock=journal.clock,
    )
