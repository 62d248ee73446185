"""``/v1/chat/completions``: suffice as a chat model, over OpenAI's protocol.

The last user message is the question. Progress is streamed as ``reasoning_content`` during the search. The answer follows in
one piece, because it is checked before it is sent. Each citation ``[n]`` is an annotation with its position in the text.
Sampling parameters are accepted and have no effect.
"""

import json
import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Literal

from fastapi import APIRouter, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from suffice.server import runs, schema
from suffice.server.dependencies import ClientDep, Service, ServiceDep
from suffice.server.errors import ApiError, document_errors
from suffice.text.citations import find_citations

router = APIRouter(prefix="/v1")

MODEL = "suffice"
_UNSUPPORTED_FIELDS = ("tools", "functions", "response_format", "audio", "modalities")


class ChatMessagePart(BaseModel):
    type: str
    text: str = ""


class ChatMessage(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ChatMessagePart] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or () if part.type == "text")


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [{"model": MODEL, "messages": [{"role": "user", "content": "How long is the notice period?"}]}]
        },
    )
    model: str = Field(MODEL, max_length=200, description="suffice, or suffice:STRATEGY such as suffice:predicates.")
    messages: list[ChatMessage] = Field(min_length=1, max_length=500)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int = Field(1, ge=1, le=1)


@router.get("/models", summary="The names of models", responses=document_errors(401, 429, 500))
async def list_models(client: ClientDep) -> dict[str, Any]:
    from suffice.engine.presets import list_strategies

    names = [MODEL, *(f"{MODEL}:{name}" for name in list_strategies() if name != "auto")]
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "owned_by": MODEL, "created": 0} for name in names],
    }


@router.post(
    "/chat/completions",
    summary="Research the last user message (OpenAI-compatible)",
    response_model=None,
    responses={
        200: {"description": "A chat completion, or its chunks with `stream`", "content": {"text/event-stream": {}}},
        **document_errors(400, 401, 408, 413, 422, 429, 500, 503),
    },
)
async def create_completion(request: ChatRequest, service: ServiceDep, client: ClientDep) -> Response:
    question = next((message.text for message in reversed(request.messages) if message.role == "user"), "").strip()
    if not question:
        raise ApiError(422, "messages: there is no user message with a text to research")
    unsupported = next((name for name in _UNSUPPORTED_FIELDS if (request.model_extra or {}).get(name)), None)
    if unsupported is not None:
        raise ApiError(422, f"{unsupported}: suffice answers only in text with citations; leave this field out")
    name, _, strategy = request.model.partition(":")
    if name != MODEL:
        raise ApiError(422, f"model: there is no {request.model!r}; use {MODEL} or {MODEL}:STRATEGY")
    try:
        options = schema.RunOptionsBody(strategy=strategy or "auto")
        body = schema.SimpleRequest(question=question, options=options)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error
    stored = await runs.submit_run(service, client, body)
    if request.stream:
        usage = request.stream_options is not None and request.stream_options.include_usage
        return EventSourceResponse(
            _stream_chunks(service, stored.id, request.model, usage), headers={"x-run": stored.id}
        )
    report = await runs.wait_for_report(service, stored.id)
    text = _format_answer(report)
    message = {"role": "assistant", "content": text, "annotations": build_annotations(text, report["sources"])}
    completion = {
        **_envelope(stored.id, request.model, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": _usage_body(report),
    }
    return JSONResponse(completion, headers={"x-run": stored.id})


def build_annotations(text: str, sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return an annotation for each citation in the text; files have their location in place of a URL."""
    known = {source["id"]: source for source in sources}
    annotations = []
    for citation in find_citations(text):
        if (source := known.get(citation.handle)) is not None:
            cited = {"url": source["url"] or source["location"], "title": source["title"]}
            place = {"start_index": citation.start, "end_index": citation.end}
            annotations.append({"type": "url_citation", "url_citation": {**place, **cited}})
    return annotations


async def _stream_chunks(service: Service, run: str, model: str, usage: bool) -> AsyncGenerator[bytes, None]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _format_event({**_envelope(run, model, "chat.completion.chunk"), "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    async with aclosing(service.worker.event_stream.follow(run, 0)) as events:
        async for event in events:
            if event is not None and (progress := _format_progress(event.type, event.data)) is not None:
                yield chunk({"reasoning_content": progress})
    try:
        report = await runs.wait_for_report(service, run)
    except ApiError as error:
        yield _format_event({"error": {"type": "unavailable", "message": str(error), "retryable": error.retryable}})
    else:
        text = _format_answer(report)
        for paragraph in re.split(r"(?<=\n\n)", text):
            yield chunk({"content": paragraph})
        yield chunk({"annotations": build_annotations(text, report["sources"])}, "stop")
        if usage:
            yield _format_event(
                {**_envelope(run, model, "chat.completion.chunk"), "choices": [], "usage": _usage_body(report)}
            )
    yield format_sse_event(data_str="[DONE]")


def _format_progress(type: str, data: str) -> str | None:
    event = json.loads(data) if type in ("searching", "stopped") else {}
    if type == "searching":
        return f"Round {event['index']}: {'; '.join(event['queries'])}\n"
    return f"{event['stop']['explanation']}\n" if type == "stopped" else None


def _format_answer(report: dict[str, Any]) -> str:
    if not report["final_answer"]:
        return f"No evidence was found, so there is no answer. {report['stop']['explanation']}"
    sources = "\n".join(f"{source['id']} {source['title']}, {source['location']}" for source in report["sources"])
    return f"{report['final_answer']}\n\n{sources}\n\n{report['stop']['explanation']}"


def _usage_body(report: dict[str, Any]) -> dict[str, int]:
    usage = report["usage"]
    tokens = {"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]}
    return {**tokens, "total_tokens": sum(tokens.values())}


def _envelope(run: str, model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{run}", "object": kind, "created": int(time.time()), "model": model}


def _format_event(body: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=json.dumps(body, ensure_ascii=False))
