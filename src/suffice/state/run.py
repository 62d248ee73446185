"""The state of one run: what was asked, found, spent and believed so far.

Everything is appended to, nothing is recomputed: a step costs O(what is new). The loop drives it, strategies read it.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from suffice.errors import ModelError
from suffice.events import Event, Failed, PromptCompacted
from suffice.memory.base import MemoryContext, MemoryFactory, RestorableMemory
from suffice.memory.evidence import Evidence
from suffice.memory.extraction import update_open_questions
from suffice.memory.open_questions import OpenQuestions
from suffice.models.base import Model, UsageTrackingModel
from suffice.prompts import (
    JudgeProgress,
    Plan,
    PlannedQuery,
    PlanResponse,
    Prompt,
    RateNovelty,
    Reflect,
    ReflectionResponse,
)
from suffice.prompts.truncate import fit_to_budget
from suffice.search.base import Reader
from suffice.search.resilience import FailureCounter
from suffice.search.screened import expand_with_pages
from suffice.state.event_queue import EventQueue, stream_draft
from suffice.state.follow_ups import FollowUpQueue
from suffice.state.hypotheses import HypothesisTracker
from suffice.state.outline import TopicOutline
from suffice.text.tokens import estimate_tokens, tokenize
from suffice.types import Bounds, Embed, Failure, Note, Passage, PriorRun, Query, Readings, Round, RoundRecord

A = TypeVar("A")

MAX_PLAN_QUERIES = 6  # A plan has three to six queries (S1).
MAX_GAP_QUERIES = 3  # What a reflection may ask for at most.
MIN_RESULTS = (
    3  # A query that succeeded with fewer results than this is thin: it is put differently, not repeated (S1).
)
MAX_EVIDENCE_TOKENS = (
    50_000  # A prompt never carries more evidence than this; older evidence goes in as summaries (S1).
)
MIN_PROMPT_TOKENS = (
    4_000  # A prompt may hold this much although the run's tokens are spent: an answer is still written.
)
LOW_BUDGET_SHARE = 0.25  # With less than this share of the token budget left, evidence is compacted harder (S1).
SNIPPET_CHARS = 800  # Characters of a result that a novelty or exhaustion judge sees (S2).
TRACE_NOTE_CHARS = 400  # Characters of a note that a trace shows of the belief after a round …
TRACE_BELIEF_TOKENS = 1_000  # … and tokens of all of them.
JUDGE_TIEBREAKS = {"conservative": "In doubt, answer PRODUCTIVE.", "neutral": ""}
JUDGE_SCORES = {"PRODUCTIVE": 0.0, "QUERY_STALE": 0.5, "EXHAUSTED": 1.0}


# A search that the run's own time limit cut off: it did not fail, so the breaker does not count it.
SEARCH_TIMED_OUT = Failure("search", "TimeoutError", "the run's time was up before the search answered")


class RunState:
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
        self.model = UsageTrackingModel(model)
        self.bounds = bounds
        self.seed = seed
        self.evidence = Evidence()
        self.predicates = OpenQuestions()
        self.memory_context = MemoryContext(self.try_ask, self.predicates, self.record_refusal, grounded)
        self.memory = memory(task, self.evidence, self.memory_context)
        self.embed = embed
        self.reader = reader
        self.follow_ups = FollowUpQueue(task, embed)
        self.outline: TopicOutline | None = None
        self.hypotheses: HypothesisTracker | None = None
        self.current_plan: PlanResponse | None = None  # A strategy may do without one.
        self.records: list[RoundRecord] = []
        self.readings: list[Readings] = []
        self.asked_queries: list[str] = []
        self.thin_queries: list[str] = []
        self.error_log: list[Failure] = []
        self.reflection: ReflectionResponse | None = None
        self.latest_round: Round | None = None  # The round admitted last.
        self.pinned_ids: set[str] = set()  # Passages that go before the writer first.
        self.search_count = 0
        self._answered_count = 0
        self.has_quote_fallback = False  # The sources' own words had to stand for a model's.
        self.pages_read = 0
        self._admitted_rounds = 0
        self._admitted_tokens = 0
        self._reflected_round = -1
        self._pending_thin_queries: list[str] = []
        self._asked_keys: set[tuple[str, ...]] = set()
        self._failure_counter = FailureCounter()  # Of the searches whose outcome is known.
        self.event_queue = EventQueue()
        self._tokens_reported = 0
        self._clock = clock
        self._started_at = clock()

    # -- time and money ------------------------------------------------------------------------------------------------

    @property
    def elapsed_seconds(self) -> float:
        return self._clock() - self._started_at

    @property
    def seconds_left(self) -> float | None:
        return None if self.bounds.seconds is None else max(0.0, self.bounds.seconds - self.elapsed_seconds)

    @property
    def tokens_used(self) -> int:
        return self.model.total.input_tokens + self.model.total.output_tokens

    def take_round_tokens(self) -> int:
        """What was spent since this was last asked: a round's own tokens."""
        spent, self._tokens_reported = self.tokens_used - self._tokens_reported, self.tokens_used
        return spent

    def read_spending(self) -> dict[str, float | None]:
        return {
            "spend.rounds": float(len(self.readings)),
            "spend.queries": float(len(self.asked_queries)),
            "spend.sources": float(len(self.evidence)),
            "spend.tokens": float(self.tokens_used),
            "spend.seconds": round(self.elapsed_seconds, 3),
            "spend.usd": self.model.total.usd,
        }

    def render_belief(self) -> tuple[Note, ...]:
        """The belief as a trace shows it: short, whatever the memory; rival hypotheses with their weight come first."""
        standing: tuple[Note, ...] = ()
        if self.hypotheses is not None:
            self.hypotheses.add_passages(self.evidence.get_passages_after(self.hypotheses.passage_count))
            standing = self.hypotheses.render_standings()
        return tuple(
            replace(note, text=note.text[:TRACE_NOTE_CHARS])
            for note in (*standing, *self.memory.render(TRACE_BELIEF_TOKENS))
        )

    # -- asking the model ----------------------------------------------------------------------------------------------

    async def ask(self, prompt: Prompt[A]) -> A:
        """The answer to an ask whose prompt is cut to what may be read; a cut is recorded, never silent."""
        room, why = self.compute_prompt_budget(prompt.max_tokens)
        fit = fit_to_budget(prompt, room)
        if self.model.context is not None and fit.tokens > self.model.context - prompt.max_tokens:
            raise ModelError(
                f"What has to stand in the prompt for {prompt.role!r} takes about {fit.tokens:,} tokens and {self.model.name} "
                f"reads {self.model.context:,}; choose a model that reads more, or shorten the question"
            )
        if fit.shortened_count:
            self.event_queue.add(
                PromptCompacted(
                    f"the prompt for {prompt.role!r} was too long: {why}", fit.whole_count, fit.shortened_count
                )
            )
        try:
            with stream_draft(fit.prompt, self.event_queue.add):
                reply = await self.model(fit.prompt)
        except ModelError as error:
            for failure in error.failures:
                self.record_failure(failure)
            raise
        for failure in reply.failures:
            self.record_failure(failure)
        return reply.answer

    def compute_prompt_budget(self, answer: int) -> tuple[int, str]:
        """Tokens that a prompt may hold when its answer may take so many, and what sets that limit."""
        room, why = self._compute_context_limit(answer)
        if self.bounds.tokens is not None:
            left = max(0, self.bounds.tokens - self.tokens_used)
            if max(left - answer, MIN_PROMPT_TOKENS) < room:
                room, why = max(left - answer, MIN_PROMPT_TOKENS), f"{left} of {self.bounds.tokens} tokens are left"
        return room, why

    def _compute_context_limit(self, answer: int) -> tuple[int, str]:
        """What the model reads beside an answer of that length; a model that does not say gets a usual state's worth."""
        if self.model.context is None:
            return MAX_EVIDENCE_TOKENS, f"the evidence is over {MAX_EVIDENCE_TOKENS} tokens"
        return self.model.context - answer, f"the model reads {self.model.context} tokens"

    async def plan(self) -> PlanResponse:
        """The model's plan, asked once; the task itself as the only query when there is none."""
        if self.current_plan is None:
            most = min(MAX_PLAN_QUERIES, self.queries_left or MAX_PLAN_QUERIES)
            self.current_plan = await self.try_ask(Plan(self.task, most)) or PlanResponse(())
            if not self.current_plan.queries:
                self.current_plan = replace(self.current_plan, queries=(PlannedQuery(self.task, "the task itself"),))
        return self.current_plan

    async def reflect(self) -> ReflectionResponse | None:
        """The model's reflection on the rounds so far, asked once a round; ``None`` when it could not be had."""
        if self._reflected_round != self._admitted_rounds:
            self._reflected_round = self._admitted_rounds
            thin, self._pending_thin_queries = tuple(self._pending_thin_queries), []
            most = min(MAX_GAP_QUERIES, self.queries_left or MAX_GAP_QUERIES)
            leads = tuple(lead.text for lead in self.follow_ups.propose(most))
            self.reflection = await self.try_ask(
                Reflect(self.task, self.render_notes(), tuple(self.asked_queries[-30:]), thin, leads, most)
            )
            if self.reflection is None:
                self._pending_thin_queries = [
                    *thin,
                    *self._pending_thin_queries,
                ]  # They still want to be put differently.
        return self.reflection

    async def take_readings_before(self, round: Round, needs: frozenset[str]) -> dict[str, float | None]:
        """Readings of a round that cost a model call, before it may change the belief; only what a gate needs."""
        if "novelty.model" not in needs:
            return {}
        known = tuple(replace(note, text=note.text[:SNIPPET_CHARS]) for note in self.memory.render(SNIPPET_CHARS))
        answer = await self.try_ask(RateNovelty(self.task, known, _build_snippets(round)))
        score = None if answer is None else answer.score
        return {"novelty.model": float(score) if score is not None and 0 <= score <= 10 else None}

    async def take_readings_after(self, round: Round, needs: frozenset[str]) -> dict[str, float | None]:
        """The same for readings taken after the round was accepted."""
        readings: dict[str, float | None] = {}
        if not needs.isdisjoint(("sufficiency.model", "confidence.answer")):
            reflection = await self.reflect()
            readings["sufficiency.model"] = None if reflection is None else float(reflection.sufficient)
            readings["confidence.answer"] = None if reflection is None else reflection.confidence
        for style, doubt in JUDGE_TIEBREAKS.items():
            if f"judged.{style}" in needs:
                answer = await self.try_ask(
                    JudgeProgress(self.task, doubt, tuple(self.asked_queries[-10:]), _build_snippets(round))
                )
                readings[f"judged.{style}"] = None if answer is None else JUDGE_SCORES.get(answer.verdict)
        return readings

    async def try_ask(self, prompt: Prompt[A]) -> A | None:
        """The answer, or ``None`` and an entry in the error log."""
        try:
            return await self.ask(prompt)
        except ModelError as error:
            self.record_failure(Failure(prompt.role, type(error).__name__, str(error), error.retryable))
            return None

    def render_notes(self) -> tuple[Note, ...]:
        """What the model is shown of the evidence, within the budget; compaction is recorded, never silent."""
        budget, why = min(
            (MAX_EVIDENCE_TOKENS, f"the evidence is over {MAX_EVIDENCE_TOKENS} tokens"), self._compute_context_limit(0)
        )
        if self.bounds.tokens is not None:
            left = max(0, self.bounds.tokens - self.tokens_used)
            if left < LOW_BUDGET_SHARE * self.bounds.tokens:
                budget, why = min(budget, max(left // 2, 200)), f"{left} of {self.bounds.tokens} tokens are left"
        if self._admitted_tokens <= budget:
            why = "the memory keeps less than it has seen"
        notes = self.memory.render(budget)
        self.record_compaction(why, sum(note.whole for note in notes))
        return notes

    def record_compaction(self, why: str, whole: int) -> None:
        """Book that a prompt holds fewer passages whole than there are."""
        if whole < len(self.evidence):
            self.event_queue.add(PromptCompacted(why, whole, len(self.evidence) - whole))

    # -- searching -----------------------------------------------------------------------------------------------------

    @property
    def queries_left(self) -> int | None:
        return None if self.bounds.queries is None else max(0, self.bounds.queries - len(self.asked_queries))

    def filter_new_queries(self, queries: Sequence[Query]) -> list[Query]:
        """The queries that were not asked before, each once, and no more than may still be asked."""
        chosen: dict[tuple[str, ...], Query] = {}
        for query in queries:
            key = tuple(tokenize(query.text))
            if key and key not in self._asked_keys:
                chosen.setdefault(key, query)
        return list(chosen.values())[: self.queries_left]

    def record_failure(self, failure: Failure) -> None:
        self.error_log.append(failure)
        self.event_queue.add(Failed(failure))

    def record_refusal(self, what: str) -> None:
        """Record what the belief did not take in, and why."""
        self.record_failure(Failure("belief", "Refused", what))

    def record_searches(self, round: Round) -> None:
        """Book a round's searches: queries asked, thin and failed ones, and the breaker's counts."""
        for hits in round.hits:
            self.asked_queries.append(hits.query.text)
            self._asked_keys.add(tuple(tokenize(hits.query.text)))
            self.search_count += 1
            if hits.failure is not None:
                self.record_failure(hits.failure)
                if hits.failure is not SEARCH_TIMED_OUT:
                    self._failure_counter.record(failed=True)
                continue
            self._failure_counter.record(failed=False)
            self._answered_count += 1
            if len(hits.passages) < MIN_RESULTS:
                self.thin_queries.append(hits.query.text)
                self._pending_thin_queries.append(hits.query.text)
        self.follow_ups.mark_asked(round.queries)

    @property
    def has_no_answered_search(self) -> bool:
        """No search came back, failed or late: that nothing was found says nothing."""
        return self.search_count > 0 and not self._answered_count

    @property
    def is_degraded(self) -> bool:
        """The breaker: search has failed too often to be relied on."""
        return self._failure_counter.is_exceeded

    async def resume(self, earlier: PriorRun) -> None:
        """Begin where an earlier run ended: its evidence as a round before the first, its facts, no query of it again."""
        self._asked_keys |= {tuple(tokenize(query)) for query in earlier.asked}
        self.follow_ups.mark_asked(earlier.asked)
        self._add_evidence(earlier.evidence)
        await self._queue_follow_ups(earlier.evidence)
        if earlier.belief and isinstance(self.memory, RestorableMemory):
            self.memory.restore(earlier.belief)
        else:
            await self.memory.update(Round(0, (), earlier.evidence, earlier.evidence))

    async def admit(self, round: Round) -> Round:
        """Take an accepted round into the record, the leads and the belief; the round with the pages behind its results."""
        self._admitted_rounds += 1
        self._add_evidence(round.new)
        pages, _ = await asyncio.gather(self._read_pages(round), self._queue_follow_ups(round.new))
        self._add_evidence(pages)
        await self._queue_follow_ups(pages)
        self.latest_round = round = replace(round, new=(*round.new, *pages))
        try:
            async with asyncio.timeout(self.seconds_left):
                await self.memory.update(round)
                if self.predicates.open and self.predicates.last_checked_round != round.index:
                    await update_open_questions(round, self.task, self.evidence, self.memory_context)
        except TimeoutError:
            self.record_refusal(f"the time was up before round {round.index} was read; the belief stays as it was")
        return round

    def _add_evidence(self, passages: Sequence[Passage]) -> None:
        for passage in passages:
            self.evidence.add(passage)
        self._admitted_tokens += sum(estimate_tokens(f"{passage.title}{passage.text}") + 4 for passage in passages)

    async def _queue_follow_ups(self, passages: Sequence[Passage]) -> None:
        if (
            self.follow_ups.uses_embeddings
        ):  # Embedding is work for a thread; without it a hop there would cost more than it saves.
            await asyncio.to_thread(self.follow_ups.add, passages)
        else:
            self.follow_ups.add(passages)

    async def _read_pages(self, round: Round) -> tuple[Passage, ...]:
        """Passages of whole pages behind the results; an enumerated task is left to its snippets (S2)."""
        if self.reader is None or (self.current_plan is not None and self.current_plan.task_type == "enumerated"):
            return ()
        known = self.memory.render(MAX_EVIDENCE_TOKENS)
        pages, count = await expand_with_pages(
            self.reader, round, known, self.seconds_left, self.event_queue.add, self.record_failure
        )
        self.pages_read += count
        return tuple(passage for passage in pages if passage.id not in self.evidence)

    # -- reporting -----------------------------------------------------------------------------------------------------

    def take_events(self) -> list[Event]:
        """What has happened inside since the last call."""
        return self.event_queue.drain()

    @property
    def task_type(self) -> str | None:
        """What kind of task the plan says it is; unknown without a plan."""
        return None if self.current_plan is None else self.current_plan.task_type

    @property
    def sufficient(self) -> bool | None:
        """The reflection's word; without one, whether every open question was answered, if there were any."""
        if self.reflection is not None:
            return self.reflection.sufficient
        return None if self.predicates.open_count is None else not self.predicates.open

    @property
    def gaps(self) -> tuple[str, ...]:
        reflected = () if self.reflection is None else self.reflection.gaps
        return tuple(dict.fromkeys((*reflected, *self.predicates.open)))

    def snapshot(self) -> dict[str, Any]:
        """The run's state under S1's names, serialisable."""
        return {
            "task": self.task,
            "plan_queries": [planned.query for planned in self.current_plan.queries] if self.current_plan else [],
            "search_results": [passage.id for passage in self.evidence],
            "citations": [self.evidence.get_handle(passage) for passage in self.evidence],
            "iteration": len(self.records),
            "max_iters": self.bounds.rounds,
            "max_execution_time_s": self.bounds.seconds,
            "sufficient": self.sufficient,
            "confidence": None if self.reflection is None else self.reflection.confidence,
            "gaps": list(self.gaps),
            "failed_queries": list(self.thin_queries),
            "error_log": [failure.message for failure in self.error_log],
            "token_budget": None if self.bounds.tokens is None else max(0, self.bounds.tokens - self.tokens_used),
            "degraded_mode": self.is_degraded,
        }


def _build_snippets(round: Round) -> tuple[Note, ...]:
    return tuple(Note(passage.text[:SNIPPET_CHARS], (), passage.title, passage.kind, False) for passage in round.new)
