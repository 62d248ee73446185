"""What an operator sees of a run: lines, figures and spans, and nothing of what was asked or found."""

import asyncio
import io
import json

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import generate_latest

from suffice.api import Options, prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.jobs import telemetry
from suffice.testing import FixtureSearch, WordSearch, make_passage, make_search_error

SECRET = "Which pastry does the minister prefer?"
ROWS = [
    make_passage(f"p{n}", f"The minister prefers a pastry with {fruit}.") for n, fruit in enumerate(("plum", "pear"))
]


def seen(search: object, task: str = SECRET) -> list[dict]:
    """The log lines of a run."""
    lines = io.StringIO()
    telemetry.configure_logging(lines)

    async def work() -> None:
        looking = telemetry.Telemetry("run-1")
        setup = telemetry.add_tracing(await prepare_run(task, Options(search=search, model="extractive")), looking)
        async for event in run_pipeline(setup):
            looking.record_event(event)
        looking.end()

    asyncio.run(work())
    return [json.loads(line) for line in lines.getvalue().splitlines()]


@pytest.fixture(scope="module")
def spans() -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


def figure(name: str) -> float:
    text = generate_latest(telemetry.REGISTRY).decode()
    return next((float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name + " ")), 0.0)


def test_every_phase_has_a_line_with_the_named_fields() -> None:
    lines = seen(WordSearch(ROWS))
    assert [line["event"] for line in lines][:2] == ["run_started", "searching"]
    assert {"stopped", "writing", "run_finished"} <= {line["event"] for line in lines}
    for line in lines:
        assert {"run", "iteration", "token_budget", "results", "level", "timestamp"} <= line.keys()


def test_no_text_of_the_asker_reaches_the_log() -> None:
    said = json.dumps(seen(WordSearch(ROWS)))
    assert "pastry" not in said
    assert "plum" not in said


def test_figures_count_stops_rounds_and_failed_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.search.resilience.asyncio.sleep", lambda seconds: _at_once())
    before = figure("search_failures_total"), figure("iterations_per_request_count")
    seen(WordSearch(ROWS))
    seen(FixtureSearch({}, make_search_error()))
    assert figure("search_failures_total") > before[0]
    assert figure("iterations_per_request_count") == before[1] + 2
    assert "suffice_stops_total" in generate_latest(telemetry.REGISTRY).decode()


async def _at_once() -> None:
    pass


def test_spans_of_run_round_and_call_hang_together(spans: InMemorySpanExporter) -> None:
    spans.clear()
    seen(WordSearch(ROWS))
    found = {span.name: span for span in spans.get_finished_spans()}
    assert {"run", "round", "search", "ask draft"} <= found.keys()
    assert found["round"].parent.span_id == found["run"].context.span_id
    assert len({span.context.trace_id for span in found.values()}) == 1
    assert found["run"].attributes["suffice.stop"]
