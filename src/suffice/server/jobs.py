"""``/jobs``: list, read, stream and cancel runs. ``/replay``: where another gate would have stopped a run."""

import asyncio
import json
import math
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event

from suffice.events import format_time
from suffice.gates.parse import parse_gate
from suffice.jobs.event_stream import EventStream, count_lasting_events
from suffice.jobs.requests import parse_request
from suffice.jobs.store import Priority, RunStatus, StoredRun, is_run_id
from suffice.replay.episodes import build_trace
from suffice.replay.judge import WhatIf, what_if
from suffice.report.chart import render_chart
from suffice.server import schema
from suffice.server.dependencies import ClientDep, OwnedRunDep, Service, ServiceDep, find_owned_run
from suffice.server.errors import ApiError, document_errors

router = APIRouter()

KEEPALIVE_SECONDS = 15.0  # Seconds without an event after which a comment keeps the connection open.
RETRY_MS = 1000  # Milliseconds after which a browser reconnects.
_ERRORS = document_errors(401, 404, 422, 429, 500)


@router.get("/jobs", summary="Your runs, newest first", responses=document_errors(401, 422, 429, 500))
async def list_jobs(
    service: ServiceDep,
    client: ClientDep,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
    status: Annotated[RunStatus | None, Query()] = None,
    q: Annotated[str, Query(max_length=200, description="Only runs whose question has all of these words.")] = "",
) -> schema.JobList:
    after = None if cursor is None else _parse_cursor(cursor)
    words = q.casefold().split()

    def accept(stored_request: str) -> bool:
        request = parse_request(stored_request)
        question = request.question.casefold() if words else ""
        return service.worker.served.serves(request) and all(word in question for word in words)

    find = service.worker.store.list_runs
    found = await asyncio.to_thread(find, client.id, limit=limit + 1, after=after, status=status, accept=accept)
    page, has_more = found[:limit], len(found) > limit
    return schema.JobList(
        jobs=[schema.JobSummary(**_summarize_run(stored)) for stored in page],
        next=f"{page[-1].created!r}_{page[-1].id}" if has_more else None,
    )


@router.get("/jobs/{job}", summary="The progress of a run, and its report", responses=_ERRORS)
async def get_job(run: OwnedRunDep, service: ServiceDep) -> schema.Job:
    return await _job_body(service, run)


@router.get(
    "/jobs/{job}/events",
    summary="The events of a run as a stream",
    response_model=None,
    responses={200: {"description": "`end` is the last event", "content": {"text/event-stream": {}}}, **_ERRORS},
)
async def stream_events(
    run: OwnedRunDep,
    service: ServiceDep,
    last_event_id: Annotated[int, Header(alias="Last-Event-ID", ge=0, lt=10**9)] = 0,
) -> EventSourceResponse:
    return stream_response(service.worker.event_stream, run.id, last_event_id)


@router.delete("/jobs/{job}", summary="Cancel a run, or delete it", responses=_ERRORS | document_errors(409))
async def cancel_job(
    run: OwnedRunDep,
    service: ServiceDep,
    purge: Annotated[
        bool | Literal[""], Query(description="Also delete all that is stored of it; `?purge` is enough.")
    ] = False,
) -> schema.Job:
    """The run stops before its next paid call and reports what it has found. A run that has ended is not changed.

    With `purge` everything that is stored of the run is deleted, and the response is its last state.
    """
    if purge is False:
        return await _job_body(service, await service.worker.cancel(run.id))
    last_state = await _job_body(service, run)
    if not await service.worker.purge(run.id):
        raise ApiError(409, "The run has not ended yet, so it is cancelled but not deleted; try again", retryable=True)
    return last_state


@router.get(
    "/export",
    summary="All your runs with their events and reports, one JSON object a line",
    response_model=None,
    responses={200: {"content": {"application/x-ndjson": {}}}, **document_errors(401, 429, 500)},
)
async def export_runs(service: ServiceDep, client: ClientDep) -> StreamingResponse:
    rows = service.worker.store.iter_export(client.id, service.worker.served.accepts)
    return _stream_rows(rows, {"content-disposition": "attachment; filename=suffice.jsonl"})


@router.get(
    "/runs.jsonl",
    summary="The log of your runs: one line each with times, tokens, queries, scores and the reason of the stop",
    response_model=None,
    responses={200: {"content": {"application/x-ndjson": {}}}, **document_errors(401, 429, 500)},
)
async def read_log(service: ServiceDep, client: ClientDep) -> StreamingResponse:
    return _stream_rows(service.worker.store.iter_log(client.id, service.worker.served.accepts))


