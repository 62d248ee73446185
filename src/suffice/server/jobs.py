"""``/jobs``: runs, earlier and under way: watch, read and end them. ``/replay``: what if another gate had watched?"""

import asyncio
import base64
import binascii
import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query
from fastapi.sse import EventSourceResponse

from suffice.gates.parse import parse_gate
from suffice.jobs import requests
from suffice.jobs.event_stream import count_lasting_events
from suffice.jobs.store import StoredRun
from suffice.jobs.worker import PRIORITIES
from suffice.replay.episodes import build_trace
from suffice.replay.judge import WhatIf, what_if
from suffice.report.chart import render_chart
from suffice.server import schema
from suffice.server.context import ClientDep, Service, ServiceDep
from suffice.server.errors import ApiError, document_errors
from suffice.server.streaming import parse_last_event_id, stream_response

router = APIRouter()

JobId = Annotated[str, Path(min_length=1, max_length=64, description="The id of a run of yours.")]
Status = Literal["queued", "running", "done", "failed", "cancelled"]
_ERRORS = document_errors(401, 404, 422, 429, 500)


@router.get("/jobs", summary="Your runs, newest first", responses=document_errors(401, 422, 429, 500))
async def list_jobs(
    service: ServiceDep,
    client: ClientDep,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
    status: Annotated[Status | None, Query()] = None,
) -> schema.JobList:
    after = None if cursor is None else _parse_cursor(cursor)
    found = await asyncio.to_thread(
        service.worker.store.list_runs, client.id, limit=limit + 1, after=after, status=status
    )
    page, more = found[:limit], len(found) > limit
    return schema.JobList(
        jobs=[schema.JobSummary(**_summarize_run(kept)) for kept in page], next=_make_cursor(page[-1]) if more else None
    )


@router.get("/jobs/{job}", summary="How far a run is, and its report", responses=_ERRORS)
async def get_job(job: JobId, service: ServiceDep, client: ClientDep) -> schema.Job:
    return await _job_body(service, await get_owned_run(service, client.id, job))


@router.get(
    "/jobs/{job}/events",
    summary="Watch a run",
    response_model=None,
    responses={200: {"description": "`end` is the last", "content": {"text/event-stream": {}}}, **_ERRORS},
)
async def stream_events(
    job: JobId,
    service: ServiceDep,
    client: ClientDep,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", max_length=40)] = None,
) -> EventSourceResponse:
    await get_owned_run(service, client.id, job)
    return stream_response(service.worker.event_stream, job, parse_last_event_id(last_event_id))


@router.delete("/jobs/{job}", summary="End a run", responses=_ERRORS)
async def cancel_job(job: JobId, service: ServiceDep, client: ClientDep) -> schema.Job:
    """It stops before its next paid call; what was found until then is its report. A run that has ended stays as it is."""
    await get_owned_run(service, client.id, job)
    return await _job_body(service, await service.worker.cancel(job))


@router.post(
    "/replay",
    summary="Where would another gate have stopped this run?",
    responses=_ERRORS | document_errors(400, 408, 413),
)
async def replay_gates(request: schema.ReplayRequest, service: ServiceDep, client: ClientDep) -> schema.ReplayResponse:
    gates = [parse_gate(text, files=False) for text in request.stop]
    await get_owned_run(service, client.id, request.run)
    kept = [
        json.loads(line.data)
        for type in ("started", "round", "stopped", "report")
        for line in await asyncio.to_thread(service.worker.store.read_events_of_type, request.run, type)
    ]
    trace = build_trace(kept, f"The run {request.run}")
    halts = await asyncio.to_thread(lambda: [_gate_outcome(what_if(trace, gate), request.chart) for gate in gates])
    return schema.ReplayResponse(run=request.run, rounds=len(trace.rounds), gates=halts)


def _gate_outcome(found: WhatIf, width: int | None) -> schema.GateOutcome:
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
        chart=None if width is None else render_chart(found.stop, width=width, prefix="replay") or None,
    )


async def get_owned_run(service: Service, owner: str, run: str) -> StoredRun:
    """A run, if it is the asker's: whose it is otherwise is not said."""
    try:
        kept = await asyncio.to_thread(service.worker.store.get, run)
    except KeyError:
        kept = None
    if kept is None or kept.owner != owner:
        raise ApiError(404, f"You have no run {run!r}")
    return kept


async def _job_body(here: Service, kept: StoredRun) -> schema.Job:
    rounds = await asyncio.to_thread(here.worker.store.read_events_of_type, kept.id, "round")
    last = await asyncio.to_thread(here.worker.store.last_event, kept.id)
    return schema.Job(
        **_summarize_run(kept),
        progress=_summarize_progress(
            [json.loads(line.data) for line in rounds], last.type if last else kept.status, last
        ),
        report=None if kept.report is None else json.loads(kept.report),
        error=None if kept.error is None else json.loads(kept.error),
    )


def _summarize_progress(rounds: list[dict[str, Any]], phase: str, last: Any) -> schema.JobProgress:
    belief = rounds[-1].get("belief", {}) if rounds else {}
    return schema.JobProgress(
        phase=phase,
        events=count_lasting_events(last.seq) if last else 0,
        rounds=len(rounds),
        queries=sum(len(round["queries"]) for round in rounds),
        passages=sum(passage["new"] for round in rounds if round["accepted"] for passage in round["passages"]),
        belief=[note["text"] for note in belief.get("notes", ())],
        open=list(belief.get("open", ())),
    )


def _summarize_run(kept: StoredRun) -> dict[str, Any]:
    return {
        "job_id": kept.id,
        "task": requests.parse_request(kept.request).task,
        "status": kept.status,
        "priority": {number: name for name, number in PRIORITIES.items()}[kept.priority],
        "created": _format_time(kept.created),
        "finished": None if kept.finished is None else _format_time(kept.finished),
    }


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _make_cursor(kept: StoredRun) -> str:
    return base64.urlsafe_b64encode(json.dumps([kept.created, kept.id]).encode()).decode()


def _parse_cursor(cursor: str) -> tuple[float, str]:
    try:
        created, run = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        return float(created), str(run)
    except (ValueError, TypeError, binascii.Error):
        raise ApiError(422, "cursor: this is not a cursor that a list of runs gave out") from None
