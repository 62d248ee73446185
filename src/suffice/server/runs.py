"""``/run``, ``/run-simple`` and ``/search``: ask for an answer and wait, watch, or come back for it."""

import asyncio
import json
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from fastapi.responses import JSONResponse

from suffice.api import Options, prepare_run, validate_question
from suffice.gates.parse import parse_gate
from suffice.jobs import requests
from suffice.jobs.requests import JobRequest
from suffice.jobs.store import StoredRun
from suffice.server import schema
from suffice.server.context import Client, ClientDep, Service, ServiceDep, enforce_quota
from suffice.server.errors import ApiError, document_errors
from suffice.server.streaming import stream_response
from suffice.types import Passage, Query, Report

router = APIRouter()

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="The same key again is the same run, however often it is sent.",
    ),
]
_ERRORS = document_errors(400, 401, 408, 409, 413, 422, 429, 500, 503)


@router.post(
    "/run",
    summary="Research a task",
    response_model=None,
    responses={
        200: {"model": Report, "description": "The report; server-sent events with `stream`"},
        202: {"model": schema.JobAccepted, "description": "Queued, with `async`"},
        **_ERRORS,
    },
)
async def run(
    request: schema.RunRequest, service: ServiceDep, client: ClientDep, idempotency_key: IdempotencyKey = None
) -> Response:
    if request.stream and request.asynchronous:
        raise ApiError(422, "stream and async exclude each other; to watch an asynchronous run use /jobs/{id}/events")
    kept = await submit_run(service, client, request, request.complexity_tier, request.priority, idempotency_key)
    headers = {"location": f"/jobs/{kept.id}", "x-run": kept.id}
    if request.asynchronous:
        return JSONResponse({"job_id": kept.id, "status": kept.status}, 202, headers)
    if request.stream:
        return stream_response(service.worker.event_stream, kept.id, 0, headers)
    return Response(json.dumps(await wait_for_report(service, kept.id)), 200, headers, "application/json")


@router.post(
    "/run-simple",
    summary="Research a task in little time, and get only the answer",
    response_model=None,
    responses={200: {"model": schema.AgentResponse}, **_ERRORS},
)
async def run_simple(
    request: schema.SimpleRequest, service: ServiceDep, client: ClientDep, idempotency_key: IdempotencyKey = None
) -> Response:
    kept = await submit_run(service, client, request, "simple", "normal", idempotency_key)
    report = await wait_for_report(service, kept.id)
    shown = {name: report[name] for name in schema.AgentResponse.model_fields}
    return JSONResponse(shown, headers={"x-run": kept.id})


@router.post("/search", summary="Find passages", responses=document_errors(400, 401, 408, 413, 422, 429, 500, 503))
async def search(request: schema.SearchRequest, service: ServiceDep, client: ClientDep) -> schema.SearchResponse:
    chosen = request.options
    _validate_web(service, chosen)
    order = JobRequest(
        validate_question(request.task),
        Options(k=chosen.k, alpha=chosen.alpha, web=chosen.web),
        tuple(chosen.collections),
    )
    options = replace(requests.resolve_collections(order, service.worker.collections), model="extractive")
    setup = await prepare_run(order.task, options)
    found = await setup.search(Query(order.task), chosen.k)
    return schema.SearchResponse(query=order.task, passages=[_passage_body(passage) for passage in found])


async def submit_run(
    service: Service,
    client: Client,
    request: schema.SimpleRequest,
    tier: str,
    priority: str,
    idempotency_key: str | None,
) -> StoredRun:
    """The request as a queued run. What cannot work is refused before anything is kept."""
    _validate_web(service, request.options)
    if request.options.stop is not None:
        parse_gate(request.options.stop, files=False)
    wanted = request.options.model
    if wanted is not None and wanted not in service.allowed_models:
        raise ApiError(
            422, f"options.model: {wanted!r} is not offered here; choose from: {', '.join(service.allowed_models)}"
        )
    order = schema.to_job_request(
        request, tier, wanted or service.default_model, None if client.quota is None else client.quota.max_cost
    )
    requests.resolve_collections(order, service.worker.collections)
    await prepare_run(order.task, replace(order.options, search=_empty_search, model="extractive"))
    kept = (
        None
        if idempotency_key is None
        else await asyncio.to_thread(service.worker.store.find_by_idempotency_key, client.id, idempotency_key)
    )
    if kept is None:
        await enforce_quota(service, client)
        kept = await service.worker.submit(order, owner=client.id, priority=priority, idempotency=idempotency_key)
    if idempotency_key is not None and kept.request != order.to_json():
        raise ApiError(409, f"Idempotency-Key {idempotency_key!r} was used for another request; choose a new one")
    return kept


async def wait_for_report(service: Service, run: str) -> dict[str, Any]:
    """The report of a run, once it has ended; a failure that says whether to try again when there is none."""
    await service.worker.event_stream.wait_until_ended(run)
    kept = await asyncio.to_thread(service.worker.store.get, run)
    headers = {"x-run": run}
    if kept.error is not None:
        error = json.loads(kept.error)
        status = {"InputError": 422, "InternalError": 500}.get(error["type"], 503 if error["retryable"] else 500)
        raise ApiError(status, error["message"], retryable=error["retryable"], headers=headers)
    if kept.report is None:
        raise ApiError(409, "The run was cancelled before it had found anything", headers=headers)
    report: dict[str, Any] = json.loads(kept.report)
    if report["status"] == "failed":
        last = report["error_log"][-1]["message"] if report["error_log"] else report["stop"]["explanation"]
        raise ApiError(503, f"No answer could be written: {last}", retryable=True, headers=headers)
    return report


def _validate_web(here: Service, options: schema.SearchOptionsBody) -> None:
    if options.web and not here.allows_web:
        raise ApiError(422, "options.web: this service does not search the web; its operator allows it with --web")


def _passage_body(passage: Passage) -> schema.FoundPassage:
    return schema.FoundPassage(
        id=passage.id,
        title=passage.title,
        text=passage.text,
        type=passage.kind,
        location=passage.location,
        url=passage.url,
        score=passage.score,
    )


async def _empty_search(query: Query, k: int) -> list[Passage]:
    """Stands in for a search while an order is checked."""
    return []
