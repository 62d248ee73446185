"""Log lines, metrics and spans of a run, and that they contain no text of questions or documents."""

import asyncio
import io
import json
import logging
from typing import Any

import pytest
from bridge_story import ENOUGH, plan
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from prometheus_client import generate_latest

from suffice.api import prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.errors import ModelError
from suffice.jobs import telemetry
from suffice.jobs.spans import RunSpans, add_tracing
from suffice.jobs.telemetry import MAX_REPEATS, configure_logging
from suffice.options import RunOptions
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import ComputeResponse, SynthesisResponse
from suffice.testing import FixtureSearch, ScriptedModel, WordSearch, make_passage, make_search_error
from suffice.types import Usage

QUESTION = "Which pastry does the minister prefer?"
PASSAGES = [
    make_passage(f"p{n}", f"The minister prefers a pastry with {fruit}.") for n, fruit in enumerate(("plum", "pear"))
]


def run_and_read_log(search: object, **options: Any) -> list[dict]:
    """Run a question and return the log lines."""
    lines = io.StringIO()
    telemetry.configure_logging(lines)

    async def work() -> None:
        recorder = telemetry.Telemetry("run-1")
        config = await prepare_run(QUESTION, RunOptions(**{"search": search, "model": "extractive", **options}))
        async for event in run_pipeline(add_tracing(config, recorder.spans)):
            recorder.record_event(event)
        recorder.spans.end()

    asyncio.run(work())
    return [json.loads(line) for line in lines.getvalue().splitlines()]


@pytest.fixture(scope="module")
def spans() -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


def read_metric(name: str) -> float:
    text = generate_latest(telemetry.REGISTRY).decode()
    return next((float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name + " ")), 0.0)


def test_every_phase_is_logged_with_the_documented_fields() -> None:
    lines = run_and_read_log(WordSearch(PASSAGES))
    assert [line["event"] for line in lines][:3] == ["run_started", "planned", "searching"]
    assert {"reflected", "stopped", "writing", "run_finished"} <= {line["event"] for line in lines}
    for line in lines:
        assert {"run", "iteration", "token_budget", "results", "level", "timestamp"} <= line.keys()


def test_the_token_budget_in_the_log_is_what_is_left() -> None:
    model = ScriptedModel(
        {
            "plan": [PlanResponse((PlannedQuery("minister"),))],
            "reflect": [
                ReflectionResponse(False, 0.2, ("pears",), (PlannedQuery("pear"),)),
                ReflectionResponse(True, 0.9, (), ()),
            ],
            "draft": [SynthesisResponse("The minister prefers a pastry with plum [1].")],
        },
        usage=Usage(1, 70, 30),
    )
    options = {"model": model, "strategy": "reflect", "max_tokens": 1000, "review": False}
    lines = run_and_read_log(WordSearch(PASSAGES), **options)
    left = [(line["event"], line["token_budget"]) for line in lines]
    assert left[:3] == [("run_started", 1000), ("planned", 900), ("searching", 900)]
    assert [tokens for event, tokens in left if event == "reflected"] == [800, 700]
    assert left[-1] == ("run_finished", 500), "the draft and its check were paid"


def test_log_contains_no_text_of_questions_or_documents() -> None:
    log = json.dumps(run_and_read_log(WordSearch(PASSAGES)))
    assert "pastry" not in log
    assert "plum" not in log


def test_metrics_count_stops_rounds_and_failed_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.search.resilience.asyncio.sleep", lambda seconds: _do_not_sleep())
    before = read_metric("search_failures_total"), read_metric("iterations_per_request_count")
    run_and_read_log(WordSearch(PASSAGES))
    run_and_read_log(FixtureSearch({}, make_search_error()))
    assert read_metric("search_failures_total") > before[0]
    assert read_metric("iterations_per_request_count") == before[1] + 2
    assert "suffice_stops_total" in generate_latest(telemetry.REGISTRY).decode()


async def _do_not_sleep() -> None:
    pass


