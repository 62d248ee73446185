"""``/jobs``: runs, earlier and under way: watch, read and end them. ``/replay``: what if another gate had watched?"""

import asyncio
import base64
import binascii
import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query
from fastapi.sse import EventSourceResponse

from suffice.doors.http import schema
from suffice.doors.http.context import Here, Service, Who
from suffice.doors.http.problems import Problem, documented
from suffice.doors.http.streaming import events, last_event
from suffice.gates.parse import parse
from suffice.jobs import orders
from suffice.jobs.numbering import lasting
from suffice.jobs.store import Kept
from suffice.jobs.worker import PRIORITIES
from suffice.replay.trace import trace_of
from suffice.replay.whatif import WhatIf, what_if
from suffice.write.chart import render

router = APIRouter()

JobId = Annotated[str, Path(min_length=1, max_length=64, description="The id of a run of yours.")]
Status = Literal["queued", "running", "done", "failed", "cancelled"]
_FAILURES = documented(401, 404, 422, 429, 500)


@router.get("/jobs", summary="Your runs, newest first", responses=documented(401, 422, 429, 500))
async def listed(
    here: Here,
    who: Who,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
    status: Annotated[Status | None, Query()] = None,
) -> schema.JobList:
    after = None if cursor is None else _position(cursor)
    found = await asyncio.to_thread(here.worker.store.of, who.id, limit=limit + 1, after=after, status=status)
    page, more = found[:limit], len(found) > limit
    return schema.JobList(
        jobs=[schema.JobSummary(**_summary(kept)) for kept in page], next=_cursor(page[-1]) if more else None
    )


@router.get("/jobs/{job}", summary="How far a run is, and its report", responses=_FAILURES)
async def job(job: JobId, here: Here, who: Who) -> schema.Job:
    return await _shown(here, await own(here, who.id, job))


@router.get(
    "/jobs/{job}/events",
    summary="Watch a run",
    response_model=None,
    responses={200: {"description": "`end` is the last", "content": {"text/event-stream": {}}}, **_FAILURES},
)
async def watch(
    job: JobId,
    here: Here,
    who: Who,
    last: Annotated[str | None, Header(alias="Last-Event-ID", max_length=40)] = None,
) -> EventSourceResponse:
    await own(here, who.id, job)
    return events(here.worker.feed, job, last_event(last))


@router.delete("/jobs/{job}", summary="End a run", responses=_FAILURES)
async def cancel(job: JobId, here: Here, who: Who) -> schema.Job:
    """It stops before its next paid call; what was found until then is its report. A run that has ended stays as it is."""
    await own(here, who.id, job)
    return await _shown(here, await here.worker.cancel(job))


@router.post(
    "/replay",
    summary="Where would another gate have stopped this run?",
    responses=_FAILURES | documented(400, 408, 413),
)
async def replay(request: schema.ReplayRequest, here: Here, who: Who) -> schema.ReplayResponse:
    gates = [parse(text, files=False) for text in request.stop]
    await own(here, who.id, request.run)
    kept = [
        json.loads(line.data)
        for type in ("started", "round", "stopped", "report")
        for line in await asyncio.to_thread(here.worker.store.of_type, request.run, type)
    ]
    trace = trace_of(kept, f"The run {request.run}")
    halts = await asyncio.to_thread(lambda: [_halt(what_if(trace, gate), request.chart) for gate in gates])
    return schema.ReplayResponse(run=request.run, rounds=len(trace.rounds), gates=halts)


def _halt(found: WhatIf, width: int | None) -> schema.Halt:
    return schema.Halt(
        gate=found.stop.gate,
        fired=found.halted.fired,
        round=found.halted.rounds,
        reason=found.stop.reason,
        explanation=found.stop.explanation,
        missed=[
            schema.Missed(id=hit.id, title=hit.title, location=hit.location, cited=hit in found.cited)
            for hit in found.missed
        ],
        unknown=list(found.unknown),
        words=str(found),
        chart=None if width is None else render(found.stop, width=width, prefix="replay") or None,
    )


async def own(here: Service, owner: str, run: str) -> Kept:
    """A run, if it is the asker's: whose it is otherwise is not said."""
    try:
        kept = await asyncio.to_thread(here.worker.store.run, run)
    except KeyError:
        kept = None
    if kept is None or kept.owner != owner:
        raise Problem(404, f"You have no run {run!r}")
    return kept


async def _shown(here: Service, kept: Kept) -> schema.Job:
    rounds = await asyncio.to_thread(here.worker.store.of_type, kept.id, "round")
    last = await asyncio.to_thread(here.worker.store.latest, kept.id)
    return schema.Job(
        **_summary(kept),
        progress=_progress([json.loads(line.data) for line in rounds], last.type if last else kept.status, last),
        report=None if kept.report is None else json.loads(kept.report),
        error=None if kept.error is None else json.loads(kept.error),
    )


def _progress(rounds: list[dict[str, Any]], phase: str, last: Any) -> schema.Progress:
    belief = rounds[-1].get("belief", {}) if rounds else {}
    return schema.Progress(
        phase=phase,
        events=lasting(last.seq) if last else 0,
        rounds=len(rounds),
        queries=sum(len(round["queries"]) for round in rounds),
        passages=sum(passage["new"] for round in rounds if round["accepted"] for passage in round["passages"]),
        belief=[note["text"] for note in belief.get("notes", ())],
        open=list(belief.get("open", ())),
    )


def _summary(kept: Kept) -> dict[str, Any]:
    return {
        "job_id": kept.id,
        "task": orders.loads(kept.order).task,
        "status": kept.status,
        "priority": {number: name for name, number in PRIORITIES.items()}[kept.priority],
        "created": _moment(kept.created),
        "finished": None if kept.finished is None else _moment(kept.finished),
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _cursor(kept: Kept) -> str:
    return base64.urlsafe_b64encode(json.dumps([kept.created, kept.id]).encode()).decode()


def _position(cursor: str) -> tuple[float, str]:
    try:
        created, run = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        return float(created), str(run)
    except (ValueError, TypeError, binascii.Error):
        raise Problem(422, "cursor: this is not a cursor that a list of runs gave out") from None
