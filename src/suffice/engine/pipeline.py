"""A whole run as a stream of events: search → write → verify → review → report. Every interface consumes this stream."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from suffice import plugins, settings
from suffice.claims.checkers import default_checker
from suffice.claims.verify import ClaimVerifier, has_lost_all_claims, list_left_out, make_ask_support
from suffice.engine.bounds import RunLimits, resolve_limits
from suffice.engine.interventions import RunParts, add_recalled_queries, add_skill_queries, apply_interventions
from suffice.engine.loop import build_stopped, run_loop
from suffice.engine.presets import Preset
from suffice.engine.vision import describe_images
from suffice.errors import ModelError, ModelUnusable
from suffice.events import Continued, Event, Finished, Recalled, SearchStopped, Started, Writing
from suffice.gates.base import Gate
from suffice.gates.limits import budget
from suffice.memory.evidence import Evidence
from suffice.meters import build_meters
from suffice.models.base import Model, is_language_model
from suffice.models.capability import ModelProfile, find_model
from suffice.models.extractive import ExtractiveModel
from suffice.prompts import SelfTest, SynthesisResponse
from suffice.report.build import build_report
from suffice.report.compute import run_computation
from suffice.report.draft import clean_draft, extract_quotes, finish_text, quote_sources, write_draft
from suffice.review.loop import ReviewLoop
from suffice.search.base import Reader, Search
from suffice.search.distinct import DistinctTextSearch
from suffice.search.resilience import make_resilient
from suffice.search.screened import InjectionFilter
from suffice.skills.activate import ActiveSkills
from suffice.skills.hooks import SkillContext, SkillRunner, WrittenText
from suffice.state.run import RunState
from suffice.storage.findings import StoredFinding
from suffice.text.citations import list_handles
from suffice.text.languages import use_language
from suffice.types import Bounds, Embed, Failure, Image, PriorRun, Report, Verdict

# After these stops it is asked once more what is missing, if that is free: without a language model. A quarter of all tokens
# went into that question when a language model answered it, and nothing was done with the answer.
_REFLECT_AFTER = ("diminished", "saturated", "exhausted", "planner_done", "budget_rounds", "budget_queries")


@dataclass(frozen=True)
class RunConfig:
    """All parts of a run. ``bounds`` are those that the user set; they override the preset's cap, which overrides the tier."""

    task: str
    search: Search
    model: Model
    preset: Preset
    stop: Gate | None
    """The stop gate. ``None``: the strategy ends by itself, or a bound ends it."""
    tier: str = "standard"
    bounds: Bounds = Bounds()
    environment_bounds: Bounds = Bounds()
    """Those of ``bounds`` that come from environment variables."""
    embed: Embed | None = None
    language: str | None = None
    """The language of the question, in which words are stemmed; ``None`` is English."""
    reader: Reader | None = None
    """Reads the whole pages that web results link to. The pipeline closes it."""
    k: int = 5
    """Passages per query."""
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
    evidence: Evidence | None = None
    """An empty record for a caller who wants to read afterwards what this run admitted; ``None``: the run has its own."""
    clock: Callable[[], float] = time.monotonic


async def run_pipeline(config: RunConfig) -> AsyncGenerator[Event, None]:
    """Run a question. The last event is ``Finished`` with the report, also after an interruption."""
    use_language(config.language)
    pipeline = _Pipeline(config)
    try:
        for step in pipeline.steps:
            async with aclosing(step()) as events:
                async for event in events:
                    yield event
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()  # After the first interruption, what was found is still reported.
        yield pipeline.stop_cancelled()
        await pipeline.verify_unchecked_draft()
    except ModelUnusable as error:
        yield pipeline.stop_without_model(error)
        await pipeline.quote_evidence()
    except ModelError as error:
        yield pipeline.stop_without_embeddings(error)
    finally:
        if config.reader is not None:
            await config.reader.aclose()
    yield Finished(pipeline.build_report())


