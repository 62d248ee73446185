"""Telemetry of runs: log lines and Prometheus metrics, made from the events of a run.

No text of a document, question or answer goes into a log line or metric.
"""

import logging
import sys
from time import monotonic
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from suffice import events

REGISTRY = CollectorRegistry()
DURATION = Histogram(
    "research_loop_duration_seconds",
    "Seconds from the first query to the stop.",
    buckets=(1, 2, 5, 10, 20, 40, 60, 90, 120, 240, 480, 960),
    registry=REGISTRY,
)
ROUNDS = Histogram(
    "iterations_per_request", "Search rounds of a run.", buckets=(1, 2, 3, 4, 5, 7, 10, 15, 20, 30), registry=REGISTRY
)
SEARCH_FAILURES = Counter("search_failures_total", "Failed attempts to search.", registry=REGISTRY)
STOPS = Counter("suffice_stops_total", "Runs by the reason their search stopped.", ["reason"], registry=REGISTRY)
REPORTS = Counter("suffice_reports_total", "Runs by the status of their report.", ["status"], registry=REGISTRY)
CALLS = Counter("suffice_model_calls_total", "Model calls by role.", ["role"], registry=REGISTRY)
TOKENS = Counter(
    "suffice_tokens_total", "Model tokens by role and direction.", ["role", "direction"], registry=REGISTRY
)
RUNS = Gauge("suffice_runs", "Runs by status; queued runs are the depth of the queue.", ["status"], registry=REGISTRY)
WORKERS = Gauge("suffice_workers", "Workers that are alive.", registry=REGISTRY)
COST = Counter("suffice_cost_usd_total", "Cost of the model calls whose price is known.", registry=REGISTRY)

MAX_REPEATS = 10  # Lines with the same text that are logged in ``REPEAT_SECONDS``.
REPEAT_SECONDS = 60.0

log = structlog.get_logger("suffice")


def configure_logging(stream: Any = None) -> None:
    """Log one JSON object per line to standard error, including the log lines of libraries."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    render = structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[*shared, render],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(stream or sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(render, foreign_pre_chain=shared))
    handler.addFilter(RepeatFilter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


class RepeatFilter(logging.Filter):
    """Drops repeated log lines beyond ``MAX_REPEATS`` a minute; the next line that passes says how many were dropped.

    When file descriptors run out, asyncio reports each connection that it cannot accept, thousands a second.
    """

    def __init__(self) -> None:
        super().__init__()
        self._windows: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        key, now = (record.name, str(record.msg)[:80]), monotonic()
        started, count = self._windows.get(key, (now, 0))
        if now - started > REPEAT_SECONDS:
            dropped, started, count = count - MAX_REPEATS, now, 0
            if dropped > 0:
                record.msg, record.args = f"{record.getMessage()} ({dropped} lines like this were left out)", ()
        if len(self._windows) > 1000:
            self._windows.clear()
        self._windows[key] = (started, count + 1)
        return count < MAX_REPEATS


class Telemetry:
    def __init__(self, run_id: str) -> None:
        self._log = log.bind(run=run_id)
        self._started_at = monotonic()
        self._results = 0
        self._token_bound: float | None = None
        self._round_tokens = 0
        self._tokens_left: float | None = None

    def record_event(self, event: events.Event) -> None:
        """Turn an event into log lines and metrics."""
        if isinstance(event, events.Started):
            self._token_bound = self._tokens_left = event.bounds.get("tokens")
            parts = {name: getattr(event, name) for name in ("strategy", "memory", "model", "gate")}
            self._log_event("run_started", 0, **parts)
        elif isinstance(event, events.Planned):
            self._tokens_left = event.tokens_left
            self._log_event("planned", 0, queries=len(event.queries), complexity=event.complexity)
        elif isinstance(event, events.Reflected):
            self._tokens_left = event.tokens_left
            judged = {"sufficient": event.sufficient, "confidence": event.confidence}
            self._log_event("reflected", event.round, **judged, gaps=len(event.gaps), queries=len(event.queries))
        elif isinstance(event, events.Searching):
            self._log_event("searching", event.index, queries=len(event.queries))
        elif isinstance(event, events.RoundDone):
            self._results += len(event.round.new) if event.accepted else 0
            self._round_tokens += event.tokens
            self._spend(self._round_tokens)
            self._log_event("round_done", event.round.index, accepted=event.accepted, tokens=event.tokens)
        elif isinstance(event, events.Failed):
            self._log_event(
                "failed", None, **{name: getattr(event.failure, name) for name in ("where", "kind", "attempt")}
            )
            if event.failure.where == "search":
                SEARCH_FAILURES.inc()
        elif isinstance(event, events.SearchStopped):
            self._record_stop(event)
        elif isinstance(event, events.Writing):
            self._log_event("writing", None, passages=event.passages)
        elif isinstance(event, events.Finished):
            self._record_finish(event)

    def _spend(self, tokens: int) -> None:
        self._tokens_left = None if self._token_bound is None else max(0.0, self._token_bound - tokens)

    def _record_stop(self, event: events.SearchStopped) -> None:
        self._tokens_left = event.state["token_budget"]
        self._log_event("stopped", event.stop.round, reason=event.stop.reason, gate=event.stop.gate)
        DURATION.observe(monotonic() - self._started_at)
        ROUNDS.observe(len(event.stop.rounds))
        STOPS.labels(event.stop.reason).inc()

    def _record_finish(self, event: events.Finished) -> None:
        report = event.report
        usage = report.usage
        tokens = usage.input_tokens + usage.output_tokens
        self._spend(tokens)
        counts = {"claims": len(report.claims), "sources": len(report.sources), "tokens": tokens}
        spent = {"cost_usd": usage.cost_usd, "seconds": round(usage.seconds, 3)}
        self._log_event("run_finished", report.stop.round, status=report.status, **counts, **spent)
        REPORTS.labels(report.status).inc()
        COST.inc(usage.cost_usd or 0.0)
        for role, used in usage.by_role.items():
            CALLS.labels(role).inc(used.calls)
            TOKENS.labels(role, "input").inc(used.input_tokens)
            TOKENS.labels(role, "output").inc(used.output_tokens)

    def _log_event(self, event: str, iteration: int | None, **more: Any) -> None:
        self._log.info(event, iteration=iteration, token_budget=self._tokens_left, results=self._results, **more)
