"""A whole run as a stream of events: gather → write → verify → review → report. Every interface consumes this stream."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

from suffice import plugins, settings
from suffice.answers import Draft, Statement
from suffice.claims.checker import default_checker
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked, ClaimVerifier
from suffice.claims.whole import check_draft
from suffice.engine.absence import estimate_absence
from suffice.engine.bounds import RunLimits, resolve_limits
from suffice.engine.interventions import RunParts, add_recalled_queries, add_skill_queries, apply_interventions
from suffice.engine.loop import build_stopped, run_loop
from suffice.engine.presets import Preset
from suffice.engine.scope import DocumentOpener, describe_files, list_scope, name_foreign_languages, read_all
from suffice.engine.vision import describe_images
from suffice.errors import ModelError, ModelUnusable
from suffice.events import CheckingClaim, Continued, Event, Finished, Recalled, SearchStopped, Started, Writing
from suffice.gates.base import Gate
from suffice.gates.limits import budget
from suffice.memory.evidence import Evidence
from suffice.meters import build_meters
from suffice.models.base import Model, is_language_model
from suffice.models.capability import ModelProfile, find_model
from suffice.models.embeddings import embed_static
from suffice.models.extractive import ExtractiveModel
from suffice.prompts.judging import CheckDraft
from suffice.prompts.writing import SelfTest
from suffice.report.build import build_report
from suffice.report.compute import run_computation
from suffice.report.draft import quote_evidence, render_with_lists, write_draft
from suffice.report.mend import mend_statements
from suffice.review.loop import ReviewLoop
from suffice.search.base import RankedScope, Reader, ScopeSearch, Search
from suffice.search.resilience import make_resilient
from suffice.search.screened import InjectionFilter, identify_text
from suffice.skills.activate import ActiveSkills
from suffice.skills.hooks import SkillContext, SkillRunner
from suffice.state.run import RunState
from suffice.state.survey import DEFAULT_TARGET, Survey
from suffice.storage.findings import StoredFinding
from suffice.types import Bounds, Breadth, Embed, Failure, Image, Notice, Passage, PriorRun, Query, Report, Verdict

# After these stops it is asked once more what is missing, if that is free: without a language model. A quarter of all tokens
# went into that question when a language model answered it, and nothing was done with the answer.
_REFLECT_AFTER = ("diminished", "saturated", "exhausted", "planner_done", "read_all", "budget_rounds", "budget_queries")
_MAX_SMALL_SCOPE = 30  # Passages; a search hardly ever finds all of more.


@dataclass(frozen=True)
class RunConfig:
    """All parts of a run. ``bounds`` are those that the user set; they override the preset's cap, which overrides the tier."""

    task: str
    """The question; a follow-up that names nothing has the question before it too."""
    search: Search
    model: Model
    preset: Preset
    gate: Gate | None
    """Says when to stop. ``None``: the strategy ends by itself, or a bound ends it."""
    tier: str = "standard"
    names_tier: bool = True
    """Whether the user named the tier; else a strong model has limits of its own."""
    bounds: Bounds = Bounds()
    environment_bounds: Bounds = Bounds()
    """Those of ``bounds`` that come from environment variables."""
    embed: Embed | None = None
    language: str | None = None
    """The language of the question, in which words are stemmed; ``None``: it does not tell."""
    page_reader: Reader | None = None
    """Reads the whole pages that web results link to. The pipeline closes it."""
    k: int = 5
    """Passages per query."""
    may_read_all: bool = False
    """Whether everything in scope may be read at once: it is where it fits a strong model's context.

    A small scope that was found whole then ends the search, with any model.
    """
    per_round: int | None = None
    """New passages that a round keeps; ``None``: all."""
    images: tuple[Image, ...] = ()
    interventions: tuple[str, ...] = ()
    review: settings.ReviewRules | None = None
    """``None``: the answer is not reviewed."""
    strict: bool = True
    """Whether an unsupported claim is removed; otherwise it is marked."""
    profile: ModelProfile = field(default_factory=ModelProfile)
    """How the model writes, and what is skipped for it."""
    python_rounds: int = 0
    """Attempts that the model has to write a computation; 0: none."""
    question: str = ""
    """What the user asked, where ``task`` says more."""
    prior_run: PriorRun | None = None
    """The run that this one continues."""
    recalled_findings: tuple[StoredFinding, ...] = ()
    """Findings of earlier runs to look up again."""
    skills: ActiveSkills = ActiveSkills()
    """The skills that act in this run."""
    seed: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    run_id: str | None = None
    """The id to use; ``None`` makes one."""
    breadth: Breadth = "narrow"
    names_breadth: bool = True
    """Whether the user or a skill decides the breadth; else a strong model's plan does where everything is read."""
    documents: ScopeSearch | None = None
    """The files that ``search`` finds, if it searches only files on this machine."""
    scope: RankedScope | None = None
    """Everything in scope by its similarity to the question, if the run surveys it."""
    coverage_target: float = DEFAULT_TARGET
    """The share of what is relevant that a broad question is to read."""
    length: int | None = None
    """About how many words the report is to have; ``None``: as many as it needs."""
    evidence: Evidence | None = None
    """An empty record for a caller who wants to read afterwards what this run admitted; ``None``: the run has its own."""
    clock: Callable[[], float] = time.monotonic
    today: date = field(default_factory=date.today)
    """The day on which the run began; it stays the same when the run is resumed."""


