"""The state of one run: what was asked, found, spent and believed so far.

Everything is appended to, nothing is recomputed: a step costs O(what is new). The loop drives it, strategies read it.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from suffice.asks import Ask, Judge, Novelty, Plan, PlannedQuery, PlanResponse, Reflect, ReflectionResponse
from suffice.asks.fitted import fitted
from suffice.errors import ModelError
from suffice.events import Compacted, Event, Failed
from suffice.happenings import Happenings, overheard
from suffice.leads import Embed, Leads
from suffice.memory.base import MemoryFactory, Mind, Restorable
from suffice.memory.evidence import Evidence
from suffice.memory.extraction import settle
from suffice.memory.predicates import Predicates
from suffice.models.base import Model
from suffice.models.counted import Counted
from suffice.outline import Outline
from suffice.rivals import Rivals
from suffice.search.base import Reader
from suffice.search.breaker import Tally
from suffice.search.deepening import deepened
from suffice.text.tokens import estimate_tokens, words
from suffice.types import Bounds, Earlier, Failure, Note, Passage, Query, Readings, Round, RoundRecord

A = TypeVar("A")

PLAN_QUERIES = 6  # A plan has three to six queries (S1).
GAP_QUERIES = 3  # What a reflection may ask for at most.
THIN = 3  # A query that succeeded with fewer results than this is thin: it is put differently, not repeated (S1).
STATE_TOKENS = 50_000  # A prompt never carries more evidence than this; older evidence goes in as summaries (S1).
LAST_WORD = 4_000  # A prompt may hold this much although the run's tokens are spent: an answer is still written.
LOW_BUDGET = 0.25  # With less than this share of the token budget left, evidence is compacted harder (S1).
SNIPPET = 800  # Characters of a result that a novelty or exhaustion judge sees (S2).
SHOWN = 400  # Characters of a note that a trace shows of the belief after a round …
SHOWN_TOKENS = 1_000  # … and tokens of all of them.
DOUBTS = {"conservative": "In doubt, answer PRODUCTIVE.", "neutral": ""}
VERDICTS = {"PRODUCTIVE": 0.0, "QUERY_STALE": 0.5, "EXHAUSTED": 1.0}


# A search that the run's own time limit cut off: it did not fail, so the breaker does not count it.
LATE = Failure("search", "TimeoutError", "the run's time was up before the search answered")


class Run:
    def __init__(
        self,
        task: str,
        model: Model,
        memory: MemoryFactory,
        *,
        run_id: str,
        bounds: Bounds = Bounds(),
        seed: int = 0,
        grounded: bool = False,
        embed: Embed | None = None,
        reader: Reader | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.id = run_id
        self.task = task
        self.model = Counted(model)
        self.bounds = bounds
        self.seed = seed
        self.evidence = Evidence()
        self.predicates = Predicates()
        self.mind = Mind(self.attempt, self.predicates, self.refuse, grounded)
        self.memory = memory(task, self.evidence, self.mind)
        self.embed = embed
        self.reader = reader
        self.leads = Leads(task, embed)
        self.outline: Outline | None = None
        self.rivals: Rivals | None = None
        self.planned: PlanResponse | None = None  # A strategy may do without one.
        self.records: list[RoundRecord] = []
        self.readings: list[Readings] = []
        self.asked: list[str] = []
        self.thin: list[str] = []
        self.error_log: list[Failure] = []
        self.reflection: ReflectionResponse | None = None
        self.latest: Round | None = None  # The round admitted last.
        self.pinned: set[str] = set()  # Passages that go before the writer first.
        self.searches = 0
        self._answered = 0
        self.quoted = False  # The sources' own words had to stand for a model's.
        self.pages_read = 0
        self._admitted = 0
        self._admitted_tokens = 0
        self._reflected = -1
        self._thin_open: list[str] = []
        self._asked_keys: set[tuple[str, ...]] = set()
        self._tally = Tally()  # Of the searches whose outcome is known.
        self.happenings = Happenings()
        self._tokens_told = 0
        self._clock = clock
        self._began = clock()

    # -- time and money ------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        return self._clock() - self._began

    @property
    def seconds_left(self) -> float | None:
        return None if self.bounds.seconds is None else max(0.0, self.bounds.seconds - self.seconds)

    @property
    def tokens(self) -> int:
        return self.model.total.input_tokens + self.model.total.output_tokens

    def tokens_since_last(self) -> int:
        """What was spent since this was last asked: a round's own tokens."""
        spent, self._tokens_told = self.tokens - self._tokens_told, self.tokens
        return spent

    def spend(self) -> dict[str, float | None]:
        return {
            "spend.rounds": float(len(self.readings)),
            "spend.queries": float(len(self.asked)),
            "spend.sources": float(len(self.evidence)),
            "spend.tokens": float(self.tokens),
            "spend.seconds": round(self.seconds, 3),
            "spend.usd": self.model.total.usd,
        }

    def believed(self) -> tuple[Note, ...]:
        """The belief as a trace shows it: short, whatever the memory; rival hypotheses with their weight come first."""
        standing: tuple[Note, ...] = ()
        if self.rivals is not None:
            self.rivals.read(self.evidence.since(self.rivals.taken))
            standing = self.rivals.standing()
        return tuple(replace(note, text=note.text[:SHOWN]) for note in (*standing, *self.memory.render(SHOWN_TOKENS)))

    # -- asking the model ----------------------------------------------------------------------------------------------

    async def ask(self, ask: Ask[A]) -> A:
        """The answer to an ask whose prompt is cut to what may be read; a cut is recorded, never silent."""
        room, why = self.room(ask.max_tokens)
        fit = fitted(ask, room)
        if self.model.context is not None and fit.tokens > self.model.context - ask.max_tokens:
            raise ModelError(
                f"What has to stand in the prompt for {ask.role!r} takes about {fit.tokens:,} tokens and {self.model.name} "
                f"reads {self.model.context:,}; choose a model that reads more, or shorten the question"
            )
        if fit.shortened:
            self.happenings.add(Compacted(f"the prompt for {ask.role!r} was too long: {why}", fit.whole, fit.shortened))
        try:
            with overheard(fit.ask, self.happenings.add):
                reply = await self.model(fit.ask)
        except ModelError as error:
            for failure in error.failures:
                self.fail(failure)
            raise
        for failure in reply.failures:
            self.fail(failure)
        return reply.answer

    def room(self, answer: int) -> tuple[int, str]:
        """Tokens that a prompt may hold when its answer may take so many, and what sets that limit."""
        room, why = self._read(answer)
        if self.bounds.tokens is not None:
            left = max(0, self.bounds.tokens - self.tokens)
            if max(left - answer, LAST_WORD) < room:
                room, why = max(left - answer, LAST_WORD), f"{left} of {self.bounds.tokens} tokens are left"
        return room, why

    def _read(self, answer: int) -> tuple[int, str]:
        """What the model reads beside an answer of that length; a model that does not say gets a usual state's worth."""
        if self.model.context is None:
            return STATE_TOKENS, f"the evidence is over {STATE_TOKENS} tokens"
        return self.model.context - answer, f"the model reads {self.model.context} tokens"

    async def plan(self) -> PlanResponse:
        """The model's plan, asked once; the task itself as the only query when there is none."""
        if self.planned is None:
            most = min(PLAN_QUERIES, self.queries_left or PLAN_QUERIES)
            self.planned = await self.attempt(Plan(self.task, most)) or PlanResponse(())
            if not self.planned.queries:
                self.planned = replace(self.planned, queries=(PlannedQuery(self.task, "the task itself"),))
        return self.planned

    async def reflect(self) -> ReflectionResponse | None:
        """The model's reflection on the rounds so far, asked once a round; ``None`` when it could not be had."""
        if self._reflected != self._admitted:
            self._reflected = self._admitted
            thin, self._thin_open = tuple(self._thin_open), []
            most = min(GAP_QUERIES, self.queries_left or GAP_QUERIES)
            leads = tuple(lead.text for lead in self.leads.propose(most))
            self.reflection = await self.attempt(
                Reflect(self.task, self.notes(), tuple(self.asked[-30:]), thin, leads, most)
            )
            if self.reflection is None:
                self._thin_open = [*thin, *self._thin_open]  # They still want to be put differently.
        return self.reflection

    async def asked_before(self, round: Round, needs: frozenset[str]) -> dict[str, float | None]:
        """Readings of a round that cost a model call, before it may change the belief; only what a gate needs."""
        if "novelty.model" not in needs:
            return {}
        known = tuple(replace(note, text=note.text[:SNIPPET]) for note in self.memory.render(SNIPPET))
        answer = await self.attempt(Novelty(self.task, known, _snippets(round)))
        score = None if answer is None else answer.score
        return {"novelty.model": float(score) if score is not None and 0 <= score <= 10 else None}

    async def asked_after(self, round: Round, needs: frozenset[str]) -> dict[str, float | None]:
        """The same for readings taken after the round was accepted."""
        readings: dict[str, float | None] = {}
        if not needs.isdisjoint(("sufficiency.model", "confidence.answer")):
            reflection = await self.reflect()
            readings["sufficiency.model"] = None if reflection is None else float(reflection.sufficient)
            readings["confidence.answer"] = None if reflection is None else reflection.confidence
        for style, doubt in DOUBTS.items():
            if f"judged.{style}" in needs:
                answer = await self.attempt(Judge(self.task, doubt, tuple(self.asked[-10:]), _snippets(round)))
                readings[f"judged.{style}"] = None if answer is None else VERDICTS.get(answer.verdict)
        return readings

    async def attempt(self, ask: Ask[A]) -> A | None:
        """The answer, or ``None`` and an entry in the error log."""
        try:
            return await self.ask(ask)
        except ModelError as error:
            self.fail(Failure(ask.role, type(error).__name__, str(error), error.retryable))
            return None

    def notes(self) -> tuple[Note, ...]:
        """What the model is shown of the evidence, within the budget; compaction is recorded, never silent."""
        budget, why = min((STATE_TOKENS, f"the evidence is over {STATE_TOKENS} tokens"), self._read(0))
        if self.bounds.tokens is not None:
            left = max(0, self.bounds.tokens - self.tokens)
            if left < LOW_BUDGET * self.bounds.tokens:
                budget, why = min(budget, max(left // 2, 200)), f"{left} of {self.bounds.tokens} tokens are left"
        if self._admitted_tokens <= budget:
            why = "the memory keeps less than it has seen"
        notes = self.memory.render(budget)
        self.shortened(why, sum(note.whole for note in notes))
        return notes

    def shortened(self, why: str, whole: int) -> None:
        """Book that a prompt holds fewer passages whole than there are."""
        if whole < len(self.evidence):
            self.happenings.add(Compacted(why, whole, len(self.evidence) - whole))

    # -- searching -----------------------------------------------------------------------------------------------------

    @property
    def queries_left(self) -> int | None:
        return None if self.bounds.queries is None else max(0, self.bounds.queries - len(self.asked))

    def fresh(self, queries: Sequence[Query]) -> list[Query]:
        """The queries that were not asked before, each once, and no more than may still be asked."""
        chosen: dict[tuple[str, ...], Query] = {}
        for query in queries:
            key = tuple(words(query.text))
            if key and key not in self._asked_keys:
                chosen.setdefault(key, query)
        return list(chosen.values())[: self.queries_left]

    def fail(self, failure: Failure) -> None:
        self.error_log.append(failure)
        self.happenings.add(Failed(failure))

    def refuse(self, what: str) -> None:
        """Record what the belief did not take in, and why."""
        self.fail(Failure("belief", "Refused", what))

    def searched(self, round: Round) -> None:
        """Book a round's searches: queries asked, thin and failed ones, and the breaker's counts."""
        for hits in round.hits:
            self.asked.append(hits.query.text)
            self._asked_keys.add(tuple(words(hits.query.text)))
            self.searches += 1
            if hits.failure is not None:
                self.fail(hits.failure)
                if hits.failure is not LATE:
                    self._tally.count(failed=True)
                continue
            self._tally.count(failed=False)
            self._answered += 1
            if len(hits.passages) < THIN:
                self.thin.append(hits.query.text)
                self._thin_open.append(hits.query.text)
        self.leads.asked(round.queries)

    @property
    def unanswered(self) -> bool:
        """No search came back, failed or late: that nothing was found says nothing."""
        return self.searches > 0 and not self._answered

    @property
    def degraded(self) -> bool:
        """The breaker: search has failed too often to be relied on."""
        return self._tally.too_many

    async def resume(self, earlier: Earlier) -> None:
        """Begin where an earlier run ended: its evidence as a round before the first, its facts, no query of it again."""
        self._asked_keys |= {tuple(words(query)) for query in earlier.asked}
        self.leads.asked(earlier.asked)
        self._record(earlier.evidence)
        await self._lead(earlier.evidence)
        if earlier.belief and isinstance(self.memory, Restorable):
            self.memory.restore(earlier.belief)
        else:
            await self.memory.update(Round(0, (), earlier.evidence, earlier.evidence))

    async def admit(self, round: Round) -> Round:
        """Take an accepted round into the record, the leads and the belief; the round with the pages behind its results."""
        self._admitted += 1
        self._record(round.new)
        pages, _ = await asyncio.gather(self._pages(round), self._lead(round.new))
        self._record(pages)
        await self._lead(pages)
        self.latest = round = replace(round, new=(*round.new, *pages))
        try:
            async with asyncio.timeout(self.seconds_left):
                await self.memory.update(round)
                if self.predicates.open and self.predicates.judged != round.index:
                    await settle(round, self.task, self.evidence, self.mind)
        except TimeoutError:
            self.refuse(f"the time was up before round {round.index} was read; the belief stays as it was")
        return round

    def _record(self, passages: Sequence[Passage]) -> None:
        for passage in passages:
            self.evidence.add(passage)
        self._admitted_tokens += sum(estimate_tokens(f"{passage.title}{passage.text}") + 4 for passage in passages)

    async def _lead(self, passages: Sequence[Passage]) -> None:
        if self.leads.embeds:  # Embedding is work for a thread; without it a hop there would cost more than it saves.
            await asyncio.to_thread(self.leads.add, passages)
        else:
            self.leads.add(passages)

    async def _pages(self, round: Round) -> tuple[Passage, ...]:
        """Passages of whole pages behind the results; an enumerated task is left to its snippets (S2)."""
        if self.reader is None or (self.planned is not None and self.planned.task_type == "enumerated"):
            return ()
        known = self.memory.render(STATE_TOKENS)
        pages, count = await deepened(self.reader, round, known, self.seconds_left, self.happenings.add, self.fail)
        self.pages_read += count
        return tuple(passage for passage in pages if passage.id not in self.evidence)

    # -- reporting -----------------------------------------------------------------------------------------------------

    def events(self) -> list[Event]:
        """What has happened inside since the last call."""
        return self.happenings.take()

    @property
    def task_type(self) -> str | None:
        """What kind of task the plan says it is; unknown without a plan."""
        return None if self.planned is None else self.planned.task_type

    @property
    def sufficient(self) -> bool | None:
        """The reflection's word; without one, whether every open question was answered, if there were any."""
        if self.reflection is not None:
            return self.reflection.sufficient
        return None if self.predicates.reading is None else not self.predicates.open

    @property
    def gaps(self) -> tuple[str, ...]:
        reflected = () if self.reflection is None else self.reflection.gaps
        return tuple(dict.fromkeys((*reflected, *self.predicates.open)))

    def state(self) -> dict[str, Any]:
        """The run's state under S1's names, serialisable."""
        return {
            "task": self.task,
            "plan_queries": [planned.query for planned in self.planned.queries] if self.planned else [],
            "search_results": [passage.id for passage in self.evidence],
            "citations": [self.evidence.handle(passage) for passage in self.evidence],
            "iteration": len(self.records),
            "max_iters": self.bounds.rounds,
            "max_execution_time_s": self.bounds.seconds,
            "sufficient": self.sufficient,
            "confidence": None if self.reflection is None else self.reflection.confidence,
            "gaps": list(self.gaps),
            "failed_queries": list(self.thin),
            "error_log": [failure.message for failure in self.error_log],
            "token_budget": None if self.bounds.tokens is None else max(0, self.bounds.tokens - self.tokens),
            "degraded_mode": self.degraded,
        }


def _snippets(round: Round) -> tuple[Note, ...]:
    return tuple(Note(passage.text[:SNIPPET], (), passage.title, passage.kind, False) for passage in round.new)
