"""The state of one run: its question, evidence, memory, searches and budget.

The loop drives it; strategies see it through ``strategies.base.RunView``, meters through ``meters.base.LiveRun``. State is
only ever added to, so a round costs O(what is new).
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import cast

from suffice.events import Planned, PromptCompacted, Reflected
from suffice.memory.base import BeliefLimits, MemoryContext, MemoryFactory
from suffice.memory.evidence import Evidence, drop_repeated_titles
from suffice.memory.extraction import extract_facts
from suffice.memory.open_questions import OpenQuestions
from suffice.models.base import Model, UsageTrackingModel
from suffice.models.prices import find_price
from suffice.prompts.planning import KeptNote, Plan, PlannedQuery, PlanResponse, Reflect, ReflectionResponse
from suffice.prompts.truncate import fit_to_budget
from suffice.search.base import Reader
from suffice.search.screened import expand_with_pages
from suffice.state.budget import Budget
from suffice.state.event_queue import EventQueue
from suffice.state.follow_ups import FollowUpQueue
from suffice.state.outline import TopicOutline
from suffice.state.prompting import MAX_EVIDENCE_TOKENS, Prompter
from suffice.state.search_log import SearchLog
from suffice.state.survey import DEFAULT_TARGET, Survey
from suffice.text.entities import content_stems
from suffice.text.tokens import estimate_tokens, jaccard, tokenize
from suffice.types import (
    BELIEF_KIND,
    Bounds,
    Breadth,
    Embed,
    Failure,
    Note,
    Passage,
    PriorRun,
    Query,
    Readings,
    Round,
    RoundRecord,
)

MAX_PLAN_QUERIES = 5  # With the task itself six, the value of the source system, see docs/sources.md.
MAX_GAP_QUERIES = 3  # Queries that a reflection may propose; a strong model names more that are worth asking.
MAX_STRONG_GAP_QUERIES = 5
DEFAULT_REPORT_TOKENS = 8_192  # The longest report. Value of the source system, see docs/sources.md.
USUAL_REPORT_TOKENS = 1_500  # Tokens of a written report, for which the money limit keeps a share.
PROMPT_TEXT_TOKENS = 800  # Tokens of the writer's prompt besides the evidence.
_NO_QUERIES = (
    'Everything in scope is read at once: give no queries; "subtasks" and "open" stay empty too. "notes" are one or two '
    "sentences for the writer: for whom the answer is, in which language, and which sides of the task it deals with."
)
_PLAN_NOTES = "The plan, made before the sources were read, says (what they do not give is left out): "
RECENT_QUERIES = 30  # Queries that a prompt lists, so that its length does not grow with the rounds.


class RunState(Prompter):
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
        filtered: bool = False,
        embed: Embed | None = None,
        page_reader: Reader | None = None,
        evidence: Evidence | None = None,
        clock: Callable[[], float] = time.monotonic,
        limits: BeliefLimits = BeliefLimits(),
        faithful: bool = False,
        question: str = "",
        language: str | None = None,
    ) -> None:
        """With ``faithful`` an agent gets no help: a query may be repeated, nothing is asked in its place, and a search returns
        the same passages again instead of ones further down. With ``filtered`` the memory sees only passages with a word of an
        open question. ``question`` is what the user asked where the task adds the question before it; ``language`` is that of
        the question."""
        self.id = run_id
        self.is_faithful = faithful
        self._is_filtered = filtered
        self.task = task
        self.question = question or task
        self.language = language
        self.seed = seed
        self.embed = embed
        self.page_reader = page_reader
        self.searches = SearchLog()
        self.event_queue = EventQueue()
        tracked = UsageTrackingModel(model)
        budget = Budget(bounds, tracked, self.searches.queries, clock)
        super().__init__(tracked, budget, self.event_queue.add)

        self.evidence = Evidence() if evidence is None else evidence
        self.open_questions = OpenQuestions()
        self.outline = TopicOutline(embed)
        self.follow_ups = FollowUpQueue(task, embed)
        self._memory_context = MemoryContext(self.try_ask, self.open_questions, self.record_refusal, grounded, limits)
        self.memory = memory(task, self.evidence, self._memory_context)
        self.pinned_ids: set[str] = set()
        self.extra_notes: list[Callable[[], Sequence[Note]]] = []

        self.current_plan: PlanResponse | None = None
        self.reflection: ReflectionResponse | None = None
        self._reflected_round: int | None = None
        self._reflected: set[str] = set()  # Handles of passages that a strong model's reflections were shown.
        self.latest_round: Round | None = None
        self.records: list[RoundRecord] = []
        self.readings: list[Readings] = []
        self._belief_words: frozenset[str] = frozenset()
        self._admitted_rounds = 0
        self._admitted_tokens = 0
        self.pages_read = 0
        self.max_report_tokens = DEFAULT_REPORT_TOKENS
        self.is_strong = False  # Whether a language model that writes prose answers: it is believed about its gaps.
        self.today = ""  # The day on which the run began, as the model is told.
        self.scope_files: tuple[str, ...] = ()  # The documents in scope, one line each, for the planner.
        self.scope_size: int | None = None  # How many passages are in scope; unknown if they are many, or on the web.
        self.nearest: tuple[Passage, ...] = ()  # To the question, beyond the rounds: evidence only if they are quoted.
        self.has_read_all = False  # Whether everything in scope is part of the evidence, so that no search finds more.
        self._is_continued = False
        self._first_found: dict[str, int] = {}
        self.scope_languages = ""  # Their languages, if the question is in another one.
        self.kept_notes: dict[str, KeptNote] = {}  # What the model noted in its reflections, by the fact.
        self.survey: Survey | None = None  # Everything in scope by relevance, if the run surveys it.
        self.breadth: Breadth = "narrow"
        self.coverage_target = DEFAULT_TARGET
        self.length: int | None = None  # Words that the report is to have.
        self.skill_instruction = ""  # What skills tell the writer besides the writing instruction.
        self.plan_advice = ""  # What the plan tells the writer, where everything is read.

    # -- asking the model ----------------------------------------------------------------------------------------------

    @property
    def must_write_now(self) -> bool:
        """Whether what is left of the money is only enough to write the answer."""
        left, price = self.budget.usd_left, find_price(self.model, "draft")
        if left is None or price is None:
            return left == 0
        prompt = min(self._admitted_tokens, MAX_EVIDENCE_TOKENS) + PROMPT_TEXT_TOKENS
        return left <= price.cost(prompt, USUAL_REPORT_TOKENS)

    async def plan(self, *, searches: bool = True) -> PlanResponse:
        """Return the plan, which is asked for once. Without a usable plan, its only query is the task itself.

        Without ``searches`` everything in scope is read, and the plan only says how the answer is to be written.
        """
        if self.current_plan is None:
            limit = MAX_PLAN_QUERIES
            if self.budget.queries_left is not None:  # One of them is the task itself.
                limit = max(1, min(limit, self.budget.queries_left - 1))
            told = (self.scope_files, self.scope_languages, "", self.today, self.skill_instruction)
            prompt = Plan(self.task, limit, *told)
            if not searches:
                prompt = replace(prompt, most=0, languages="", reading=_NO_QUERIES)
            plan = await self.try_ask(prompt) or PlanResponse(())
            if not plan.queries:
                plan = replace(plan, queries=(PlannedQuery(self.task, "the task itself"),))
            if not searches and plan.notes:
                self.plan_advice = _PLAN_NOTES + plan.notes
            self.current_plan = plan
            self.event_queue.add(Planned(tuple(plan.list_queries()), plan.complexity, self.budget.tokens_left))
        return self.current_plan

    async def reflect(self) -> ReflectionResponse | None:
        """Return the model's reflection on the rounds so far, asked for once a round; ``None`` when it failed."""
        if self._reflected_round == self._admitted_rounds:
            return self.reflection
        self._reflected_round = self._admitted_rounds
        thin = self.searches.take_thin_queries()
        most = MAX_STRONG_GAP_QUERIES if self.is_strong else MAX_GAP_QUERIES
        limit = min(most, self.budget.queries_left or most)
        leads = () if self.is_strong else tuple(query.text for query in self.propose_follow_ups(limit))
        notes, left = self.render_notes(), self.describe_budget_left()
        kept = tuple(f"{note.fact} {note.source}".strip() for note in self.kept_notes.values())
        prompt = Reflect(self.task, notes, self.recent_queries, thin, leads, limit, left, kept, self.scope_files)
        if self.is_strong:
            known = self._reflected if self.shows_history else set()
            new = [
                note
                for note in notes
                if note.kind == BELIEF_KIND or not note.whole or not known.issuperset(note.handles)
            ]
            gaps, tokens = self.reflection.gaps if self.reflection else (), 2 * prompt.max_tokens  # Room for its notes.
            prompt = replace(
                prompt,
                notes=drop_repeated_titles(new),
                gaps=gaps,
                once="once" if self.shows_history else "",
                max_tokens=tokens,
            )
            prompt = cast(Reflect, fit_to_budget(prompt, self.compute_prompt_budget(tokens)[0]).prompt)
        self.reflection = found = await self.try_ask(prompt)
        if found is None:
            self.searches.return_thin_queries(thin)
            return None
        passages = (note for note in prompt.notes if note.whole and note.kind != BELIEF_KIND)
        self._reflected.update(handle for note in passages for handle in note.handles)
        cited = (note for note in found.notes if self.evidence.resolve_citation(note.source) is not None)
        self.kept_notes.update((note.fact, note) for note in cited)
        judged = len(self.records), found.sufficient, found.confidence, tuple(found.gaps)
        queries = tuple(new.query for new in found.new_queries)
        self.event_queue.add(Reflected(*judged, queries, self.budget.tokens_left))
        return found

    # -- what the model is shown ---------------------------------------------------------------------------------------

    def render_notes(self) -> tuple[Note, ...]:
        """Return the memory's notes within the prompt budget; report when evidence had to be shortened."""
        budget, why = self.compute_notes_budget()
        if self._admitted_tokens <= budget:
            why = "the memory stores only part of the evidence"
        notes = self.render_memory(budget)
        self.record_compaction(why, sum(note.whole for note in notes))
        return notes

    def render_memory(self, max_tokens: int) -> tuple[Note, ...]:
        return self.memory.render(max_tokens)

    @property
    def shows_history(self) -> bool:
        return not getattr(self.memory, "replaces_history", False)

    def describe_budget_left(self) -> str:
        """Say in one line how much may still be searched; empty without a bound, and for an agent that gets no help."""
        return "" if self.is_faithful else self.budget.describe_left(self._admitted_rounds)

    def show_notes(self, render: Callable[[], Sequence[Note]]) -> None:
        """Show further notes in the trace after each round, ahead of the memory's."""
        self.extra_notes.append(render)

    def record_compaction(self, why: str, whole: int) -> None:
        """Report a prompt that shows only ``whole`` passages in full, if there are more."""
        if whole < len(self.evidence):
            self.event_queue.add(PromptCompacted(why, whole, len(self.evidence) - whole))

    # -- searching -----------------------------------------------------------------------------------------------------

    @property
    def asked_queries(self) -> list[str]:
        return self.searches.queries

    @property
    def recent_queries(self) -> tuple[str, ...]:
        return tuple(self.asked_queries[-RECENT_QUERIES:])

    def filter_new_queries(self, queries: Sequence[Query]) -> list[Query]:
        """Return the queries that were not asked before, each once, and no more than the budget allows.

        A faithful run allows a query to be repeated.
        """
        if self.is_faithful:
            return [query for query in queries if query.text.strip()][: self.budget.queries_left]
        return self.searches.filter_new(queries, self.budget.queries_left)

    def propose_follow_ups(self, limit: int) -> list[Query]:
        """Return queries that follow what was found, best first, without asking the model. A faithful run has none."""
        return self.follow_ups.propose(limit)

    def record_searches(self, round: Round, *, is_planned: bool = True) -> None:
        """Record the queries of a round and their failures. Not planned: sentences whose support is sought."""
        for failure in self.searches.record(round, is_planned=is_planned):
            self.record_failure(failure)
        self.follow_ups.mark_asked(round.queries)
        for hits in round.hits:
            for passage in hits.passages:
                self._first_found.setdefault(passage.id, len(self._first_found))

    def list_by_search(self) -> list[Passage]:
        """Return the evidence in the order it was found; what an earlier run found stands where this one found it, or last."""
        if not self._is_continued:
            return list(self.evidence)
        return sorted(self.evidence, key=lambda passage: self._first_found.get(passage.id, len(self._first_found)))

    def pin_passages(self, ids: Iterable[str]) -> None:
        self.pinned_ids.update(ids)

    # -- taking in rounds ----------------------------------------------------------------------------------------------

    async def admit(self, round: Round) -> Round:
        """Add an accepted round to evidence, follow-ups and memory; return it with the pages that its results link to."""
        self._admitted_rounds += 1
        self._add_evidence(round.new)
        pages, _ = await asyncio.gather(self._read_pages(round), self._queue_follow_ups(round.new))
        self._add_evidence(pages)
        await self._queue_follow_ups(pages)
        self.latest_round = round = replace(round, new=(*round.new, *pages))
        try:
            async with self.budget.time_limit():
                await self.memory.update(self._filter_observation(round))
                if self.open_questions.open and self.open_questions.last_checked_round != round.index:
                    await extract_facts(round, (), self.task, self.evidence, self._memory_context)
        except TimeoutError:
            self.record_refusal(f"time ran out before round {round.index} was processed")
        return round

    def _filter_observation(self, round: Round) -> Round:
        """Return the round as the memory sees it: in a filtered run only passages with a word of an open question."""
        stems = frozenset[str]().union(*(content_stems(question) for question in self.open_questions.open))
        if not self._is_filtered or not stems:
            return round
        raw, new = (
            tuple(passage for passage in passages if stems & content_stems(f"{passage.title} {passage.text}"))
            for passages in (round.raw, round.new)
        )
        return replace(round, raw=raw, new=new)

    async def resume(self, earlier: PriorRun) -> None:
        """Start from an earlier run: take over its evidence and facts, and do not repeat its queries."""
        self._is_continued = True
        self.searches.mark_asked(earlier.asked)
        self.follow_ups.mark_asked(earlier.asked)
        self._add_evidence(earlier.evidence)
        await self._queue_follow_ups(earlier.evidence)
        if earlier.belief and hasattr(self.memory, "restore"):
            self.memory.restore(earlier.belief)
        else:
            await self.memory.update(Round(0, (), earlier.evidence, earlier.evidence))

    def _add_evidence(self, passages: Sequence[Passage]) -> None:
        for passage in passages:
            self.evidence.add(passage)
        self._admitted_tokens += sum(estimate_tokens(f"{passage.title}{passage.text}") + 4 for passage in passages)

    async def _queue_follow_ups(self, passages: Sequence[Passage]) -> None:
        if self.is_faithful or self.survey is not None:  # A survey follows its ranking.
            return
        if self.embed is not None:
            await asyncio.to_thread(self.follow_ups.add, passages)
        else:  # Without embeddings, starting a thread costs more than the work.
            self.follow_ups.add(passages)

    async def _read_pages(self, round: Round) -> tuple[Passage, ...]:
        """Return passages of the whole pages that the results link to. For a list of things, snippets are enough."""
        if self.page_reader is None or self.task_type == "enumerated":
            return ()
        known = self.render_memory(MAX_EVIDENCE_TOKENS)
        pages, count = await expand_with_pages(
            self.page_reader, round, known, self.budget.seconds_left, self.event_queue.add, self.record_failure
        )
        self.pages_read += count
        return tuple(passage for passage in pages if passage.id not in self.evidence)

    # -- results -------------------------------------------------------------------------------------------------------

    def record_refusal(self, reason: str) -> None:
        """Record what the memory did not accept, and why."""
        self.record_failure(Failure("belief", "Refused", reason))

    def measure(self) -> dict[str, float | None]:
        """Return the readings that the run knows without a meter: open questions and what was spent."""
        readings: dict[str, float | None] = {
            "belief.open": self.open_questions.open_count,
            "belief.difference": self._compare_belief(),
            "spend.rounds": float(len(self.readings)),
            "spend.queries": float(self.budget.queries_used),
            "spend.sources": float(len(self.evidence)),
            "spend.tokens": float(self.budget.tokens_used),
            "spend.seconds": round(self.budget.seconds_used, 3),
            "spend.usd": self.budget.usd_used,
            "gaps.named": self._count_named_gaps(),
        }
        if self.survey is not None:
            seen, low, high = self.survey.estimate()
            readings |= {"relevance.seen": seen, "relevance.low": low, "relevance.high": high}
        return readings

    def _count_named_gaps(self) -> float | None:
        """Return how many new queries a strong model names for its gaps; unknown if it was not asked."""
        if not self.is_strong or self._reflected_round != self._admitted_rounds or self.reflection is None:
            return None
        return float(len(self.filter_new_queries(self.reflection.list_queries())))

    def _compare_belief(self) -> float | None:
        """Return the share of words in which the belief differs from the round before; unknown if the memory is no belief."""
        render_text = getattr(self.memory, "render_text", None)
        if render_text is None:
            return None
        before, self._belief_words = self._belief_words, frozenset(tokenize(render_text()))
        return 1.0 - jaccard(before, self._belief_words)

    @property
    def task_type(self) -> str | None:
        """The task type that the plan states; ``None`` without a plan."""
        return None if self.current_plan is None else self.current_plan.task_type

    @property
    def sufficient(self) -> bool | None:
        """Whether the evidence is enough: as the reflection says, else whether all open questions are answered."""
        if self.reflection is not None:
            return self.reflection.sufficient
        return None if self.open_questions.open_count is None else not self.open_questions.open

    def is_insufficient(self, stop_reason: str) -> bool:
        """Return whether the search ended on a limit before the evidence was judged sufficient."""
        return stop_reason.startswith("budget_") and not self.sufficient

    @property
    def gaps(self) -> tuple[str, ...]:
        """What is still missing: the gaps of the reflection and the open questions."""
        reflected = () if self.reflection is None else self.reflection.gaps
        return tuple(dict.fromkeys((*reflected, *self.open_questions.open)))
