"""OpenTelemetry spans of a run, named by the conventions for generative AI, so that trace viewers show calls and tokens.

    invoke_agent suffice          the run: agent, conversation, model, tokens, and why the search stopped
    ├── round                     a round of searching
    │   ├── chat MODEL            a call of a language model, with its role and tokens
    │   └── retrieval             a search with all its attempts
    └── chat MODEL                a call outside a round: the plan, the draft, a review

Without a configured SDK the spans cost nothing and go nowhere. No text of a document, question or answer is in them. The
conventions are still in development, so their names are written out here instead of imported.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from suffice import __version__
from suffice.engine.pipeline import RunConfig
from suffice.events import Event, Finished, RoundDone, Searching, SearchStopped, Started
from suffice.models.base import Model, ModelWrapper, Reply, is_language_model
from suffice.models.capability import find_model
from suffice.prompts.base import Prompt
from suffice.search.base import Search
from suffice.search.resilience import FailureListener, make_resilient
from suffice.types import Passage, Query

A = TypeVar("A")

AGENT_NAME = "suffice"
_PROVIDERS = {"google": "gcp.gemini"}  # Where the conventions have another name than we do.

tracer = trace.get_tracer("suffice", __version__)


class RunSpans:
    """The spans of one run. ``conversation`` is the first run of a chain of follow-ups."""

    def __init__(self, run_id: str, conversation: str | None = None) -> None:
        self._common = {
            "gen_ai.agent.name": AGENT_NAME,
            "gen_ai.conversation.id": conversation or run_id,
        }
        self._span = tracer.start_span(
            f"invoke_agent {AGENT_NAME}",
            kind=SpanKind.INTERNAL,
            attributes={
                **self._common,
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.version": __version__,
                "suffice.run": run_id,
            },
        )
        self._round: trace.Span | None = None

    def record_event(self, event: Event) -> None:
        """Open and close spans, and set their attributes, as the run goes on."""
        if isinstance(event, Started):
            self._span.set_attributes(
                {
                    "gen_ai.request.model": event.model.partition(":")[2] or event.model,
                    "suffice.strategy": event.strategy,
                    "suffice.memory": event.memory,
                    "suffice.model": event.model,
                }
            )
        elif isinstance(event, Searching):
            context = trace.set_span_in_context(self._span)
            attributes: dict[str, Any] = {
                **self._common,
                "suffice.round": event.index,
                "suffice.queries": len(event.queries),
            }
            self._round = tracer.start_span("round", context, attributes=attributes)
        elif isinstance(event, RoundDone):
            self._close_round({"suffice.new_passages": len(event.round.new), "suffice.accepted": event.accepted})
        elif isinstance(event, SearchStopped):
            self._close_round({})
            self._span.set_attribute("suffice.stop", event.stop.reason)
        elif isinstance(event, Finished):
            self._record_finish(event)

    @contextmanager
    def open_span(self, name: str, kind: SpanKind, attributes: Mapping[str, Any]) -> Iterator[trace.Span]:
        """Open a span around one call of a model or a search; an exception marks it as failed."""
        context = trace.set_span_in_context(self._round or self._span)
        with tracer.start_as_current_span(
            name,
            context,
            kind,
            {**self._common, **attributes},
            record_exception=False,  # The message of an exception may quote a document.
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise

    def end(self) -> None:
        """Close the spans when the run ends or is suspended."""
        self._close_round({})
        self._span.end()

    def _record_finish(self, event: Finished) -> None:
        usage = event.report.usage
        self._span.set_attributes(
            {
                "suffice.status": event.report.status,
                "gen_ai.usage.input_tokens": usage.input_tokens,
                "gen_ai.usage.output_tokens": usage.output_tokens,
                "suffice.sources": len(event.report.sources),
                **({} if usage.cost_usd is None else {"suffice.cost_usd": usage.cost_usd}),
            }
        )
        if event.report.status == "failed":
            self._span.set_attribute("error.type", event.report.stop.reason)
            self._span.set_status(Status(StatusCode.ERROR))

    def _close_round(self, attributes: Mapping[str, Any]) -> None:
        if self._round is not None:
            self._round.set_attributes(dict(attributes))
            self._round.end()
            self._round = None


class TracedModel(ModelWrapper):
    """Wraps a model; each call is a span."""

    def __init__(self, model: Model, spans: RunSpans) -> None:
        super().__init__(model)
        self._spans = spans

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        model = find_model(self._model, prompt.role)
        if not is_language_model(model):
            with self._spans.open_span(f"ask {prompt.role}", SpanKind.INTERNAL, {"suffice.role": prompt.role}):
                return await self._model(prompt)
        provider, _, name = model.name.partition(":")
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
            "gen_ai.request.model": name or model.name,
            "gen_ai.request.temperature": prompt.temperature,
            "gen_ai.request.max_tokens": prompt.max_tokens,
            "gen_ai.output.type": "json" if prompt.output_format == "json" else "text",
            "gen_ai.prompt.name": prompt.role,
            "suffice.role": prompt.role,
        }
        with self._spans.open_span(f"chat {name or model.name}", SpanKind.CLIENT, attributes) as span:
            reply = await self._model(prompt)
            span.set_attribute("gen_ai.usage.input_tokens", reply.usage.input_tokens)
            span.set_attribute("gen_ai.usage.output_tokens", reply.usage.output_tokens)
            if reply.usage.usd is not None:
                span.set_attribute("suffice.cost_usd", reply.usage.usd)
            return reply


class TracedSearch:
    """Wraps a search; each call with all its attempts is a span."""

    def __init__(self, search: Search, spans: RunSpans) -> None:
        self._search = search
        self._spans = spans

    def with_failure_listener(self, on_failure: FailureListener) -> "TracedSearch":
        return TracedSearch(make_resilient(self._search, on_failure), self._spans)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        attributes = {"gen_ai.operation.name": "retrieval", "gen_ai.request.top_k": float(k)}
        with self._spans.open_span("retrieval", SpanKind.CLIENT, attributes) as span:
            found = await self._search(query, k)
            span.set_attribute("suffice.passages", len(found))
            return found


def add_tracing(config: RunConfig, spans: RunSpans) -> RunConfig:
    """Return the same run with a span around every call."""
    return replace(config, model=TracedModel(config.model, spans), search=TracedSearch(config.search, spans))