class _Pipeline:
    """The state of one run between its steps. ``run_pipeline`` calls ``search`` and ``write``, then ``build_report``."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._skill_queries: list[str] = []
        self._parts = _assemble_parts(config)
        if config.skills.active:
            self._parts = add_skill_queries(self._parts, self._skill_queries)
        self._run = run = RunState(
            config.task,
            config.model,
            self._parts.memory,
            run_id=config.run_id or new_run_id(),
            seed=config.seed,
            grounded=self._parts.grounded,
            embed=config.embed,
            clock=config.clock,
            reader=config.reader,
            evidence=config.evidence,
        )
        search = DistinctTextSearch(make_resilient(config.search, run.record_failure))
        self._search = InjectionFilter(search, run.event_queue.add)
        self._profile = config.profile
        checker = default_checker(config.embed, make_ask_support(run))
        self._verifier = ClaimVerifier(run, self._search, checker, partial(clean_draft, run), strict=config.strict)
        self._review = ReviewLoop(run, self._verifier, config.review)
        self._skills = SkillRunner(
            config.skills,
            SkillContext(
                run,
                self._search,
                checker,
                self._verifier,
                self._verifier.check_claims,
                config.skills.workspace,
                self._skill_queries,
            ),
        )
        self._automatic_skills: list[dict[str, str]] = []
        self._written: WrittenText | None = None  # What the skills made of the answer.
        run.extra_instruction = self._skills.instruction
        if any(skill.name == "panel" for skill in config.skills.skills):
            self._review.use_panel()
        self._gate = add_budget(self._parts.gate, Bounds())  # The bounds are added when they are known.
        self._stopped: SearchStopped | None = None
        self._draft: SynthesisResponse | None = None

    @property
    def steps(self) -> tuple[Callable[[], AsyncGenerator[Event, None]], ...]:
        """The steps of the run; a skill may take the place of search and writing."""
        return (self.run_skill,) if self._skills.replacement is not None else (self.search, self.write)

    async def run_skill(self) -> AsyncGenerator[Event, None]:
        """Run the skill that takes the place of search and writing."""
        config, run, skill = self._config, self._run, self._skills.replacement
        assert skill is not None, "the skill takes the place of search and writing"
        await self._adapt_to_model()
        run.budget.bounds = settings.resolve_bounds("standard" if config.tier == "auto" else config.tier, config.bounds)
        yield self._build_started_event()
        working = asyncio.ensure_future(self._skills.instead())
        async with aclosing(run.event_queue.drain_while(working)) as events:
            async for event in events:
                yield event
        self._written = working.result()
        self._review.best = self._written.text
        verdict = Verdict(f"/{skill.name}", True, "planner_done", f"/{skill.name} works without rounds of search")
        self._stopped = build_stopped(run, self._gate, verdict)
        yield self._stopped
        yield Writing(len(run.evidence))

    async def search(self) -> AsyncGenerator[Event, None]:
        """Resolve the bounds, take over earlier work and search until the gate stops."""
        config, run = self._config, self._run
        await self._adapt_to_model()
        await describe_images(run, config.images)
        limits = await _resolve_limits(config, run)
        run.budget.bounds, run.budget.origins = limits.bounds, limits.origins
        self._gate = add_budget(self._parts.gate, run.budget.bounds)
        yield self._build_started_event()
        if config.prior_run is not None:
            yield Continued(config.prior_run)
            await run.resume(config.prior_run)
        await self._skills.before_search()
        if config.recalled_findings:
            yield Recalled(tuple(finding.title for finding in config.recalled_findings))
        meters = build_meters(self._gate.needs, run.task, config.embed)
        loop = run_loop(
            run,
            self._search,
            self._parts.strategy,
            self._gate,
            meters,
            k=config.k,
            per_round=config.per_round,
            honor_sufficient=config.preset.honors_sufficient,
        )
        async with aclosing(loop):
            async for event in loop:
                yield event
                if isinstance(event, SearchStopped):
                    self._stopped = event

    async def write(self) -> AsyncGenerator[Event, None]:
        """Write the answer, verify its claims and review it."""
        run = self._run
        if self._get_stopped().stop.reason in _REFLECT_AFTER and not run.is_answered_by_language_model("reflect"):
            await run.reflect()
        yield Writing(len(run.evidence))
        if self._profile.style is None and run.evidence:
            await self._take_self_test()
        await run_computation(run, self._config.python_rounds)
        writing = asyncio.ensure_future(write_draft(run, self._get_stopped().stop, self._profile.style or "prose"))
        async with aclosing(run.event_queue.drain_while(writing)) as events:
            async for event in events:
                yield event
        self._draft = writing.result()
        verifying = asyncio.ensure_future(self._verify_draft(self._draft))
        async with aclosing(run.event_queue.drain_while(verifying)) as events:
            async for event in events:
                yield event
        if "review" in self._profile.skipped:
            self._review.disable()
        self._activate_panel()
        async for review_round in self._review.run(verifying.result()):
            yield review_round
        await self._apply_skills()
        for event in run.take_events():
            yield event

    def _activate_panel(self) -> None:
        """Let three readers review the answer to a task that the plan of a language model calls complex."""
        plan = self._run.current_plan
        is_complex = plan is not None and plan.complexity == "deep" and self._run.is_answered_by_language_model("plan")
        if self._config.skills.automatic and is_complex and self._review.use_panel():
            why = "the plan calls the task complex"
            self._automatic_skills.append({"name": "panel", "why": why, "origin": "built in"})

    async def _apply_skills(self) -> None:
        """Let the skills change or extend the verified answer."""
        best = self._review.best
        if best is not None and best.answer.strip():
            written = WrittenText(finish_text(self._run, best), self._verifier.get_verdicts(best))
            self._written = await self._skills.after_writing(written)

    def stop_cancelled(self) -> SearchStopped:
        """End the search because the user interrupted it."""
        self._stopped = build_stopped(self._run, self._gate, Verdict("user", True, "cancelled", ""))
        return self._stopped

    def stop_without_embeddings(self, error: ModelError) -> SearchStopped:
        """End the search because the embedding server failed. Before the first round, raise the error.

        Failures of the language model are handled inside the run and do not get here.
        """
        if not self._run.records:
            raise error
        self._run.record_failure(Failure("embeddings", type(error).__name__, str(error), error.retryable))
        self._stopped = build_stopped(self._run, self._gate, Verdict("search", True, "search_unavailable", str(error)))
        return self._stopped

    def stop_without_model(self, error: ModelUnusable) -> SearchStopped:
        """End the run because its model cannot be used: a dead server, a refused key, an unknown name."""
        self._run.model_fault = str(error)
        self._run.record_failure(Failure("model", type(error).__name__, str(error)))
        if self._stopped is None:
            verdict = Verdict("model", True, "model_unavailable", str(error))
            self._stopped = build_stopped(self._run, self._gate, verdict)
        return self._stopped

    async def quote_evidence(self) -> None:
        """Without a model that writes, show what was found in the sources' own words."""
        if self._review.best is None and self._run.evidence:
            quoted = await extract_quotes(self._run, self._get_stopped().stop)
            self._review.best = await self._verifier.verify_lexically(quoted)

    async def verify_unchecked_draft(self) -> None:
        """After an interruption, check a draft by its words and numbers if its claims were not verified yet."""
        if self._draft is not None and self._review.best is None:
            self._review.best = await self._verifier.verify_lexically(self._draft)

    def build_report(self) -> Report:
        best = self._review.best
        metadata = {
            **self._config.metadata,
            "preset": asdict(self._config.preset),
            "task_type": self._run.task_type,
            **self._name_models(),
            "checker": self._verifier.checker_name,
            **self._review.to_metadata(),
        }
        if is_language_model(self._run.model):
            metadata |= {"writer": self._profile.style or "prose", "skipped": dict(self._profile.skipped)}
        metadata |= self._skills.metadata
        metadata["skills"] = [*metadata.get("skills", []), *self._automatic_skills]
        stop = self._get_stopped().stop
        if self._written is not None:
            cited = set(list_handles(self._written.text.answer))
            verdicts = [one for one in self._written.verdicts if cited.issuperset(one.claim.handles)]
            return build_report(self._run, stop, self._written.text, metadata, verdicts)
        text = None if best is None else finish_text(self._run, best)
        return build_report(self._run, stop, text, metadata, self._verifier.get_verdicts(best))

    def _name_models(self) -> dict[str, str | None]:
        """Return which model wrote the answer and which one evaluated it, ``None`` without a review."""
        writing = "answer" if self._profile.style == "sentence" else "draft"
        is_reviewed = bool(self._review.to_metadata())
        return {
            "producer": find_model(self._run.model, writing).name,
            "evaluator": find_model(self._run.model, "evaluate").name if is_reviewed else None,
        }

    async def _adapt_to_model(self) -> None:
        """Find out how the model writes and which steps it is not useful for; plan without it if that finds more."""
        run, profile = self._run, self._profile
        if not is_language_model(run.model):
            return
        await profile.load()
        if profile.style is None and self._config.preset.adapts:
            await self._take_self_test()
        profile.apply_style()
        if not self._config.preset.adapts:
            for role in ("plan", "reflect"):
                profile.skipped.pop(role, None)
        if planning := [role for role in ("plan", "reflect") if role in profile.skipped]:
            run.delegate(planning, ExtractiveModel(run.embed))

    async def _take_self_test(self) -> None:
        """Find out how a model writes whose name does not tell; once, because the result is kept."""
        answer = await self._run.try_ask(SelfTest())
        await self._profile.set_style(None if answer is None else answer.passed)
        self._profile.apply_style()

    async def _verify_draft(self, draft: SynthesisResponse | None) -> SynthesisResponse | None:
        """Return the draft with its claims verified; if none of a model's claims holds, quote the sources instead."""
        run, stop = self._run, self._get_stopped().stop
        if draft is None:  # The model failed, but what was found can be shown.
            run.model_fault = run.error_log[-1].message
            return await self._verifier.verify_lexically(await extract_quotes(run, stop)) if run.evidence else None
        verified = await self._verifier(draft)
        if not is_language_model(run.model):
            return verified
        has_lost_opening = bool(draft.summary) and not verified.summary
        if has_lost_all_claims(verified) or (has_lost_opening and self._profile.style == "sentence"):
            left_out = list_left_out(verified)
            verified = await self._verifier(await quote_sources(run, stop))
            verified = replace(verified, open_questions=(*verified.open_questions, *left_out))
        elif has_lost_opening or draft.sufficiency == "partly":
            run.lacks_answer = True
            verified = replace(verified, sufficiency="partly")
        return verified

    def _get_stopped(self) -> SearchStopped:
        assert self._stopped is not None, "the search has ended"
        return self._stopped

    def _build_started_event(self) -> Started:
        run, preset = self._run, self._config.preset
        limits = {name: value for name, value in asdict(run.budget.bounds).items() if value is not None}
        gate = str(self._gate)
        return Started(run.id, run.task, run.model.name, preset.strategy, preset.memory, gate, run.seed, limits)