def test_spans_of_run_round_and_call_are_nested(spans: InMemorySpanExporter) -> None:
    spans.clear()
    run_and_read_log(WordSearch(PASSAGES))
    found = {span.name: span for span in spans.get_finished_spans()}
    assert {"invoke_agent suffice", "round", "retrieval", "ask plan"} <= found.keys()
    agent = found["invoke_agent suffice"]
    assert found["round"].parent.span_id == agent.context.span_id
    assert len({span.context.trace_id for span in found.values()}) == 1
    assert agent.attributes["suffice.stop"]
    assert agent.attributes["suffice.run"] == "run-1"
    assert "gen_ai.operation.name" not in found["ask plan"].attributes, "no language model was called"


def run_with_model(model: object, conversation: str | None = None) -> None:
    async def work() -> None:
        spans = RunSpans("run-2", conversation)
        config = await prepare_run(QUESTION, RunOptions(search=WordSearch(PASSAGES), model=model, review=False))
        async for event in run_pipeline(add_tracing(config, spans)):
            spans.record_event(event)
        spans.end()

    asyncio.run(work())


def test_spans_follow_the_conventions_for_generative_ai(spans: InMemorySpanExporter) -> None:
    spans.clear()
    answers = {"plan": [plan(QUESTION)], "reflect": [ENOUGH], "draft": [SynthesisResponse("It is plum [1].")]}
    answers["compute"] = [ComputeResponse()]
    model = ScriptedModel(answers, usage=Usage(1, 30, 7, 0.25))
    model.name = "google:gemini-test"
    run_with_model(model, "run-1")
    found = spans.get_finished_spans()
    [agent] = [span for span in found if span.name == "invoke_agent suffice"]
    chats = [span for span in found if span.name == "chat gemini-test"]
    searches = [span for span in found if span.name == "retrieval"]
    assert agent.kind is SpanKind.INTERNAL
    assert agent.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert agent.attributes["gen_ai.agent.name"] == "suffice"
    assert {span.attributes["gen_ai.conversation.id"] for span in found} == {"run-1"}
    assert {span.attributes["suffice.role"] for span in chats} >= {"plan", "draft"}
    assert all(span.attributes["gen_ai.operation.name"] == "retrieval" for span in searches)
    assert searches
    for span in chats:
        assert span.kind is SpanKind.CLIENT
        assert span.attributes["gen_ai.operation.name"] == "chat"
        assert span.attributes["gen_ai.provider.name"] == "gcp.gemini"
        assert span.attributes["gen_ai.request.model"] == "gemini-test"
        assert span.attributes["gen_ai.usage.input_tokens"] == 30
        assert span.attributes["gen_ai.usage.output_tokens"] == 7
    assert agent.attributes["gen_ai.usage.input_tokens"] == 30 * len(chats)
    assert agent.attributes["suffice.cost_usd"] == pytest.approx(0.25 * len(chats))
    text = " ".join(span.to_json() for span in found)
    assert "pastry" not in text
    assert "plum" not in text


def test_a_failed_call_is_marked_without_its_message(spans: InMemorySpanExporter) -> None:
    spans.clear()
    broken = ModelError("the plum server is down")
    run_with_model(ScriptedModel({"plan": [broken], "reflect": [broken], "draft": [broken]}))
    failed = [span for span in spans.get_finished_spans() if span.name.startswith("chat ")]
    assert {span.attributes["error.type"] for span in failed} == {"ModelError"}
    assert all(not span.status.is_ok for span in failed)
    assert "plum" not in " ".join(span.to_json() for span in failed)


@pytest.mark.attack("floods of log lines")
def test_repeated_log_lines_are_limited():
    stream = io.StringIO()
    configure_logging(stream)
    for number in range(5000):
        logging.getLogger("asyncio").error("socket.accept() out of system resource\nsocket: %d", number)
    logging.getLogger("asyncio").error("something else")
    lines = stream.getvalue().splitlines()
    assert len(lines) == MAX_REPEATS + 1
    assert "something else" in lines[-1]
