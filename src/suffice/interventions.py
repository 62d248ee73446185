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

from suffice.asks import Hypothesize
from suffice.errors import InputError
from suffice.gates import exhaustion
from suffice.gates.base import Gate
from suffice.gates.held import GapAware, Resample
from suffice.memory.base import Memory, MemoryFactory, Mind
from suffice.memory.evidence import Evidence
from suffice.memory.predicates import Predicates
from suffice.memory.store import Remembered
from suffice.rivals import Rivals
from suffice.run import Run
from suffice.strategies.base import Choosing, Strategy
from suffice.strategies.harness import LONGEST_QUERY
from suffice.strategies.predicates import PredicatesStrategy, set_predicates
from suffice.text.entities import content_stems
from suffice.types import Hits, Note, Passage, Query, Round

_RIVALS = 3  # Hypotheses weighed at a time.


@dataclass(frozen=True, slots=True)
class Parts:
    """What an intervention may change."""

    strategy: Strategy
    memory: MemoryFactory
    gate: Gate | None
    grounded: bool = False


def intervened(names: Sequence[str], parts: Parts) -> Parts:
    """The parts with these interventions, each once."""
    for name in dict.fromkeys(checked(names)):
        parts = _INTERVENTIONS[name](parts)
    return parts


def checked(names: Sequence[str]) -> tuple[str, ...]:
    given = (names,) if isinstance(names, str) else tuple(names)
    for name in given:
        if name not in _INTERVENTIONS:
            raise InputError(f"There is no intervention {name!r}; choose one of: {', '.join(_INTERVENTIONS)}")
    return given


def gap_aware(parts: Parts) -> Parts:
    asks = PredicatesStrategy()

    async def propose(run: Run) -> list[Query]:
        queries = run.fresh(await parts.strategy.propose(run))
        # A strategy that is done is not done while a question is open and can still be put in new words.
        return queries or (await asks.propose(run) if run.records and run.predicates.open else [])

    gate = None if parts.gate is None else GapAware(parts.gate)
    return replace(_asking(parts, propose), gate=gate)


def entity_grounded(parts: Parts) -> Parts:
    return replace(_asking(parts, parts.strategy.propose), grounded=True)


def resample(parts: Parts) -> Parts:
    # A strategy that ends by itself has no gate that calls the search exhausted; it is given another lead all the same.
    trigger = exhaustion() if parts.gate is None else parts.gate

    def exhausted(run: Run, back: int) -> bool:
        past = run.readings[: len(run.readings) - back]
        return bool(past) and trigger.judge(past, run.seed).reason == "exhausted"

    async def propose(run: Run) -> list[Query]:
        begins = exhausted(run, 0) and not exhausted(run, 1)
        leads = run.fresh(run.leads.propose(1)) if begins else []
        return leads or await parts.strategy.propose(run)

    gate = None if parts.gate is None else Resample(parts.gate)
    return replace(parts, strategy=_around(parts.strategy, propose), gate=gate)


def observation_filter(parts: Parts) -> Parts:
    def make(task: str, evidence: Evidence, mind: Mind) -> Memory:
        return Filtered(parts.memory(task, evidence, mind), mind.predicates)

    return replace(_asking(parts, parts.strategy.propose), memory=make)


def hypotheses(parts: Parts) -> Parts:
    async def propose(run: Run) -> list[Query]:
        own = run.fresh(await parts.strategy.propose(run))
        if (
            not run.records or not own
        ):  # Before the first round nothing is possible yet; the finish stays the strategy's own.
            return own
        return run.fresh([*own[:1], *await _tests(run), *own[1:]])

    return replace(parts, strategy=_around(parts.strategy, propose))