def _assemble_parts(config: RunConfig) -> RunParts:
    strategy = plugins.load_plugin("strategies", config.preset.strategy)()
    memory = plugins.load_plugin("memories", config.preset.memory)
    parts = apply_interventions(config.interventions, RunParts(strategy, memory, config.stop))
    return add_recalled_queries(parts, config.recalled_findings)


def add_budget(stop: Gate | None, bounds: Bounds) -> Gate:
    """Return a gate that stops at the first bound or when ``stop`` does. ``bounds.sources`` does not bound the search."""
    limits = {name: value for name, value in asdict(bounds).items() if value is not None and name != "sources"}
    if stop is None:
        return budget(**limits)
    return stop | budget(**limits) if limits else stop


async def _resolve_limits(config: RunConfig, run: RunState) -> RunLimits:
    """Return the limits of the run. With the tier ``auto`` the plan chooses it.

    A model on this machine gets no time limit unless the user sets one: it may just be slow.
    """
    tier = config.tier
    if tier == "auto":
        tier = "standard"
        with suppress(TimeoutError):  # The loop then ends because the time is up.
            async with asyncio.timeout(config.bounds.seconds):
                tier = (await run.plan()).complexity
    return resolve_limits(
        tier,
        config.preset,
        config.stop,
        config.bounds,
        config.environment_bounds,
        has_time_limit=not config.model.local,
    )


def new_run_id() -> str:
    """Return an id that sorts by start time and has a random part."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
