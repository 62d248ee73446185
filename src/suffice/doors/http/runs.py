"""``/run``, ``/run-simple`` and ``/search``: ask for an answer and wait, watch, or come back for it."""

import asyncio
import json
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from fastapi.responses import JSONResponse

from suffice.doors.http import schema
from suffice.doors.http.context import Asker, Here, Service, Who, admit
from suffice.doors.http.problems import Problem, documented
from suffice.doors.http.streaming import events
from suffice.front import Options, checked_question, prepare
from suffice.gates.parse import parse
from suffice.jobs import orders
from suffice.jobs.orders import Order
from suffice.jobs.store import Kept
from suffice.types import Passage, Query, Report

router = APIRouter()

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="The same key again is the same run, however often it is sent.",
    ),
]
_FAILURES = documented(400, 401, 408, 409, 413, 422, 429, 500, 503)


@router.post(
    "/run",
    summary="Research a task",
    response_model=None,
    responses={
        200: {"model": Report, "description": "The report; server-sent events with `stream`"},
        202: {"model": schema.Accepted, "description": "Queued, with `async`"},
        **_FAILURES,
    },
)
async def run(request: schema.RunRequest, here: Here, who: Who, key: Key = None) -> Response:
    if request.stream and request.asynchronous:
        raise Problem(422, "stream and async exclude each other; to watch an asynchronous run use /jobs/{id}/events")
    kept = await ordered(here, who, request, request.complexity_tier, request.priority, key)
    headers = {"location": f"/jobs/{kept.id}", "x-run": kept.id}
    if request.asynchronous:
        return JSONResponse({"job_id": kept.id, "status": kept.status}, 202, headers)
    if request.stream:
        return events(here.worker.feed, kept.id, 0, headers)
    return Response(json.dumps(await report_of(here, kept.id)), 200, headers, "application/json")


@router.post(
    "/run-simple",
    summary="Research a task in little time, and get only the answer",
    response_model=None,
    responses={200: {"model": schema.AgentResponse}, **_FAILURES},
)
async def run_simple(request: schema.SimpleRequest, here: Here, who: Who, key: Key = None) -> Response:
    kept = await ordered(here, who, request, "simple", "normal", key)
    report = await report_of(here, kept.id)
    shown = {name: report[name] for name in schema.AgentResponse.model_fields}
    return JSONResponse(shown, headers={"x-run": kept.id})


@router.post("/search", summary="Find passages", responses=documented(400, 401, 408, 413, 422, 429, 500, 503))
async def search(request: schema.SearchRequest, here: Here, who: Who) -> schema.SearchResponse:
    chosen = request.options
    _check_web(here, chosen)
    order = Order(
        checked_question(request.task),
        Options(k=chosen.k, alpha=chosen.alpha, web=chosen.web),
        tuple(chosen.collections),
    )
    options = replace(orders.searchable(order, here.worker.offered), model="extractive")
    setup = await prepare(order.task, options)
    found = await setup.search(Query(order.task), chosen.k)
    return schema.SearchResponse(query=order.task, passages=[_shown(passage) for passage in found])


async def ordered(
    here: Service, who: Asker, request: schema.SimpleRequest, tier: str, priority: str, key: str | None
) -> Kept:
    """The request as a queued run. What cannot work is refused before anything is kept."""
    _check_web(here, request.options)
    if request.options.stop is not None:
        parse(request.options.stop, files=False)
    wanted = request.options.model
    if wanted is not None and wanted not in here.models:
        raise Problem(422, f"options.model: {wanted!r} is not offered here; choose from: {', '.join(here.models)}")
    order = schema.order(request, tier, wanted or here.model, None if who.allowance is None else who.allowance.max_cost)
    orders.searchable(order, here.worker.offered)
    await prepare(order.task, replace(order.options, search=_nothing, model="extractive"))
    kept = None if key is None else await asyncio.to_thread(here.worker.store.earlier, who.id, key)
    if kept is None:
        await admit(here, who)
        kept = await here.worker.order(order, owner=who.id, priority=priority, idempotency=key)
    if key is not None and kept.order != order.dumps():
        raise Problem(409, f"Idempotency-Key {key!r} was used for another request; choose a new one")
    return kept


async def report_of(here: Service, run: str) -> dict[str, Any]:
    """The report of a run, once it has ended; a failure that says whether to try again when there is none."""
    await here.worker.feed.ended(run)
    kept = await asyncio.to_thread(here.worker.store.run, run)
    headers = {"x-run": run}
    if kept.error is not None:
        error = json.loads(kept.error)
        status = {"InputError": 422, "InternalError": 500}.get(error["type"], 503 if error["retryable"] else 500)
        raise Problem(status, error["message"], retryable=error["retryable"], headers=headers)
    if kept.report is None:
        raise Problem(409, "The run was cancelled before it had found anything", headers=headers)
    report: dict[str, Any] = json.loads(kept.report)
    if report["status"] == "failed":
        last = report["error_log"][-1]["message"] if report["error_log"] else report["stop"]["explanation"]
        raise Problem(503, f"No answer could be written: {last}", retryable=True, headers=headers)
    return report


def _check_web(here: Service, options: schema.SearchOptions) -> None:
    if options.web and not here.web:
        raise Problem(422, "options.web: this service does not search the web; its operator allows it with --web")


def _shown(passage: Passage) -> schema.FoundPassage:
    return schema.FoundPassage(
        id=passage.id,
        title=passage.title,
        text=passage.text,
        type=passage.kind,
        location=passage.location,
        url=passage.url,
        score=passage.score,
    )


async def _nothing(query: Query, k: int) -> list[Passage]:
    """Stands in for a search while an order is checked."""
    return []
