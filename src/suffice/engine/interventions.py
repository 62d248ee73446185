"""Interventions: remedies for known failures of a search. Each works with any strategy, memory and gate (docs/sources.md).

    gap_aware           do not stop while a needed question is open, unless search is exhausted or the budget spent
    entity_grounded     reject facts about other entities
    resample            on exhaustion, search once for a follow-up not yet tried before the stop counts
    observation_filter  give the memory only passages that share words with an open question
    hypotheses          each round, also ask what would decide between rival hypotheses; weigh and show them
    leads               each round, also ask the best follow-up; it finds links between sources that a model's queries miss

An intervention wraps the strategy or the gate of a run, or says what its memory is given.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suffice.engine.hypotheses import HypothesisTester
from suffice.errors import InputError
from suffice.gates.base import Gate
from suffice.gates.diminishing_returns import exhaustion
from suffice.memory.base import MemoryFactory
from suffice.storage.findings import StoredFinding, find_near_fact
from suffice.strategies.base import PassageSelector, RunView, Strategy
from suffice.strategies.harness import MAX_QUERY_CHARS
from suffice.strategies.predicates import PredicatesStrategy, set_open_questions
from suffice.types import Query


@dataclass(frozen=True, slots=True)
class RunParts:
    """What an intervention may change."""

    strategy: Strategy
    memory: MemoryFactory
    gate: Gate | None
    grounded: bool = False
    filtered: bool = False


def apply_interventions(names: Sequence[str], parts: RunParts) -> RunParts:
    """Return the parts with these interventions applied, each once."""
    for name in dict.fromkeys(validate_interventions(names)):
        parts = _INTERVENTIONS[name](parts)
    return parts


def validate_interventions(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names as a tuple; raise ``InputError`` for an unknown one."""
    given = (names,) if isinstance(names, str) else tuple(names)
    for name in given:
        if name not in _INTERVENTIONS:
            raise InputError(f"There is no intervention {name!r}; choose one of: {', '.join(_INTERVENTIONS)}")
    return given


def make_gap_aware(parts: RunParts) -> RunParts:
    fallback = PredicatesStrategy()

    async def propose(run: RunView) -> list[Query]:
        queries = run.filter_new_queries(await parts.strategy.propose(run))
        # If the strategy is done but a question is open, ask for that question.
        return queries or (await fallback.propose(run) if run.records and run.open_questions.open else [])

    gate = None if parts.gate is None else parts.gate.gap_aware()
    return replace(_set_open_questions_first(parts, propose), gate=gate)


def resample(parts: RunParts) -> RunParts:
    # A strategy that ends by itself has no gate; the standard exhaustion gate then decides when to resample.
    trigger = exhaustion() if parts.gate is None else parts.gate

    def is_exhausted(run: RunView, rounds_back: int) -> bool:
        readings = [record.readings for record in run.records[: len(run.records) - rounds_back]]
        return bool(readings) and trigger.judge(readings, run.seed).reason == "exhausted"

    async def propose(run: RunView) -> list[Query]:
        is_first = is_exhausted(run, 0) and not is_exhausted(run, 1)
        follow_ups = run.filter_new_queries(run.propose_follow_ups(1)) if is_first else []
        return follow_ups or await parts.strategy.propose(run)

    gate = None if parts.gate is None else parts.gate.resample()
    return replace(parts, strategy=WrappedStrategy(parts.strategy, propose), gate=gate)


def add_hypothesis_tests(parts: RunParts) -> RunParts:
    tester = HypothesisTester()

    async def propose(run: RunView) -> list[Query]:
        queries = run.filter_new_queries(await parts.strategy.propose(run))
        if not run.records or not queries:  # Hypotheses need evidence, and the strategy decides when it is done.
            return queries
        return run.filter_new_queries([*queries[:1], *await tester.propose(run), *queries[1:]])

    return replace(parts, strategy=WrappedStrategy(parts.strategy, propose))


def add_follow_up(parts: RunParts) -> RunParts:
    async def propose(run: RunView) -> list[Query]:
        queries = await parts.strategy.propose(run)
        # When the strategy is done, the search is done.
        return run.filter_new_queries([*queries, *run.propose_follow_ups(1)]) if queries else []

    return replace(parts, strategy=WrappedStrategy(parts.strategy, propose))


def add_recalled_queries(parts: RunParts, findings: Sequence[StoredFinding]) -> RunParts:
    """Also search in the first round for the facts of earlier findings: only what is found again can be cited."""

    def list_facts(run: RunView) -> list[str]:
        return [fact.text for one in findings if (fact := find_near_fact(one, run.task)) is not None]

    return _add_first_queries(parts, list_facts, "found earlier, looked up again") if findings else parts


def add_skill_queries(parts: RunParts, texts: Sequence[str]) -> RunParts:
    """Also search in the first round for what the run's skills ask. The list is read then, because skills fill it late."""
    return _add_first_queries(parts, lambda _: texts, "a skill asks for it")


def _add_first_queries(parts: RunParts, find: Callable[[RunView], Sequence[str]], intent: str) -> RunParts:
    async def propose(run: RunView) -> list[Query]:
        queries = await parts.strategy.propose(run)
        texts = () if run.records else find(run)
        added = [Query(text[:MAX_QUERY_CHARS], intent) for text in texts]
        return run.filter_new_queries([*queries, *added]) if added else queries

    return replace(parts, strategy=WrappedStrategy(parts.strategy, propose))


_INTERVENTIONS: dict[str, Callable[[RunParts], RunParts]] = {
    "gap_aware": make_gap_aware,
    "entity_grounded": lambda parts: replace(_set_open_questions_first(parts), grounded=True),
    "resample": resample,
    "observation_filter": lambda parts: replace(_set_open_questions_first(parts), filtered=True),
    "hypotheses": add_hypothesis_tests,
    "leads": add_follow_up,
}
INTERVENTIONS = tuple(_INTERVENTIONS)


Propose = Callable[[RunView], Awaitable[list[Query]]]


class WrappedStrategy:
    """A strategy whose ``propose`` is replaced by a function around it; it selects passages if the strategy does."""

    def __init__(self, strategy: Strategy, propose: Propose) -> None:
        self._strategy = strategy
        self._propose = propose
        if isinstance(strategy, PassageSelector):
            self.choose = strategy.choose

    async def propose(self, run: RunView) -> list[Query]:
        return await self._propose(run)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._strategy, name)


def _set_open_questions_first(parts: RunParts, propose: Propose | None = None) -> RunParts:
    """Return the parts with a strategy that sets the open questions from the plan before the first round."""

    async def propose_with_questions(run: RunView) -> list[Query]:
        if not run.records:
            await set_open_questions(run)
        return await (propose or parts.strategy.propose)(run)

    return replace(parts, strategy=WrappedStrategy(parts.strategy, propose_with_questions))