async def _tests(run: Run) -> list[Query]:
    """The queries that would tell the rivals apart: all at once where the budget allows it, else in turn."""
    rivals = run.rivals = run.rivals or Rivals(run.task)
    rivals.read(run.evidence.since(rivals.taken))
    leads = tuple(lead.text for lead in run.leads.propose(_RIVALS))
    answer = await run.attempt(
        Hypothesize(run.task, run.notes(), rivals.standing(), tuple(run.asked[-30:]), leads, _RIVALS)
    )
    if answer is None:
        return []
    query = {rival.text: Query(rival.query, f"would tell whether: {rival.text}") for rival in answer.rivals[:_RIVALS]}
    rivals.consider(list(query))
    able = [text for text in rivals.next() if run.fresh([query[text]])]
    chosen = able[: _affordable(run)]
    for text in chosen:
        rivals.tried(text)
    return [query[text] for text in chosen]


def _affordable(run: Run) -> int:
    """Rivals that a round may ask about, so that the rounds still to come have queries too; at least one."""
    if run.queries_left is None or run.bounds.rounds is None:
        return _RIVALS
    return max(1, run.queries_left // max(1, run.bounds.rounds - len(run.records)) - 1)


def leads(parts: Parts) -> Parts:
    async def propose(run: Run) -> list[Query]:
        own = await parts.strategy.propose(run)
        # The strategy's finish stays its own: when it asks nothing, nothing is asked.
        return run.fresh([*own, *run.leads.propose(1)]) if own else []

    return replace(parts, strategy=_around(parts.strategy, propose))


class Filtered:
    """A memory that is given only passages with a word of an open question in them; the record keeps them all."""

    def __init__(self, inner: Memory, predicates: Predicates) -> None:
        self._inner = inner
        self._predicates = predicates

    async def update(self, round: Round) -> None:
        wanted = frozenset[str]().union(*(content_stems(question) for question in self._predicates.open))
        if wanted:
            raw, new = (tuple(p for p in some if _shares(p, wanted)) for some in (round.raw, round.new))
            round = replace(round, raw=raw, new=new)
        await self._inner.update(round)

    def render(self, budget: int) -> tuple[Note, ...]:
        return self._inner.render(budget)


def _shares(passage: Passage, wanted: frozenset[str]) -> bool:
    return not wanted.isdisjoint(content_stems(f"{passage.title} {passage.text}"))


def recalling(parts: Parts, findings: Sequence[Remembered]) -> Parts:
    """The first round also asks for what the best earlier findings rest on: only what is found again can be cited."""

    async def propose(run: Run) -> list[Query]:
        own = await parts.strategy.propose(run)
        if run.records or not own:
            return own
        aim = content_stems(run.task)
        facts = [max(known.facts, key=lambda fact: len(aim & content_stems(fact.text))) for known in findings]
        return run.fresh(
            [*own, *(Query(fact.text[:LONGEST_QUERY], "found earlier, looked up again") for fact in facts)]
        )

    return replace(parts, strategy=_around(parts.strategy, propose)) if findings else parts


Propose = Callable[[Run], Awaitable[list[Query]]]


class Around:
    """A strategy whose proposals are made by a function around it."""

    def __init__(self, propose: Propose) -> None:
        self._propose = propose

    async def propose(self, run: Run) -> list[Query]:
        return await self._propose(run)


class AroundChoosing(Around):
    """The same around a strategy that also chooses passages."""

    def __init__(self, propose: Propose, chooser: Choosing) -> None:
        super().__init__(propose)
        self._chooser = chooser

    async def choose(self, run: Run, unseen: Sequence[Hits]) -> list[Passage]:
        return await self._chooser.choose(run, unseen)


def _around(inner: Strategy, propose: Propose) -> Strategy:
    return AroundChoosing(propose, inner) if isinstance(inner, Choosing) else Around(propose)


def _asking(parts: Parts, propose: Propose) -> Parts:
    """A run whose open questions are set from the plan, whatever its strategy."""

    async def first(run: Run) -> list[Query]:
        if not run.records:
            await set_predicates(run)
        return await propose(run)

    return replace(parts, strategy=_around(parts.strategy, first))


_INTERVENTIONS: dict[str, Callable[[Parts], Parts]] = {
    "gap_aware": gap_aware,
    "entity_grounded": entity_grounded,
    "resample": resample,
    "observation_filter": observation_filter,
    "hypotheses": hypotheses,
    "leads": leads,
}
INTERVENTIONS = tuple(_INTERVENTIONS)
