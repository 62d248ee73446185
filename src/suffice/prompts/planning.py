"""Prompts that decide what to search for."""

from collections.abc import Sequence
from typing import Literal

from suffice.prompts.base import Prompt, Response
from suffice.text.task_type import TaskType
from suffice.types import Note, OpenDocument, Query

MAX_OPENED = 3  # Documents that a plan or a reflection may ask to read whole.


class PlannedQuery(Response):
    query: str
    intent: str = ""


class PlanResponse(Response):
    """What to search for first, and what the task is like."""

    queries: tuple[PlannedQuery, ...]
    complexity: Literal["simple", "standard", "deep"] = "standard"
    task_type: TaskType = "research"
    expected_sections: int | None = None
    """How many items a list must have, if the task says so."""
    notes: str = ""
    """One sentence of advice for the search, which the writer does not get: small models copied it into answers as a fact.
    Where everything is read, advice for the writer."""
    subtasks: tuple[str, ...] = ()
    """Parts of the task that can be searched and written on their own."""
    form: str = ""
    """How the answer is best written: ``prose``, ``technical``, ``research`` or ``trading``; empty if the plan does not say."""
    calculates: bool | None = None
    """Whether the answer needs figures that no source states and that must be calculated; unknown if the plan does not say."""
    open: tuple[str, ...] = ()
    """Names of documents to read whole."""

    def list_queries(self) -> list[Query]:
        """Return what to ask, the documents to read first."""
        return _list_queries(self.open, self.queries)


class Plan(Prompt[PlanResponse]):
    """The first queries. ``most`` is their limit; with 0 none are asked for."""

    role = "plan"
    bounded_field = "queries"
    omits_empty = True
    truncation_order = (("files", "last"),)

    task: str
    most: int
    files: tuple[str, ...] = ()
    """The documents in scope, one line each, if they are known."""
    languages: str = ""
    """The languages of the documents, if they are not only that of the task."""
    reading: str = ""
    """Why no queries are asked for."""
    today: str = ""
    instruction: str = ""
    """What the skills of the run tell the writer."""


class KeptNote(Response):
    """A fact that the model wants the writer to have, and its source."""

    fact: str
    source: str = ""


class ReflectionResponse(Response):
    sufficient: bool
    confidence: float | None
    gaps: tuple[str, ...] = ()
    new_queries: tuple[PlannedQuery, ...] = ()
    notes: tuple[KeptNote, ...] = ()
    open: tuple[str, ...] = ()
    """Names of documents to read whole."""

    def list_queries(self) -> list[Query]:
        """Return what to ask next, the documents to read first."""
        return _list_queries(self.open, self.new_queries, "close a gap")


def _list_queries(opened: Sequence[str], queries: Sequence[PlannedQuery], intent: str = "") -> list[Query]:
    documents = (OpenDocument(name, "read it whole") for name in opened[:MAX_OPENED])
    return [*documents, *(Query(planned.query, planned.intent or intent) for planned in queries)]


class Reflect(Prompt[ReflectionResponse]):
    """Whether the evidence is enough, and what is missing.

    ``thin`` queries found little, ``leads`` are open ends, ``gaps`` were named before; ``once``: no passage comes again.
    """

    role = "reflect"
    omits_empty = True
    truncation_order = (
        *(("files", "last"), ("asked", "first"), ("leads", "last"), ("thin", "first")),
        ("notes", "first"),
    )
    bounded_field = "new_queries"

    task: str
    notes: tuple[Note, ...]
    asked: tuple[str, ...]
    thin: tuple[str, ...]
    leads: tuple[str, ...]
    most: int
    left: str = ""
    """What is left of the budget, in one line."""
    kept: tuple[str, ...] = ()
    """The notes that the model has kept so far."""
    files: tuple[str, ...] = ()
    """The documents in scope, one line each, if they are known."""
    gaps: tuple[str, ...] = ()
    once: str = ""
    max_tokens: int = 800


class ProposeQueryResponse(Response):
    """``query`` is empty when the model has nothing to search for."""

    query: str


class ProposeQuery(Prompt[ProposeQueryResponse]):
    """``part`` is the part of the task to search for; empty for all of it. ``leads`` are open ends of the evidence."""

    role = "gap"
    output_format = "line"
    temperature = 0.3
    max_tokens = 60
    truncation_order = (("asked", "first"), ("leads", "last"), ("known", "first"))

    task: str
    part: str
    known: tuple[Note, ...]
    asked: tuple[str, ...]
    leads: tuple[str, ...]
    left: str = ""


class Hypothesis(Response):
    text: str
    query: str


class HypothesesResponse(Response):
    rivals: tuple[Hypothesis, ...]


class Hypothesize(Prompt[HypothesesResponse]):
    """Rival answers, each with a query that tests it.

    ``standing`` are the hypotheses so far with their weight; ``leads`` are open ends of the evidence.
    """

    role = "hypotheses"
    bounded_field = "rivals"
    temperature = 0.3
    max_tokens = 400
    truncation_order = (("asked", "first"), ("leads", "last"), ("notes", "first"), ("standing", "last"))

    task: str
    notes: tuple[Note, ...]
    standing: tuple[Note, ...]
    asked: tuple[str, ...]
    leads: tuple[str, ...]
    most: int