@router.post(
    "/replay", summary="Where another gate would have stopped a run", responses=_ERRORS | document_errors(400, 408, 413)
)
async def replay_gates(request: schema.ReplayRequest, service: ServiceDep, client: ClientDep) -> schema.ReplayResponse:
    gates = [parse_gate(text, files=False) for text in request.stop]
    await find_owned_run(service, client, request.run)
    load = service.worker.store.load_events
    events = await asyncio.to_thread(load, request.run, "started", "round", "stopped", "report")
    trace = build_trace(events, f"The run {request.run}")
    outcomes = await asyncio.to_thread(lambda: [_gate_outcome(what_if(trace, gate), request.chart) for gate in gates])
    return schema.ReplayResponse(run=request.run, rounds=len(trace.rounds), gates=outcomes)


def stream_response(
    event_stream: EventStream, run: str, after: int, headers: Mapping[str, str] | None = None
) -> EventSourceResponse:
    """Stream the events with a number greater than ``after`` until the run has ended.

    Each has its number, so a client that reconnects continues after the last one.
    """
    return EventSourceResponse(
        _format_events(event_stream, run, after),
        headers={"cache-control": "no-cache, no-store", "x-accel-buffering": "no", **(headers or {})},
    )


async def _format_events(event_stream: EventStream, run: str, after: int) -> AsyncGenerator[bytes, None]:
    yield format_sse_event(comment="suffice", retry=RETRY_MS)
    async with aclosing(event_stream.follow(run, after, KEEPALIVE_SECONDS)) as events:
        async for event in events:
            if event is None:
                yield KEEPALIVE_COMMENT
            else:
                yield format_sse_event(data_str=event.data, event=event.type, id=str(event.seq))
    yield format_sse_event(data_str="{}", event="end")


def _stream_rows(rows: Iterator[dict[str, Any]], headers: Mapping[str, str] | None = None) -> StreamingResponse:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return StreamingResponse(lines, headers=headers, media_type="application/x-ndjson")


def _gate_outcome(found: WhatIf, chart_width: int | None) -> schema.GateOutcome:
    return schema.GateOutcome(
        gate=found.stop.gate,
        fired=found.stop_point.fired,
        round=found.stop_point.rounds,
        reason=found.stop.reason,
        explanation=found.stop.explanation,
        missed=[
            schema.MissedPassage(id=hit.id, title=hit.title, location=hit.location, cited=hit in found.cited)
            for hit in found.missed
        ],
        unknown=list(found.unknown),
        words=str(found),
        chart=None if chart_width is None else render_chart(found.stop, width=chart_width, prefix="replay") or None,
    )


async def _job_body(service: Service, stored: StoredRun) -> schema.Job:
    rounds = await asyncio.to_thread(service.worker.store.load_events, stored.id, "round")
    last = await asyncio.to_thread(service.worker.store.last_event, stored.id)
    belief = rounds[-1].get("belief", {}) if rounds else {}
    progress = schema.JobProgress(
        phase=stored.status if last is None else last.type,
        events=0 if last is None else count_lasting_events(last.seq),
        rounds=len(rounds),
        queries=sum(len(round["queries"]) for round in rounds),
        passages=sum(passage["new"] for round in rounds if round["accepted"] for passage in round["passages"]),
        belief=[note["text"] for note in belief.get("notes", ())],
        open=list(belief.get("open", ())),
    )
    return schema.Job(
        **_summarize_run(stored),
        progress=progress,
        report=None if stored.report is None else json.loads(stored.report),
        error=None if stored.error is None else json.loads(stored.error),
        waiting=await asyncio.to_thread(service.worker.explain_waiting, stored),
    )


def _summarize_run(stored: StoredRun) -> dict[str, Any]:
    return {
        "job_id": stored.id,
        "task": parse_request(stored.request).question,
        "status": stored.status,
        "priority": Priority(stored.priority).name.lower(),
        "created": format_time(stored.created),
        "finished": None if stored.finished is None else format_time(stored.finished),
        "ending": None if stored.report is None else json.loads(stored.report)["status"],
    }


def _parse_cursor(cursor: str) -> tuple[float, str]:
    created, _, run = cursor.partition("_")
    with suppress(ValueError):
        if is_run_id(run) and math.isfinite(float(created)):
            return float(created), run
    raise ApiError(422, "cursor: this is not the `next` of a list of runs")
