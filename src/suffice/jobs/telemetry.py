"""What an operator sees of the runs: a line in the log at every phase, figures for Prometheus, spans for OpenTelemetry.

It reads the same stream of events as everybody else and changes nothing. No text of a document, of a question or of an
answer goes into a log, a figure or a span: those are the asker's.
"""

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import Any, TypeVar

import structlog
from opentelemetry import trace
from prometheus_client import CollectorRegistry, Counter, Histogram

from suffice.engine.pipeline import RunConfig
from suffice.events import Event, Failed, Finished, RoundDone, Searching, SearchStopped, Started, Writing
from suffice.models.base import Model, ModelWrapper, Reply
from suffice.prompts.base import Prompt
from suffice.search.base import Search
from suffice.search.resilience import FailureListener, make_resilient
from suffice.types import Passage, Query

A = TypeVar("A")

REGISTRY = CollectorRegistry()
_DURATION_BUCKETS = (1, 2, 5, 10, 20, 40, 60, 90, 120, 240, 480, 960)
DURATION = Histogram(
    "research_loop_duration_seconds", "From the first query to the stop.", buckets=_DURATION_BUCKETS, registry=REGISTRY
)
ROUNDS = Histogram(
    "iterations_per_request", "Rounds of a run.", buckets=(1, 2, 3, 4, 5, 7, 10, 15, 20, 30), registry=REGISTRY
)
SEARCH_FAILURES = Counter("search_failures_total", "Searches that failed, each attempt.", registry=REGISTRY)
STOPS = Counter("suffice_stops_total", "Runs by why the search stopped.", ["reason"], registry=REGISTRY)
REPORTS = Counter("suffice_reports_total", "Runs by how they ended.", ["status"], registry=REGISTRY)
CALLS = Counter("suffice_model_calls_total", "Calls of a model, by role.", ["role"], registry=REGISTRY)
TOKENS = Counter(
    "suffice_tokens_total", "Model tokens, by role and direction.", ["role", "direction"], registry=REGISTRY
)
COST = Counter("suffice_cost_usd_total", "What the calls cost, where prices are known.", registry=REGISTRY)

log = structlog.get_logger("suffice")
tracer = trace.get_tracer("suffice")


def configure_logging(stream: Any = None) -> None:
    """One JSON object a line on standard error; what libraries have to say goes the same way."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(ensure_ascii=False)],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(stream or sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


class Telemetry:
    """One run, seen from outside."""

    def __init__(self, run: str) -> None:
        self._log = log.bind(run=run)
        self._started_at = monotonic()
        self._results = 0
        self._budget: float | None = None
        self._span = tracer.start_span("run", attributes={"suffice.state.run": run})
        self._round: trace.Span | None = None

    def record_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self._budget = event.bounds.get("tokens")
            self._span.set_attributes({"suffice.strategy": event.strategy, "suffice.model": event.model})
            self._log_event(
                "run_started", 0, strategy=event.strategy, memory=event.memory, model=event.model, gate=event.gate
            )
        elif isinstance(event, Searching):
            context = trace.set_span_in_context(self._span)
            self._round = tracer.start_span("round", context, attributes={"suffice.round": event.index})
            self._log_event("searching", event.index, queries=len(event.queries))
        elif isinstance(event, RoundDone):
            self._results += len(event.round.new) if event.accepted else 0
            self._log_event("round_done", event.round.index, accepted=event.accepted, tokens=event.tokens)
            self._close_round({"suffice.new_passages": len(event.round.new), "suffice.accepted": event.accepted})
        elif isinstance(event, Failed):
            self._log_event(
                "failed", None, where=event.failure.where, kind=event.failure.kind, attempt=event.failure.attempt
            )
            if event.failure.where == "search":
                SEARCH_FAILURES.inc()
        elif isinstance(event, SearchStopped):
            self._record_stop(event)
        elif isinstance(event, Writing):
            self._log_event("writing", None, passages=event.passages)
        elif isinstance(event, Finished):
            self._record_finish(event)

    @contextmanager
    def span(self, name: str, **attributes: str) -> Iterator[None]:
        """A span around one call of a model or a search."""
        context = trace.set_span_in_context(self._round or self._span)
        with tracer.start_as_current_span(name, context, attributes=attributes):
            yield

    def end(self) -> None:
        """The run left this process, with or without a report."""
        self._close_round({})
        self._span.end()

    def _record_stop(self, event: SearchStopped) -> None:
        self._log_event("stopped", event.stop.round, reason=event.stop.reason, gate=event.stop.gate)
        self._close_round({})
        self._span.set_attribute("suffice.stop", event.stop.reason)
        DURATION.observe(monotonic() - self._started_at)
        ROUNDS.observe(len(event.stop.rounds))
        STOPS.labels(event.stop.reason).inc()

    def _record_finish(self, event: Finished) -> None:
        report = event.report
        spent = report.usage
        self._log_event(
            "run_finished",
            report.stop.round,
            status=report.status,
            claims=len(report.claims),
            sources=len(report.sources),
            tokens=spent.input_tokens + spent.output_tokens,
            cost_usd=spent.cost_usd,
            seconds=round(spent.seconds, 3),
        )
        self._span.set_attribute("suffice.status", report.status)
        REPORTS.labels(report.status).inc()
        COST.inc(spent.cost_usd or 0.0)
        for role, used in spent.by_role.items():
            CALLS.labels(role).inc(used.calls)
            TOKENS.labels(role, "input").inc(used.input_tokens)
            TOKENS.labels(role, "output").inc(used.output_tokens)

    def _log_event(self, event: str, iteration: int | None, **more: Any) -> None:
        self._log.info(event, iteration=iteration, token_budget=self._budget, results=self._results, **more)

    def _close_round(self, attributes: Mapping[str, Any]) -> None:
        if self._round is not None:
            self._round.set_attributes(dict(attributes))
            self._round.end()
            self._round = None


class TracedModel(ModelWrapper):
    """A model whose every call is a span."""

    def __init__(self, model: Model, watch: Telemetry) -> None:
        super().__init__(model)
        self._telemetry = watch

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        with self._telemetry.span(f"ask {prompt.role}", **{"gen_ai.request.model": self.name}):
            return await self._model(prompt)


class TracedSearch:
    """A search whose every call is a span, with all its attempts."""

    def __init__(self, search: Search, watch: Telemetry) -> None:
        self._search = search
        self._telemetry = watch

    def with_failure_listener(self, report: FailureListener) -> "TracedSearch":
        return TracedSearch(make_resilient(self._search, report), self._telemetry)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        with self._telemetry.span("search"):
            return await self._search(query, k)


def add_tracing(setup: RunConfig, telemetry: Telemetry) -> RunConfig:
    """The same run with a span around every call."""
    return replace(setup, model=TracedModel(setup.model, telemetry), search=TracedSearch(setup.search, telemetry))
