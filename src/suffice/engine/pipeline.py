"""``research``: gather → write → review → report, as a stream of events. Command line, service and page only consume it."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from suffice import plugins, settings
from suffice.claims.checkers import default_checker as standard_checker
from suffice.claims.verify import ClaimVerifier, has_lost_all_claims, make_ask_support
from suffice.engine.interventions import RunParts, add_recalled_queries, apply_interventions
from suffice.engine.loop import run_loop, stop_cancelled, stop_unavailable
from suffice.engine.presets import Preset
from suffice.engine.vision import describe_images
from suffice.errors import ModelError
from suffice.events import Continued, Event, Finished, Recalled, SearchStopped, Started, Writing
from suffice.gates.base import Gate
from suffice.gates.basic import budget
from suffice.meters import build_meters
from suffice.models.base import Model, is_language_model
from suffice.prompts import SynthesisResponse
from suffice.report.build import build_report
from suffice.report.compute import run_computation
from suffice.report.draft import clean_draft, quote_sources, write_draft
from suffice.review.loop import ReviewLoop
from suffice.search.base import Reader, Search
from suffice.search.resilience import make_resilient
from suffice.search.screened import InjectionFilter
from suffice.state.run import RunState
from suffice.storage.findings import StoredFinding
from suffice.types import Bounds, Embed, Failure, Image, PriorRun, Stop

# A stop for futility says nothing about sufficiency, so the model is asked once more what is missing: both are shown. A stop
# on a spent budget is not followed by more spending.
_REFLECT_AFTER = ("diminished", "saturated", "exhausted", "planner_done", "budget_rounds", "budget_queries")


@dataclass(frozen=True)
class RunConfig:
    """All parts of a run, chosen. ``bounds`` are those somebody set; the preset's cap and the tier stand below them."""

    task: str
    search: Search
    model: Model
    preset: Preset
    stop: Gate | None
    """``None``: the strategy's own finish; only bounds end it otherwise."""
    tier: str = "standard"
    bounds: Bounds = Bounds()
    embed: Embed | None = None
    reader: Reader | None = None
    """Reads whole pages behind web results; the stream closes it."""
    k: int = 5
    per_round: int | None = None
    images: tuple[Image, ...] = ()
    interventions: tuple[str, ...] = ()
    review: settings.ReviewRules | None = None
    """``None``: what is written goes out without a review."""
    strict: bool = True
    """Whether a claim that no source supports goes; else it stays and is marked."""
    python_rounds: int = 0
    """Tries that the model has for a computation; 0: it computes nothing."""
    prior_run: PriorRun | None = None
    """The run that this one goes on from."""
    recalled_findings: tuple[StoredFinding, ...] = ()
    """Earlier findings to look up again."""
    seed: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    run_id: str | None = None
    """A run that is taken up again keeps its name; ``None``: a new one."""
    clock: Callable[[], float] = time.monotonic