async def run_to_report(config: RunConfig, *listeners: Callable[[Event], None]) -> Report:
    """Run a question to its end, show every event to the listeners, and return the report."""
    async with aclosing(run_pipeline(config)) as events:
        async for event in events:
            for listen in listeners:
                listen(event)
            if isinstance(event, Finished):
                return event.report
    raise AssertionError("the last event of a run is Finished")


async def run_pipeline(config: RunConfig) -> AsyncGenerator[Event, None]:
    """Run a question. The last event is ``Finished`` with the report, also after an interruption."""
    stages = _Stages(config)
    run = stages.run
    stopped: SearchStopped | None = None
    draft: Draft | None = None
    checked: Checked | None = None
    fault: Failure | None = None
    try:
        await stages.adapt_to_model()
        if stages.skills.replacement is not None:
            yield stages.start("standard")
            work = asyncio.ensure_future(stages.skills.instead())
            async with aclosing(run.event_queue.drain_while(work)) as events:
                async for event in events:
                    yield event
            checked = work.result()
            because = f"/{stages.skills.replacement.name} works without rounds of search"
            stopped = stages.build_stop(Verdict(f"/{stages.skills.replacement.name}", True, "planner_done", because))
            yield stopped
            yield Writing(len(run.evidence))
        else:
            async with aclosing(stages.gather()) as events:
                async for event in events:
                    yield event
                    stopped = event if isinstance(event, SearchStopped) else stopped
            assert stopped is not None, "a search ends with its stop"
            if stopped.stop.reason in _REFLECT_AFTER and not run.is_answered_by_language_model("reflect"):
                await run.reflect()
            yield Writing(len(run.evidence))
            writing = asyncio.ensure_future(stages.write(stopped))
            async with aclosing(run.event_queue.drain_while(writing)) as events:
                async for event in events:
                    yield event
            draft = writing.result()
            if draft is None:
                fault = run.error_log[-1]  # The model failed, but what was found can be shown.
            verifying = asyncio.ensure_future(stages.verify(draft))
            async with aclosing(run.event_queue.drain_while(verifying)) as events:
                async for event in events:
                    yield event
            checked = verifying.result()
            if checked is not None:
                async for review_round in stages.review.run(checked):
                    checked = stages.review.best or checked
                    yield review_round
                checked = await stages.skills.after_writing(stages.review.best or checked)
                stopped = await stages.bound_absence(stopped, checked)
        for event in run.take_events():
            yield event
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()  # After the first interruption, what was found is still reported.
        stopped = stages.build_stop(Verdict("user", True, "cancelled", ""))
        yield stopped
        if checked is None and run.evidence:
            checked = await stages.verifier.verify_offline(draft or await quote_evidence(run))
    except ModelUnusable as error:  # A dead server, a refused key, an unknown name.
        fault = Failure("model", type(error).__name__, str(error))
        run.record_failure(fault)
        if stopped is None:
            stopped = stages.build_stop(Verdict("model", True, "model_unavailable", str(error)))
            yield stopped
        if checked is None and run.evidence:
            checked = await stages.verifier.verify_offline(await quote_evidence(run))
    except ModelError as error:  # Of the embedding server: failures of the language model are handled inside the run.
        if not run.records:
            raise
        run.record_failure(Failure("embeddings", type(error).__name__, str(error), error.retryable))
        stopped = stages.build_stop(Verdict("search", True, "search_unavailable", str(error)))
        yield stopped
    finally:
        if config.page_reader is not None:
            await config.page_reader.aclose()
    assert stopped is not None, "every ending has a stop"
    yield Finished(stages.build(stopped, checked, fault))


