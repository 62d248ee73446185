"""``research``: gather → write → review → report, as a stream of events. Command line, service and page only consume it."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from suffice import plugins, settings
from suffice.asks import SynthesisResponse
from suffice.errors import ModelError
from suffice.events import Continued, Event, Finished, Recalled, Started, Stopped, Writing
from suffice.gates.base import Gate
from suffice.gates.basic import budget
from suffice.gather import cancelled, gather, unavailable
from suffice.interventions import Parts, intervened, recalling
from suffice.leads import Embed
from suffice.memory.store import Remembered
from suffice.meters import standard
from suffice.models.base import Model, speaks
from suffice.presets import Preset
from suffice.review.loop import Reviewing
from suffice.run import Run
from suffice.search.base import Reader, Search
from suffice.search.resilience import surviving
from suffice.search.screening import Screening
from suffice.sight import look
from suffice.types import Bounds, Earlier, Failure, Image, Stop
from suffice.write.checkers import standard as standard_checker
from suffice.write.compute import computed
from suffice.write.report import draft, quoted, report
from suffice.write.verify import Settling, asking, lost

# A stop for futility says nothing about sufficiency, so the model is asked once more what is missing: both are shown. A stop
# on a spent budget is not followed by more spending.
_REFLECTED = ("diminished", "saturated", "exhausted", "planner_done", "budget_rounds", "budget_queries")


@dataclass(frozen=True)
class Setup:
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
    earlier: Earlier | None = None
    """The run that this one goes on from."""
    recalled: tuple[Remembered, ...] = ()
    """Earlier findings to look up again."""
    seed: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    run_id: str | None = None
    """A run that is taken up again keeps its name; ``None``: a new one."""
    clock: Callable[[], float] = time.monotonic


async def stream(setup: Setup) -> AsyncGenerator[Event, None]:
    """Run it. The last event is ``Finished`` with the report, also when somebody interrupts."""
    strategy = plugins.find("strategies", setup.preset.strategy)()
    parts = intervened(setup.interventions, Parts(strategy, plugins.find("memories", setup.preset.memory), setup.stop))
    parts = recalling(parts, setup.recalled)
    run = Run(
        setup.task,
        setup.model,
        parts.memory,
        run_id=setup.run_id or new_run_id(),
        seed=setup.seed,
        grounded=parts.grounded,
        embed=setup.embed,
        clock=setup.clock,
        reader=setup.reader,
    )
    gate = bounded(parts.gate, Bounds())
    stopped: Stopped | None = None
    written: SynthesisResponse | None = None
    search = Screening(surviving(setup.search, run.fail), run.happenings.add)
    settle = Settling(run, search, standard_checker(setup.embed, asking(run)), strict=setup.strict)
    review = Reviewing(run, settle, setup.review)
    try:
        await look(run, setup.images)
        run.bounds = await _bounds(setup, run)
        gate = bounded(parts.gate, run.bounds)
        yield _started(setup, run, gate)
        if setup.earlier is not None:
            yield Continued(setup.earlier)
            await run.resume(setup.earlier)
        if setup.recalled:
            yield Recalled(tuple(finding.title for finding in setup.recalled))
        meters = standard(gate.needs, run.task, setup.embed)
        async for event in gather(run, search, parts.strategy, gate, meters, k=setup.k, per_round=setup.per_round):
            yield event
            if isinstance(event, Stopped):
                stopped = event
        assert stopped is not None, "the loop ends with Stopped"
        if stopped.stop.reason in _REFLECTED:
            await run.reflect()
        yield Writing(len(run.evidence))
        await computed(run, setup.python_rounds)
        writing = asyncio.ensure_future(draft(run, stopped.stop))
        async for event in run.happenings.during(writing):
            yield event
        written = writing.result()
        checking = asyncio.ensure_future(_settled(run, stopped.stop, written, settle))
        async for event in run.happenings.during(checking):
            yield event
        settled = checking.result()
        async for judged in review.rounds(settled):
            yield judged
        for event in run.events():
            yield event
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()  # Interrupted once: the report of what was gathered still goes out.
        stopped = cancelled(run, gate)
        yield stopped
        if written is not None and review.best is None:  # It was being checked; what is certain at a glance goes out.
            review.best = await settle.at_once(written)
    except ModelError as error:  # Asks fail inside the run; this is an embeddings server that went away.
        if not run.records:
            raise
        run.fail(Failure("embeddings", type(error).__name__, str(error), error.retryable))
        stopped = unavailable(run, gate, str(error))
        yield stopped
    finally:
        if setup.reader is not None:
            await setup.reader.aclose()
    metadata = {**setup.metadata, "preset": asdict(setup.preset), "task_type": run.task_type, **review.metadata()}
    yield Finished(report(run, stopped.stop, review.best, metadata, settle.claims(review.best)))


async def _settled(
    run: Run, stop: Stop, written: SynthesisResponse | None, settle: Settling
) -> SynthesisResponse | None:
    """The draft with its claims checked; where a model's words come to nothing, the sources in their own."""
    settled = None if written is None else await settle(written)
    if settled is not None and lost(settled) and speaks(run.model):
        settled = await settle(await quoted(run, stop))
    return settled


def bounded(stop: Gate | None, bounds: Bounds) -> Gate:
    """The stop gate, or a bound: whichever comes first; without a gate only the bounds. ``sources`` bounds the writer, not the
    search."""
    limits = {name: value for name, value in asdict(bounds).items() if value is not None and name != "sources"}
    if stop is None:
        return budget(**limits)
    return stop | budget(**limits) if limits else stop


async def _bounds(setup: Setup, run: Run) -> Bounds:
    """An explicit bound beats the preset's cap, which beats the tier. A model on this machine has no time limit unless set:
    it is slow, not stuck (S1)."""
    tier = setup.tier
    if tier == "auto":
        tier = "standard"
        with suppress(TimeoutError):  # The loop then ends on its time limit.
            async with asyncio.timeout(setup.bounds.seconds):
                tier = (await run.plan()).complexity
    chosen = settings.bounds(tier, setup.preset.cap, setup.bounds)
    if setup.model.local and setup.bounds.seconds is None:
        chosen = Bounds(**{**asdict(chosen), "seconds": None})
    return chosen


def _started(setup: Setup, run: Run, gate: Gate) -> Started:
    limits = {name: value for name, value in asdict(run.bounds).items() if value is not None}
    preset = setup.preset
    return Started(run.id, run.task, run.model.name, preset.strategy, preset.memory, str(gate), run.seed, limits)


def new_run_id() -> str:
    """When it began and a random part: sorts by time, never meets another."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
