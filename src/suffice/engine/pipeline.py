"""A whole run as a stream of events: gather → write → verify → review → report. Every interface consumes this stream."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime

from suffice import plugins
from suffice.answers import Draft, Statement
from suffice.claims.checker import default_checker
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked, ClaimVerifier
from suffice.claims.whole import check_draft
from suffice.engine.absence import estimate_absence
from suffice.engine.bounds import add_budget, resolve_limits
from suffice.engine.config import RunConfig
from suffice.engine.interventions import RunParts, add_recalled_queries, add_skill_queries, apply_interventions
from suffice.engine.loop import build_stopped, run_loop
from suffice.engine.scope import DocumentOpener, describe_files, list_scope, name_foreign_languages, read_all
from suffice.engine.vision import describe_images
from suffice.errors import ModelDeclined, ModelError, ModelUnusable, SearchError
from suffice.events import CheckingClaim, Continued, Event, Finished, Recalled, SearchStopped, Started, Writing
from suffice.gates.limits import budget
from suffice.meters import build_meters
from suffice.models.base import is_language_model
from suffice.models.capability import find_model
from suffice.models.embeddings.static import embed_static
from suffice.models.extractive import ExtractiveModel
from suffice.models.extractive.ranking import MAX_READ
from suffice.prompts.judging import CheckDraft
from suffice.prompts.writing import SelfTest
from suffice.report.build import build_report
from suffice.report.compute import run_computation
from suffice.report.draft import quote_evidence, render_with_lists, write_draft
from suffice.report.mend import mend_statements
from suffice.review.loop import ReviewLoop
from suffice.search.resilience import make_resilient
from suffice.search.screened import InjectionFilter, identify_text
from suffice.skills.hooks import SkillContext, SkillRunner
from suffice.state.run import RunState
from suffice.state.survey import Survey
from suffice.text.plain import to_one_line
from suffice.types import Failure, Notice, Passage, Query, Report, Stop, Verdict

# After these stops it is asked once more what is missing, if that is free: without a language model.
_REFLECT_AFTER = ("diminished", "saturated", "exhausted", "planner_done", "read_all", "budget_rounds", "budget_queries")
_MAX_SMALL_SCOPE = 30  # Passages; a search hardly ever finds all of more.


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
    """Run a question. The last event is ``Finished`` with the report, also after an interruption.

    ``_Walk.answer`` has the steps; here are the endings that cut them short. Only what makes a run pointless before its first
    round, such as a picture that cannot be described, is raised.
    """
    walk = _Walk(config)
    run = walk.run
    try:
        yield await walk.start()
        async with aclosing(run.event_queue.drain_while(walk.answer())) as events:
            async for event in events:
                yield event
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()  # After the first interruption, what was found is still reported.
        # Also if the search was over: the answer may be cut short.
        walk.end_search(Verdict("user", True, "cancelled", ""))
        await walk.check_offline(walk.draft)
    except ModelUnusable as error:  # A dead server, a refused key, an unknown name.
        walk.fault = Failure("model", type(error).__name__, str(error))
        run.record_failure(walk.fault)
        if walk.stopped is None:
            walk.end_search(Verdict("model", True, "model_unavailable", str(error)))
        await walk.check_offline(None)
    except ModelError as error:  # Of the embedding server or of a picture: a run handles other failures of its model.
        if not run.records:
            raise
        run.record_failure(Failure("embeddings", type(error).__name__, str(error), error.retryable))
        walk.end_search(Verdict("search", True, "search_unavailable", str(error)))
    finally:
        if config.page_reader is not None:
            await config.page_reader.aclose()
    for event in run.event_queue.drain():
        yield event
    yield Finished(walk.build_report())


class _Walk:
    """One question on its way to a report: the parts of its run, assembled once, and what its steps have brought so far."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        skill_queries: list[str] = []  # Skills add to it before the search, the strategy asks them first.
        strategy = plugins.load_plugin("strategies", config.preset.strategy)()
        memory = plugins.load_plugin("memories", config.preset.memory)
        parts = apply_interventions(config.interventions, RunParts(strategy, memory, config.gate))
        self.parts = add_recalled_queries(parts, config.recalled_findings)
        if config.skills.active:
            self.parts = add_skill_queries(self.parts, skill_queries)
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
        run.survey = None if config.ranked_scope is None else Survey(config.ranked_scope)
        self.emit = run.event_queue.add
        search = make_resilient(config.search, run.record_failure)
        if config.documents is not None:
            search = DocumentOpener(search, config.documents, run)

        async def find_distinct(query: Query, k: int) -> list[Passage]:
            return [identify_text(passage) for passage in await search(query, k)]

        self.search = InjectionFilter(find_distinct, self.emit)  # Without text that addresses a model.
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
        rules = config.review
        if rules is not None and any(skill.name == "panel" for skill in config.skills.skills):
            rules = replace(rules, panel=True)
        self.review = ReviewLoop(run, self.verifier.find_more, self.verifier, rules)
        context = SkillContext(run, self.search, checker, self.verifier, config.skills.workspace, skill_queries)
        self.skills = SkillRunner(config.skills, context)
        run.skill_instruction = self.skills.instruction
        self.stopped: SearchStopped | None = None
        self.draft: Draft | None = None
        self.checked: Checked | None = None
        self.fault: Failure | None = None
        """Why the model did not write, if it failed."""

    # -- the steps, in order -------------------------------------------------------------------------------------------

    async def start(self) -> Started:
        """Learn how the model writes and what is in scope, choose the tier, set the limits, and return the first event."""
        config, run, preset = self.config, self.run, self.config.preset
        tier = "standard" if config.tier == "auto" else config.tier
        await self.adapt_to_model(tests=preset.adapts)
        if self.skills.replacement is None:
            await describe_images(run, config.images)
            await self.describe_scope()
            tier = await self.choose_tier()
        bounds, run.budget.origins = resolve_limits(config, tier, is_strong=run.is_strong)
        run.budget.bounds = bounds
        self.gate = add_budget(self.parts.gate, bounds)
        parts = (preset.strategy, preset.memory, str(self.gate))
        return Started(run.id, run.task, run.model.name, *parts, run.seed, bounds.known, run.breadth)

    async def answer(self) -> None:
        """Search, write, verify and review, one after the other. Events of all steps go through the run's event queue."""
        if self.skills.replacement is not None:
            self.checked = await self.skills.instead()
            name = f"/{self.skills.replacement.name}"
            self.end_search(Verdict(name, True, "planner_done", f"{name} works without rounds of search"))
            self.emit(Writing(len(self.run.evidence)))
            return
        await self.take_over_earlier_work()
        self.stopped = await self.gather()
        if self.stopped.stop.reason in _REFLECT_AFTER and not self.run.is_answered_by_language_model("reflect"):
            await self.run.reflect()
        await self.look_further()
        self.emit(Writing(len(self.run.evidence)))
        self.draft = await self.write(self.stopped.stop)
        self.checked = await self.verify(self.draft)
        if self.checked is not None:
            async for judged in self.review.run(self.checked):
                self.checked = self.review.best or self.checked
                self.emit(judged)
            self.checked = await self.skills.after_writing(self.checked)
            self.stopped = await self.bound_absence(self.stopped, self.checked)

    async def adapt_to_model(self, *, tests: bool) -> None:
        """Find out how the model writes, and leave out what small ones are of no use for: planning and reviewing.

        With ``tests`` a model whose name does not tell takes a test, once, because the result is kept.
        """
        run, profile = self.run, self.config.profile
        if not is_language_model(run.model):
            return
        if profile.style is None and tests:
            answer = await run.try_ask(SelfTest())
            await profile.set_style(None if answer is None else answer.passed)
        run.is_strong = profile.style == "prose"
        if "review" in profile.skipped:
            self.review.disable()
        planning = [role for role in ("plan", "reflect") if role in profile.skipped]
        if planning and self.config.preset.adapts:
            run.delegate(planning, ExtractiveModel(run.embed))

    async def describe_scope(self) -> None:
        """Note what the planner is told of the documents, and how many passages they have if they are few."""
        run, documents = self.run, self.config.documents
        if documents is not None:
            run.scope_languages = name_foreign_languages(documents, run.language)
            run.scope_files = describe_files(documents) if run.is_strong else ()
            in_scope = await documents.list_passages(_MAX_SMALL_SCOPE) if self.config.may_read_all else None
            run.scope_size = len(in_scope) if in_scope else None

    async def choose_tier(self) -> str:
        """Return the tier that the user named; with ``auto`` the plan chooses it."""
        if self.config.tier != "auto":
            return self.config.tier
        with suppress(TimeoutError):  # The loop then ends because the time is up.
            async with asyncio.timeout(self.config.bounds.seconds):
                return (await self.run.plan()).complexity
        return "standard"

    async def take_over_earlier_work(self) -> None:
        """Start from an earlier run and from what skills and earlier findings bring."""
        prior_run, recalled = self.config.prior_run, self.config.recalled_findings
        if prior_run is not None:
            self.emit(Continued(prior_run))
            await self.run.resume(prior_run)
        await self.skills.before_search()
        if recalled:
            self.emit(Recalled(tuple(finding.title for finding in recalled)))

    async def gather(self) -> SearchStopped:
        """Read everything in scope, where that is possible; else search until the gate stops."""
        config, run, survey = self.config, self.run, self.run.survey
        # Of a survey many passages are read at once, for which the static vectors are fast enough.
        meters = build_meters(self.gate.needs, run.task, config.embed if survey is None else embed_static)
        passages: tuple[Passage, ...] = ()
        if config.may_read_all and run.is_strong and config.documents is not None:
            passages = await list_scope(config.documents, run)
        if run.is_strong and (config.may_read_all or survey is not None):
            # If the time is up, the loop ends by itself; what was listed is read all the same.
            with suppress(TimeoutError):
                async with run.budget.time_limit():
                    await run.plan(searches=not passages and survey is None)
        if passages:
            self.take_planned_breadth()
            self.gate = add_budget(None, run.budget.bounds)  # Nothing is left to judge.
            return await read_all(run, passages, self.gate, meters)
        return await run_loop(
            run,
            self.search if survey is None else InjectionFilter(survey, self.emit),
            self.parts.strategy,
            self.gate,
            meters,
            k=config.k if survey is None else survey.batch_size,
            per_round=config.per_round,
            honor_sufficient=config.preset.honors_sufficient,
        )

    async def look_further(self) -> None:
        """Find what else is nearest to a narrow question, for the reader to choose what is quoted: that costs no call."""
        run, is_free = self.run, getattr(self.config.search, "is_own_index", False)
        is_quoted = run.breadth == "narrow" and not run.is_strong
        if is_free and is_quoted and run.evidence and not (run.has_read_all or run.budget.is_spent()):
            with suppress(SearchError):
                run.nearest = tuple(await self.search(Query(run.question), MAX_READ))

    def take_planned_breadth(self) -> None:
        """Let the plan of a strong model say how broad the question is, unless the user or a skill did."""
        run = self.run
        if not self.config.names_breadth and run.current_plan is not None:
            complexity = run.current_plan.complexity
            if complexity == "simple":
                run.breadth = "narrow"
            elif complexity == "deep" and run.breadth == "narrow":
                run.breadth = "broad"

    async def write(self, stop: Stop) -> Draft | None:
        """Compute what the answer needs and write the draft; ``None`` if the model failed."""
        run, profile = self.run, self.config.profile
        if profile.style is None and run.evidence:
            await self.adapt_to_model(tests=True)
        await run_computation(run, self.config.python_rounds)
        draft = await write_draft(run, stop, profile.style or "prose")
        if draft is None:
            self.fault = run.error_log[-1]  # What was found can be shown all the same.
        return draft

    async def verify(self, draft: Draft | None) -> Checked | None:
        """Return the draft with its claims verified; if a model's draft has none that holds, the sources are quoted."""
        run = self.run
        if draft is None:
            return await self.verifier.verify_offline(await quote_evidence(run)) if run.evidence else None
        checked = await self.verifier(draft)
        if draft.origin == "sentence" and checked.has_lost_opening:
            left = replace(checked.draft, origin="quoted", notices=(Notice("unsupported_draft"),))
            return replace(checked, draft=left)
        is_cited = any(statement.handles for statement in checked.draft.written)
        says_absence = draft.sufficiency == "partly" or any(one.role == "absence" for one in checked.verdicts)
        is_written = draft.origin == "written" and draft.raw is not None
        if is_written and not is_cited and (checked.removed or not says_absence):
            why = "no source supports a claim of the draft; the sources are quoted instead"
            failure = Failure("draft", "Unsupported", why)
            if not checked.removed:
                said = f"{run.model.name} answered without a source: {to_one_line(draft.raw or '', 300)}"
                self.fault = failure = Failure("draft", ModelDeclined.__name__, said)
            run.record_failure(failure)
            quoted = await self.verifier(await quote_evidence(run))
            notices = (Notice("unsupported_draft"),) if checked.removed else ()
            return replace(quoted, draft=replace(quoted.draft, notices=notices, raw=draft.raw), removed=checked.removed)
        if checked.has_lost_opening:
            checked = replace(checked, draft=replace(checked.draft, sufficiency="partly"))
        return checked

    async def bound_absence(self, stopped: SearchStopped, checked: Checked) -> SearchStopped:
        """Return the stop with what the passages that were not found can hold, if the question is refused."""
        documents = self.config.documents
        if documents is None or not checked.draft.is_empty:
            return stopped
        absence = await estimate_absence(self.run, documents)
        return replace(stopped, stop=replace(stopped.stop, absence=absence))

    def build_report(self) -> Report:
        """Return the report of what the steps have brought."""
        assert self.stopped is not None, "every ending has a stop"
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
        return build_report(run, self.stopped.stop, self.checked, metadata, self.fault)

    # -- endings outside the steps -------------------------------------------------------------------------------------

    def end_search(self, verdict: Verdict) -> None:
        """End the search for a reason outside the loop."""
        self.stopped = build_stopped(self.run, self.gate, verdict)
        self.emit(self.stopped)

    async def check_offline(self, draft: Draft | None) -> None:
        """If nothing was verified yet, verify the draft, or the quoted sources, without a search or a model."""
        if self.checked is None and self.run.evidence:
            self.checked = await self.verifier.verify_offline(draft or await quote_evidence(self.run))

    # -- what the verifier asks the model ------------------------------------------------------------------------------

    async def _judge_draft(self, statements: Sequence[Statement], draft: Draft) -> Sequence[ClaimVerdict | None]:
        """Let a model that writes prose judge a whole draft; the reader judges what it leaves open.

        Single sentences are judged with the draft around them: a pronoun says nothing alone.
        """
        run = self.run
        if self.config.profile.style == "sentence" or run.budget.is_spent():
            return [None] * len(statements)
        self.emit(CheckingClaim(f"{len(statements)} statements"))
        max_tokens, _ = run.compute_prompt_budget(CheckDraft.max_tokens)
        text = render_with_lists(run, draft.narrow(statements)) if len(statements) < len(set(draft.written)) else ""
        passages, beside = run.evidence.by_handle, draft.handles_beside
        return await check_draft(statements, passages, run.try_ask, max_tokens, text, beside, run.today)

    async def _mend(self, doubtful: Sequence[ClaimVerdict], draft: Draft) -> Mapping[Statement, tuple[Statement, ...]]:
        """Let a model that writes prose mend what the check doubts."""
        return {} if self.config.profile.style == "sentence" else await mend_statements(self.run, doubtful, draft)


def new_run_id() -> str:
    """Return an id that sorts by start time and has a random part."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