class _Stages:
    """The stages of one run as functions over its parts, which are assembled once."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        queries: list[str] = []
        strategy = plugins.load_plugin("strategies", config.preset.strategy)()
        memory = plugins.load_plugin("memories", config.preset.memory)
        parts = apply_interventions(config.interventions, RunParts(strategy, memory, config.gate))
        self.parts = add_recalled_queries(parts, config.recalled_findings)
        if config.skills.active:
            self.parts = add_skill_queries(self.parts, queries)
        self.run = run = RunState(
            config.task,
            config.model,
            self.parts.memory,
            run_id=config.run_id or new_run_id(),
            seed=config.seed,
            grounded=self.parts.grounded,
            filtered=self.parts.filtered,
            embed=config.embed,
            clock=config.clock,
            page_reader=config.page_reader,
            evidence=config.evidence,
            question=config.question,
            language=config.language,
        )
        run.today = config.today.isoformat()
        run.breadth, run.coverage_target, run.length = config.breadth, config.coverage_target, config.length
        run.survey = None if config.scope is None else Survey(config.scope)
        search = make_resilient(config.search, run.record_failure)
        self.search = self.screen(search if config.documents is None else DocumentOpener(search, config.documents, run))
        self.gate = self.parts.gate or budget()
        checker = default_checker()
        has_model = is_language_model(run.model)
        self.verifier = ClaimVerifier(
            run,
            self.search,
            checker,
            strict=config.strict,
            judge_draft=self._judge_draft if has_model else None,
            mend=self._mend if has_model else None,
        )
        self.review = ReviewLoop(run, self.verifier.find_more, self.verifier, config.review)
        context = SkillContext(run, self.search, checker, self.verifier, config.skills.workspace, queries)
        self.skills = SkillRunner(config.skills, context)
        run.skill_instruction = self.skills.instruction
        if any(skill.name == "panel" for skill in config.skills.skills):
            self.review.use_panel()

    def screen(self, search: Search) -> Search:
        """Return a search whose results are distinct and free of text that addresses a model."""

        async def find_distinct(query: Query, k: int) -> list[Passage]:
            return [identify_text(passage) for passage in await search(query, k)]

        return InjectionFilter(find_distinct, self.run.event_queue.add)

    async def choose_tier(self) -> str:
        """Return the tier that the user named; with ``auto`` the plan chooses it."""
        if self.config.tier != "auto":
            return self.config.tier
        with suppress(TimeoutError):  # The loop then ends because the time is up.
            async with asyncio.timeout(self.config.bounds.seconds):
                return (await self.run.plan()).complexity
        return "standard"

    def start(self, tier: str) -> Started:
        """Set the limits of the run and return its first event."""
        limits = resolve_run_limits(self.config, tier, is_strong=self.run.is_strong)
        self.run.budget.bounds, self.run.budget.origins = limits.bounds, limits.origins
        self.gate = add_budget(self.parts.gate, limits.bounds)
        run, preset, gate, known = self.run, self.config.preset, str(self.gate), limits.bounds.known
        return Started(
            run.id, run.task, run.model.name, preset.strategy, preset.memory, gate, run.seed, known, run.breadth
        )

    def build_stop(self, verdict: Verdict) -> SearchStopped:
        """Return the end of the search, for a reason outside the loop."""
        return build_stopped(self.run, self.gate, verdict)

    async def gather(self) -> AsyncGenerator[Event, None]:
        """Set the limits, take over earlier work, plan where all is read, and search until the gate stops."""
        config, run = self.config, self.run
        await describe_images(run, config.images)
        documents = config.documents
        if documents is not None:
            run.scope_languages = name_foreign_languages(documents, run.language)
            run.scope_files = describe_files(documents) if run.is_strong else ()
            in_scope = await documents.list_passages(_MAX_SMALL_SCOPE) if config.may_read_all else None
            run.scope_size = len(in_scope) if in_scope else None
        yield self.start(await self.choose_tier())
        if config.prior_run is not None:
            yield Continued(config.prior_run)
            await run.resume(config.prior_run)
        await self.skills.before_search()
        if config.recalled_findings:
            yield Recalled(tuple(finding.title for finding in config.recalled_findings))
        # Of a survey many passages are read at once, for which the static vectors are fast enough.
        meters = build_meters(self.gate.needs, run.task, config.embed if run.survey is None else embed_static)
        passages: tuple[Passage, ...] = ()
        if config.may_read_all and run.is_strong and documents is not None:
            passages = await list_scope(documents, run)
        if run.is_strong and (config.may_read_all or run.survey is not None):
            with suppress(TimeoutError):  # The loop then ends because the time is up.
                async with run.budget.time_limit():
                    await run.plan(searches=not passages and run.survey is None)
            for event in run.take_events():
                yield event
        if passages:
            planned = None if config.names_breadth else run.current_plan
            complexity = "standard" if planned is None else planned.complexity
            if complexity == "simple" or (complexity == "deep" and run.breadth == "narrow"):
                run.breadth = "narrow" if complexity == "simple" else "broad"
            self.gate = add_budget(None, run.budget.bounds)  # Nothing is left to judge.
            async for event in read_all(run, passages, self.screen, self.gate, meters):
                yield event
            return
        loop = run_loop(
            run,
            self.search if run.survey is None else self.screen(run.survey),
            self.parts.strategy,
            self.gate,
            meters,
            k=config.k if run.survey is None else run.survey.batch_size,
            per_round=config.per_round,
            honor_sufficient=config.preset.honors_sufficient,
        )
        async with aclosing(loop):
            async for event in loop:
                yield event

    async def write(self, stopped: SearchStopped) -> Draft | None:
        """Compute what the answer needs and write the draft; ``None`` if the model failed."""
        profile = self.config.profile
        if profile.style is None and self.run.evidence:
            await self._take_self_test()
        await run_computation(self.run, self.config.python_rounds)
        return await write_draft(self.run, stopped.stop, profile.style or "prose")

    async def verify(self, draft: Draft | None) -> Checked | None:
        """Return the draft with its claims verified; if a model's draft has none that holds, the sources are quoted."""
        run = self.run
        if draft is None:
            return await self.verifier.verify_offline(await quote_evidence(run)) if run.evidence else None
        checked = await self.verifier(draft)
        if draft.origin == "sentence" and checked.has_lost_opening:
            left = replace(checked.draft, origin="quoted", notices=(Notice("unsupported_draft"),))
            return replace(checked, draft=left)
        if draft.origin == "written" and checked.has_lost_all_claims:
            why = "no source supports a claim of the draft; the sources are quoted instead"
            run.record_failure(Failure("draft", "Unsupported", why))
            quoted = await self.verifier(await quote_evidence(run))
            left = replace(quoted.draft, notices=(Notice("unsupported_draft"),), raw=draft.raw)
            return replace(quoted, draft=left, removed=checked.removed)
        if checked.has_lost_opening:
            checked = replace(checked, draft=replace(checked.draft, sufficiency="partly"))
        return checked

    async def bound_absence(self, stopped: SearchStopped, checked: Checked) -> SearchStopped:
        """Return the stop with what the passages that were not found can hold, if the question is refused."""
        documents = self.config.documents
        if documents is None or not checked.draft.is_empty:
            return stopped
        absence = await estimate_absence(self.run, documents, self.search)
        return replace(stopped, stop=replace(stopped.stop, absence=absence))

    async def _judge_draft(self, statements: Sequence[Statement], draft: Draft) -> Sequence[ClaimVerdict | None]:
        """Let a model that writes prose judge a whole draft; the reader judges what it leaves open.

        Single sentences are judged with the draft around them: a pronoun says nothing alone.
        """
        run = self.run
        if self.config.profile.style == "sentence" or run.budget.is_spent():
            return [None] * len(statements)
        run.event_queue.add(CheckingClaim(f"{len(statements)} statements"))
        max_tokens, _ = run.compute_prompt_budget(CheckDraft.max_tokens)
        text = render_with_lists(run, draft.narrow(statements)) if len(statements) < len(set(draft.written)) else ""
        passages, beside = run.evidence.by_handle, draft.handles_beside
        return await check_draft(statements, passages, run.try_ask, max_tokens, text, beside, run.today)

    async def _mend(self, doubtful: Sequence[ClaimVerdict], draft: Draft) -> Mapping[Statement, tuple[Statement, ...]]:
        """Let a model that writes prose mend what the check doubts."""
        return {} if self.config.profile.style == "sentence" else await mend_statements(self.run, doubtful, draft)

    def build(self, stopped: SearchStopped, checked: Checked | None, fault: Failure | None) -> Report:
        config, run, review = self.config, self.run, self.review.summarize()
        metadata = {
            **config.metadata,
            "preset": asdict(config.preset),
            "task_type": run.task_type,
            "breadth": run.breadth,
            "producer": find_model(run.model, "answer" if config.profile.style == "sentence" else "draft").name,
            "evaluator": None if review is None else find_model(run.model, "evaluate").name,
            "checker": self.verifier.checker_name,
            **({} if review is None else {"review": asdict(review)}),
        }
        if is_language_model(run.model):
            metadata |= {"writer": config.profile.style or "prose", "skipped": dict(config.profile.skipped)}
        metadata |= self.skills.metadata
        metadata.setdefault("skills", [])
        return build_report(run, stopped.stop, checked, metadata, fault)

    async def adapt_to_model(self) -> None:
        """Find out how the model writes; plan without it if it is small."""
        run, profile = self.run, self.config.profile
        if not is_language_model(run.model):
            return
        if profile.style is None and self.config.preset.adapts:
            await self._take_self_test()
        self._apply_style()

    def _apply_style(self) -> None:
        """Say whether the model is strong, and leave out what small ones are of no use for: planning and reviewing."""
        profile = self.config.profile
        profile.apply_style()
        self.run.is_strong = profile.style == "prose"
        if "review" in profile.skipped:
            self.review.disable()
        planning = [role for role in ("plan", "reflect") if role in profile.skipped]
        if planning and self.config.preset.adapts:
            self.run.delegate(planning, ExtractiveModel(self.run.embed))

    async def _take_self_test(self) -> None:
        """Find out how a model writes whose name does not tell; once, because the result is kept."""
        answer = await self.run.try_ask(SelfTest())
        await self.config.profile.set_style(None if answer is None else answer.passed)
        self._apply_style()