async def run_pipeline(config: RunConfig) -> AsyncGenerator[Event, None]:
    """Run it. The last event is ``Finished`` with the report, also when somebody interrupts."""
    strategy = plugins.load_plugin("strategies", config.preset.strategy)()
    parts = apply_interventions(
        config.interventions, RunParts(strategy, plugins.load_plugin("memories", config.preset.memory), config.stop)
    )
    parts = add_recalled_queries(parts, config.recalled_findings)
    run = RunState(
        config.task,
        config.model,
        parts.memory,
        run_id=config.run_id or new_run_id(),
        seed=config.seed,
        grounded=parts.grounded,
        embed=config.embed,
        clock=config.clock,
        reader=config.reader,
    )
    gate = add_budget(parts.gate, Bounds())
    stopped: SearchStopped | None = None
    written: SynthesisResponse | None = None
    search = InjectionFilter(make_resilient(config.search, run.record_failure), run.event_queue.add)
    checker = standard_checker(config.embed, make_ask_support(run))
    settle = ClaimVerifier(run, search, checker, partial(clean_draft, run), strict=config.strict)
    review = ReviewLoop(run, settle, config.review)
    try:
        await describe_images(run, config.images)
        run.bounds = await _resolve_bounds(config, run)
        gate = add_budget(parts.gate, run.bounds)
        yield _build_started_event(config, run, gate)
        if config.prior_run is not None:
            yield Continued(config.prior_run)
            await run.resume(config.prior_run)
        if config.recalled_findings:
            yield Recalled(tuple(finding.title for finding in config.recalled_findings))
        meters = build_meters(gate.needs, run.task, config.embed)
        async for event in run_loop(run, search, parts.strategy, gate, meters, k=config.k, per_round=config.per_round):
            yield event
            if isinstance(event, SearchStopped):
                stopped = event
        assert stopped is not None, "the loop ends with Stopped"
        if stopped.stop.reason in _REFLECT_AFTER:
            await run.reflect()
        yield Writing(len(run.evidence))
        await run_computation(run, config.python_rounds)
        writing = asyncio.ensure_future(write_draft(run, stopped.stop))
        async for event in run.event_queue.drain_while(writing):
            yield event
        written = writing.result()
        checking = asyncio.ensure_future(_verify_draft(run, stopped.stop, written, settle))
        async for event in run.event_queue.drain_while(checking):
            yield event
        settled = checking.result()
        async for judged in review.run(settled):
            yield judged
        for event in run.take_events():
            yield event
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()  # Interrupted once: the report of what was gathered still goes out.
        stopped = stop_cancelled(run, gate)
        yield stopped
        if written is not None and review.best is None:  # It was being checked; what is certain at a glance goes out.
            review.best = await settle.verify_lexically(written)
    except ModelError as error:  # Asks fail inside the run; this is an embeddings server that went away.
        if not run.records:
            raise
        run.record_failure(Failure("embeddings", type(error).__name__, str(error), error.retryable))
        stopped = stop_unavailable(run, gate, str(error))
        yield stopped
    finally:
        if config.reader is not None:
            await config.reader.aclose()
    metadata = {**config.metadata, "preset": asdict(config.preset), "task_type": run.task_type, **review.to_metadata()}
    yield Finished(build_report(run, stopped.stop, review.best, metadata, settle.get_verdicts(review.best)))


async def _verify_draft(
    run: RunState, stop: Stop, written: SynthesisResponse | None, settle: ClaimVerifier
) -> SynthesisResponse | None:
    """The draft with its claims checked; where a model's words come to nothing, the sources in their own."""
    settled = None if written is None else await settle(written)
    if settled is not None and has_lost_all_claims(settled) and is_language_model(run.model):
        settled = await settle(await quote_sources(run, stop))
    return settled


def add_budget(stop: Gate | None, bounds: Bounds) -> Gate:
    """The stop gate, or a bound: whichever comes first; without a gate only the bounds. ``sources`` bounds the writer, not the
    search."""
    limits = {name: value for name, value in asdict(bounds).items() if value is not None and name != "sources"}
    if stop is None:
        return budget(**limits)
    return stop | budget(**limits) if limits else stop


async def _resolve_bounds(setup: RunConfig, run: RunState) -> Bounds:
    """An explicit bound beats the preset's cap, which beats the tier. A model on this machine has no time limit unless set:
    it is slow, not stuck (S1)."""
    tier = setup.tier
    if tier == "auto":
        tier = "standard"
        with suppress(TimeoutError):  # The loop then ends on its time limit.
            async with asyncio.timeout(setup.bounds.seconds):
                tier = (await run.plan()).complexity
    chosen = settings.resolve_bounds(tier, setup.preset.cap, setup.bounds)
    if setup.model.local and setup.bounds.seconds is None:
        chosen = Bounds(**{**asdict(chosen), "seconds": None})
    return chosen


def _build_started_event(setup: RunConfig, run: RunState, gate: Gate) -> Started:
    limits = {name: value for name, value in asdict(run.bounds).items() if value is not None}
    preset = setup.preset
    return Started(run.id, run.task, run.model.name, preset.strategy, preset.memory, str(gate), run.seed, limits)


def new_run_id() -> str:
    """When it began and a random part: sorts by time, never meets another."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
