"""Interventions (S3): remedies for known failures of a search, each an option of any strategy, memory and gate.

    gap_aware           no stop while a needed question is open, unless search is exhausted or the budget spent
    entity_grounded     a finding about another entity is no finding
    resample            on exhaustion one round to a lead not yet tried, once a stagnation, before the stop counts
    observation_filter  passages that share nothing with the open questions are not given to the memory
    hypotheses          each round also asks what would tell rival hypotheses apart; what speaks for each is weighed and shown
    leads               each round also asks the best open lead: a model's own queries miss bridges that the leads see

Each wraps the parts of a run and knows them by their one method.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from suffice.errors import InputError
from suffice.gates import exhaustion
from suffice.gates.base import GapAwareGate, Gate, ResampleGate
from suffice.memory.base import Memory, MemoryContext, MemoryFactory
from suffice.memory.evidence import Evidence
from suffice.memory.open_questions import OpenQuestions
from suffice.prompts import Hypothesize
from suffice.state.hypotheses import HypothesisTracker
from suffice.state.run import RunState
from suffice.storage.findings import StoredFinding
from suffice.strategies.base import PassageSelector, Strategy
from suffice.strategies.harness import MAX_QUERY_CHARS
from suffice.strategies.predicates import PredicatesStrategy, set_predicates
from suffice.text.entities import content_stems
from suffice.types import Hits, Note, Passage, Query, Round

_MAX_HYPOTHESES = 3  # Hypotheses weighed at a time.


@dataclass(frozen=True, slots=True)
class RunParts:
    """What an intervention may change."""

    strategy: Strategy
    memory: MemoryFactory
    gate: Gate | None
    grounded: bool = False


def apply_interventions(names: Sequence[str], parts: RunParts) -> RunParts:
    """The parts with these interventions, each once."""
    for name in dict.fromkeys(validate_interventions(names)):
        parts = _INTERVENTIONS[name](parts)
    return parts


def validate_interventions(names: Sequence[str]) -> tuple[str, ...]:
    given = (names,) if isinstance(names, str) else tuple(names)
    for name in given:
        if name not in _INTERVENTIONS:
            raise InputError(f"There is no intervention {name!r}; choose one of: {', '.join(_INTERVENTIONS)}")
    return given


def make_gap_aware(parts: RunParts) -> RunParts:
    asks = PredicatesStrategy()

    async def propose(run: RunState) -> list[Query]:
        queries = run.filter_new_queries(await parts.strategy.propose(run))
        # A strategy that is done is not done while a question is open and can still be put in new words.
        return queries or (await asks.propose(run) if run.records and run.predicates.open else [])

    gate = None if parts.gate is None else GapAwareGate(parts.gate)
    return replace(_set_open_questions_first(parts, propose), gate=gate)


def ground_entities(parts: RunParts) -> RunParts:
    return replace(_set_open_questions_first(parts, parts.strategy.propose), grounded=True)


def resample(parts: RunParts) -> RunParts:
    # A strategy that ends by itself has no gate that calls the search exhausted; it is given another lead all the same.
    trigger = exhaustion() if parts.gate is None else parts.gate

    def exhausted(run: RunState, back: int) -> bool:
        past = run.readings[: len(run.readings) - back]
        return bool(past) and trigger.judge(past, run.seed).reason == "exhausted"

    async def propose(run: RunState) -> list[Query]:
        begins = exhausted(run, 0) and not exhausted(run, 1)
        leads = run.filter_new_queries(run.follow_ups.propose(1)) if begins else []
        return leads or await parts.strategy.propose(run)

    gate = None if parts.gate is None else ResampleGate(parts.gate)
    return replace(parts, strategy=_wrap_strategy(parts.strategy, propose), gate=gate)


def filter_observations(parts: RunParts) -> RunParts:
    def make(task: str, evidence: Evidence, mind: MemoryContext) -> Memory:
        return FilteredMemory(parts.memory(task, evidence, mind), mind.open_questions)

    return replace(_set_open_questions_first(parts, parts.strategy.propose), memory=make)


def add_hypothesis_tests(parts: RunParts) -> RunParts:
    async def propose(run: RunState) -> list[Query]:
        own = run.filter_new_queries(await parts.strategy.propose(run))
        if (
            not run.records or not own
        ):  # Before the first round nothing is possible yet; the finish stays the strategy's own.
            return own
        return run.filter_new_queries([*own[:1], *await _propose_tests(run), *own[1:]])

    return replace(parts, strategy=_wrap_strategy(parts.strategy, propose))


async def _propose_tests(run: RunState) -> list[Query]:
    """The queries that would tell the rivals apart: all at once where the budget allows it, else in turn."""
    rivals = run.hypotheses = run.hypotheses or HypothesisTracker(run.task)
    rivals.add_passages(run.evidence.get_passages_after(rivals.passage_count))
    leads = tuple(lead.text for lead in run.follow_ups.propose(_MAX_HYPOTHESES))
    answer = await run.try_ask(
        Hypothesize(
            run.task,
            run.render_notes(),
            rivals.render_standings(),
            tuple(run.asked_queries[-30:]),
            leads,
            _MAX_HYPOTHESES,
        )
    )
    if answer is None:
        return []
    query = {
        rival.text: Query(rival.query, f"would tell whether: {rival.text}") for rival in answer.rivals[:_MAX_HYPOTHESES]
    }
    rivals.set_hypotheses(list(query))
    able = [text for text in rivals.rank_for_testing() if run.filter_new_queries([query[text]])]
    chosen = able[: _count_affordable_tests(run)]
    for text in chosen:
        rivals.mark_asked(text)
    return [query[text] for text in chosen]


def _count_affordable_tests(run: RunState) -> int:
    """Rivals that a round may ask about, so that the rounds still to come have queries too; at least one."""
    if run.queries_left is None or run.bounds.rounds is None:
        return _MAX_HYPOTHESES
    return max(1, run.queries_left // max(1, run.bounds.rounds - len(run.records)) - 1)


def add_follow_up(parts: RunParts) -> RunParts:
    async def propose(run: RunState) -> list[Query]:
        own = await parts.strategy.propose(run)
        # The strategy's finish stays its own: when it asks nothing, nothing is asked.
        return run.filter_new_queries([*own, *run.follow_ups.propose(1)]) if own else []

    return replace(parts, strategy=_wrap_strategy(parts.strategy, propose))


class FilteredMemory:
    """A memory that is given only passages with a word of an open question in them; the record keeps them all."""

    def __init__(self, inner: Memory, predicates: OpenQuestions) -> None:
        self._inner = inner
        self._predicates = predicates

    async def update(self, round: Round) -> None:
        wanted = frozenset[str]().union(*(content_stems(question) for question in self._predicates.open))
        if wanted:
            raw, new = (tuple(p for p in some if _shares_stems(p, wanted)) for some in (round.raw, round.new))
            round = replace(round, raw=raw, new=new)
        await self._inner.update(round)

    def render(self, budget: int) -> tuple[Note, ...]:
        return self._inner.render(budget)


def _shares_stems(passage: Passage, wanted: frozenset[str]) -> bool:
    return not wanted.isdisjoint(content_stems(f"{passage.title} {passage.text}"))


def add_recalled_queries(parts: RunParts, findings: Sequence[StoredFinding]) -> RunParts:
    """The first round also asks for what the best earlier findings rest on: only what is found again can be cited."""

    async def propose(run: RunState) -> list[Query]:
        own = await parts.strategy.propose(run)
        if run.records or not own:
            return own
        aim = content_stems(run.task)
        facts = [max(known.facts, key=lambda fact: len(aim & content_stems(fact.text))) for known in findings]
        return run.filter_new_queries(
            [*own, *(Query(fact.text[:MAX_QUERY_CHARS], "found earlier, looked up again") for fact in facts)]
        )

    return replace(parts, strategy=_wrap_strategy(parts.strategy, propose)) if findings else parts


Propose = Callable[[RunState], Awaitable[list[Query]]]


class WrappedStrategy:
    """A strategy whose proposals are made by a function around it."""

    def __init__(self, propose: Propose) -> None:
        self._propose = propose

    async def propose(self, run: RunState) -> list[Query]:
        return await self._propose(run)


class WrappedSelectingStrategy(WrappedStrategy):
    """The same around a strategy that also chooses passages."""

    def __init__(self, propose: Propose, chooser: PassageSelector) -> None:
        super().__init__(propose)
        self._selector = chooser

    async def choose(self, run: RunState, unseen: Sequence[Hits]) -> list[Passage]:
        return await self._selector.choose(run, unseen)


def _wrap_strategy(inner: Strategy, propose: Propose) -> Strategy:
    return WrappedSelectingStrategy(propose, inner) if isinstance(inner, PassageSelector) else WrappedStrategy(propose)


def _set_open_questions_first(parts: RunParts, propose: Propose) -> RunParts:
    """A run whose open questions are set from the plan, whatever its strategy."""

    async def first(run: RunState) -> list[Query]:
        if not run.records:
            await set_predicates(run)
        return await propose(run)

    return replace(parts, strategy=_wrap_strategy(parts.strategy, first))


_INTERVENTIONS: dict[str, Callable[[RunParts], RunParts]] = {
    "gap_aware": make_gap_aware,
    "entity_grounded": ground_entities,
    "resample": resample,
    "observation_filter": filter_observations,
    "hypotheses": add_hypothesis_tests,
    "leads": add_follow_up,
}
INTERVENTIONS = tuple(_INTERVENTIONS)