def add_budget(stop: Gate | None, bounds: Bounds) -> Gate:
    """Return a gate that stops at the first bound or when ``stop`` does. ``bounds.sources`` does not bound the search."""
    limits = replace(bounds, sources=None).known
    if stop is None:
        return budget(**limits)
    return stop | budget(**limits) if limits else stop


def resolve_run_limits(config: RunConfig, tier: str, *, is_strong: bool) -> RunLimits:
    """Return the limits of the run.

    A model on this machine gets no time limit unless the user sets one: it may just be slow.
    """
    limits = resolve_limits(
        tier,
        config.preset,
        config.gate,
        config.bounds,
        config.environment_bounds,
        has_time_limit=not config.model.local,
        is_strong=is_strong and config.preset.adapts and not config.names_tier,
    )
    is_broad = config.breadth != "narrow"
    if not is_broad and not (is_strong and config.preset.adapts):
        return limits
    own = config.bounds  # Only the user limits how much of a broad question is read, or a strong model is shown.
    bounds = replace(limits.bounds, sources=own.sources)
    if is_broad and config.scope is not None:
        bounds = replace(bounds, rounds=own.rounds, queries=own.queries)
    return replace(limits, bounds=bounds)


def new_run_id() -> str:
    """Return an id that sorts by start time and has a random part."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
