"""Look at the spans of a run: as a tree in the terminal, or in a viewer on this machine.

    pip install '.[service]' opentelemetry-sdk
    python examples/trace_viewer.py "How does asyncio cancel a task?" FOLDER

For a viewer with a web page, start one that reads OTLP (Jaeger, Grafana Tempo, Arize Phoenix …) and let its exporter take the
place of ours; no line of code is needed for that:

    pip install opentelemetry-distro opentelemetry-exporter-otlp-proto-http
    docker run --rm -p 16686:16686 -p 4318:4318 jaegertracing/jaeger          # then open http://127.0.0.1:16686
    OTEL_SERVICE_NAME=suffice opentelemetry-instrument --exporter_otlp_protocol http/protobuf suffice ask "…" --docs FOLDER
"""

import asyncio
import sys
from collections import defaultdict

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from suffice.api import prepare_run
from suffice.engine.pipeline import new_run_id, run_pipeline
from suffice.events import Finished
from suffice.jobs.spans import RunSpans, add_tracing
from suffice.options import RunOptions


async def run(question: str, docs: str) -> None:
    """Research a question with a span around every call."""
    config = await prepare_run(question, RunOptions(docs=docs))
    spans = RunSpans(new_run_id())
    async for event in run_pipeline(add_tracing(config, spans)):
        spans.record_event(event)
        if isinstance(event, Finished):
            print(event.report.short_answer or event.report.status)
    spans.end()


def print_tree(spans: tuple[ReadableSpan, ...]) -> None:
    """Print each span below the one that it belongs to, with its duration and tokens."""
    children = defaultdict(list)
    for span in spans:
        children[span.parent and span.parent.span_id].append(span)

    def show(parent: int | None, depth: int) -> None:
        for span in sorted(children[parent], key=lambda each: each.start_time):
            seconds = (span.end_time - span.start_time) / 1e9
            names = ("suffice.role", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "suffice.stop")
            facts = ", ".join(f"{name}={span.attributes[name]}" for name in names if name in span.attributes)
            print(f"{'  ' * depth}{span.name}  {seconds:.3f} s  {facts}")
            show(span.context.span_id, depth + 1)

    show(None, 0)


if __name__ == "__main__":
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    asyncio.run(run(*sys.argv[1:3]))
    print_tree(exporter.get_finished_spans())
