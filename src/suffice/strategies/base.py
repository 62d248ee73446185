"""The Strategy seam: what to search for next, and the view of a run that a strategy gets.

A strategy decides; it does not search, judge or write. It sees the run only through ``RunView``. Its own working state
(a chain of thoughts, steps taken) lives in the strategy object, which is made for one run.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, runtime_checkable

from suffice.memory.evidence import Evidence
from suffice.meters.base import LiveRun
from suffice.prompts.planning import PlanResponse, ProposeQuery
from suffice.state.survey import Survey
from suffice.types import Embed, Failure, Hits, Note, Passage, Query, Round, RoundRecord

_KNOWN_TOKENS = 1_000  # Tokens of memory that a query is derived from; a rolling memory fits whole.


class RunView(LiveRun, Protocol):
    """What a strategy may use of a run: this and what a meter may use (``LiveRun``); nothing else.

    Everything is read only, except that a strategy may add to ``open_questions`` and ``outline``, and may call
    ``pin_passages``, ``show_notes`` and ``record_failure``.
    """

    @property
    def seed(self) -> int:
        """The seed for everything random."""

    @property
    def embed(self) -> Embed | None:
        """The embedding model, if there is one."""

    # -- what happened so far ------------------------------------------------------------------------------------------

    @property
    def records(self) -> Sequence[RoundRecord]:
        """The rounds so far with their readings and verdicts; empty before the first round."""

    @property
    def latest_round(self) -> Round | None:
        """The last accepted round with its passages."""

    @property
    def asked_queries(self) -> Sequence[str]:
        """All queries asked so far."""

    @property
    def recent_queries(self) -> tuple[str, ...]:
        """The latest queries, as many as a prompt should list."""

    @property
    def evidence(self) -> Evidence:
        """All accepted passages."""

    def render_notes(self) -> tuple[Note, ...]:
        """Return what a prompt should show of the evidence, cut to the prompt budget."""

    @property
    def shows_history(self) -> bool:
        """Whether an agent may see its own earlier steps; not if the memory replaces them."""

    def describe_budget_left(self) -> str:
        """Say in one line how much may still be searched, for a prompt; empty without a bound."""

    @property
    def is_faithful(self) -> bool:
        """Whether an agent gets no help: only its own queries are asked, also when they repeat themselves."""

    async def plan(self) -> PlanResponse:
        """Return the plan, which is asked for once. It has at least one query."""

    # -- choosing queries ----------------------------------------------------------------------------------------------

    def filter_new_queries(self, queries: Sequence[Query]) -> list[Query]:
        """Return the queries that were not asked before, each once, and no more than the budget allows."""

    def propose_follow_ups(self, limit: int) -> list[Query]:
        """Return queries that follow what was found, best first, without asking the model."""

    # -- what a strategy may set ---------------------------------------------------------------------------------------

    @property
    def survey(self) -> Survey | None:
        """Everything in scope by relevance; ``None`` unless the run surveys it."""

    def pin_passages(self, ids: Iterable[str]) -> None:
        """Put these passages first among those that the answer is written from."""

    def show_notes(self, render: Callable[[], Sequence[Note]]) -> None:
        """Show further notes in the trace after each round. Call it once; ``render`` is called after every round."""

    def record_failure(self, failure: Failure) -> None:
        """Add a failure to the error log."""


@runtime_checkable
class Strategy(Protocol):
    async def propose(self, run: RunView) -> list[Query]:
        """Return the queries of the next round; an empty list ends the search."""


@runtime_checkable
class PassageSelector(Protocol):
    """A strategy that also selects which of the new passages enter the evidence.

    It sees as many passages of each query as a round keeps, or ``candidates_per_query`` if it has that attribute.
    """

    async def choose(self, run: RunView, unseen: Sequence[Hits]) -> list[Passage]:
        """Return the passages worth keeping, best first, out of those not seen before."""


def list_first_queries(task: str, plan: PlanResponse) -> list[Query]:
    """Return the queries of the first round: the question itself, which finds more than a plan alone, then the plan's."""
    return [Query(task, "the question itself"), *plan.list_queries()]


async def ask_for_query(run: RunView, about: str, intent: str, notes: Sequence[Note] = ()) -> list[Query]:
    """Return the model's query for what is missing, given further notes; none if it failed."""
    known = (*notes, *run.render_memory(_KNOWN_TOKENS))
    leads = tuple(query.text for query in run.propose_follow_ups(3))
    gap = await run.try_ask(ProposeQuery(run.task, about, known, run.recent_queries, leads, run.describe_budget_left()))
    return [] if gap is None else [Query(gap.query, intent)]
