"""``/run``, ``/run-simple`` and ``/search``: start a run and wait for it, stream it or come back later; search once."""

import asyncio
import json
from dataclasses import fields, replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from fastapi.responses import JSONResponse

from suffice import settings
from suffice.api import estimate_research, validate_question, validate_task
from suffice.engine.estimate import describe_estimate
from suffice.jobs.requests import JobRequest, parse_request, resolve_collections
from suffice.jobs.store import Priority, QuotaExceeded, StoredRun
from suffice.options import RunOptions
from suffice.search.open import open_search
from suffice.server import schema
from suffice.server.dependencies import Client, ClientDep, Service, ServiceDep, find_owned_run
from suffice.server.errors import ApiError, document_errors
from suffice.server.jobs import stream_response
from suffice.types import Query, Report

router = APIRouter()

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="Repeating a request with the same key returns the same run.",
    ),
]
_ERRORS = document_errors(400, 401, 408, 409, 413, 422, 429, 500, 503)


@router.post(
    "/run",
    summary="Research a question",
    response_model=None,
    responses={
        200: {
            "model": Report,
            "description": "The report; server-sent events with `stream`",
            "content": {"text/event-stream": {}},
        },
        202: {"model": schema.JobAccepted, "description": "Queued, with `async`"},
        **_ERRORS,
    },
)
async def run(
    request: schema.RunRequest, service: ServiceDep, client: ClientDep, idempotency_key: IdempotencyKey = None
) -> Response:
    if request.stream and request.asynchronous:
        raise ApiError(422, "stream and async exclude each other; to stream an asynchronous run use /jobs/{id}/events")
    stored = await submit_run(
        service,
        client,
        request,
        tier=request.complexity_tier,
        priority=Priority[request.priority.upper()],
        idempotency_key=idempotency_key,
    )
    headers = {"location": f"/jobs/{stored.id}", "x-run": stored.id}
    if request.asynchronous:
        return JSONResponse({"job_id": stored.id, "status": stored.status}, 202, headers)
    if request.stream:
        return stream_response(service.worker.event_stream, stored.id, 0, headers)
    return Response(json.dumps(await wait_for_report(service, stored.id)), 200, headers, "application/json")


@router.post(
    "/run-simple",
    summary="Research a question quickly, and get only the answer",
    response_model=None,
    responses={200: {"model": schema.AgentResponse}, **_ERRORS},
)
async def run_simple(
    request: schema.SimpleRequest, service: ServiceDep, client: ClientDep, idempotency_key: IdempotencyKey = None
) -> Response:
    stored = await submit_run(service, client, request, tier="simple", idempotency_key=idempotency_key)
    report = await wait_for_report(service, stored.id)
    answer = {name: report[name] for name in schema.AgentResponse.model_fields}
    return JSONResponse(answer, headers={"x-run": stored.id})


@router.post("/estimate", summary="What a run would probably cost", responses=_ERRORS)
async def estimate(request: schema.RunRequest, service: ServiceDep, client: ClientDep) -> schema.EstimateResponse:
    validate_task(request.text)
    options = _choose_options(service, client, request, request.complexity_tier)
    job = _build_job_request(service, request.text, request.options, replace(options, continues=None))
    found = await estimate_research(request.text, resolve_collections(job, service.worker.collections))
    values = {one.name: getattr(found, one.name) for one in fields(found)}
    return schema.EstimateResponse(**values, text=describe_estimate(found))


@router.post("/search", summary="Find passages", responses=document_errors(400, 401, 408, 413, 422, 429, 500, 503))
async def search(request: schema.SearchRequest, service: ServiceDep, client: ClientDep) -> schema.SearchResponse:
    query = validate_question(request.text)
    job = _build_job_request(service, request.text, request.options, request.options.to_options())
    options = resolve_collections(job, service.worker.collections)
    async with service.searches.admit(client.id, client.quota.searches_per_minute if client.quota else None):
        opened = await open_search(options.scope, settings.load(), lambda message: None)
        found = await opened(Query(query), options.k)
    return schema.SearchResponse(query=query, passages=[schema.FoundPassage.model_validate(one) for one in found])


async def submit_run(
    service: Service,
    client: Client,
    request: schema.SimpleRequest,
    *,
    tier: str | None = None,
    priority: Priority = Priority.NORMAL,
    idempotency_key: str | None = None,
) -> StoredRun:
    """Queue the requested run. Invalid requests raise before anything is stored."""
    validate_task(request.text)
    options = _choose_options(service, client, request, tier)
    job = _build_job_request(service, request.text, request.options, options)
    if options.continues is not None:
        job = await _inherit_scope(service, client, job, str(options.continues))
    resolve_collections(job, service.worker.collections)
    try:
        stored = await service.worker.submit(
            job, owner=client.id, priority=priority, idempotency_key=idempotency_key, quota=client.quota
        )
    except QuotaExceeded as error:
        headers = {"retry-after": str(error.retry_after)}
        raise ApiError(429, str(error), retryable=True, headers=headers) from error
    served, earlier = service.worker.served, parse_request(stored.request)
    if idempotency_key is not None and not (earlier == served.bind(job) and served.serves(earlier)):
        raise ApiError(409, f"Idempotency-Key {idempotency_key!r} was used for another request; choose a new one")
    return stored


def _choose_options(service: Service, client: Client, request: schema.SimpleRequest, tier: str | None) -> RunOptions:
    """Return the options of a request with the service's model and the client's limit on the cost."""
    options: RunOptions = request.options.to_options()
    if options.model is not None and options.model not in service.allowed_models:
        raise ApiError(
            422,
            f"options.model: {options.model!r} is not offered here; choose from: {', '.join(service.allowed_models)}",
        )
    key_limit = None if client.quota is None else client.quota.max_cost
    return replace(
        options,
        tier=tier,
        model=options.model or service.default_model,
        max_cost_usd=min((cost for cost in (options.max_cost_usd, key_limit) if cost is not None), default=None),
    )


async def wait_for_report(service: Service, run: str) -> dict[str, Any]:
    """Wait until a run has ended and return its report; raise ``ApiError`` if it has none."""
    await service.worker.event_stream.wait_until_ended(run)
    stored = await asyncio.to_thread(service.worker.store.get, run)
    headers = {"x-run": run}
    if stored.error is not None:
        error = json.loads(stored.error)
        status = {"InputError": 422, "InternalError": 500}.get(error["type"], 503 if error["retryable"] else 500)
        raise ApiError(status, error["message"], retryable=error["retryable"], headers=headers)
    if stored.report is None:
        raise ApiError(409, "The run was cancelled before it had found anything", headers=headers)
    report: dict[str, Any] = json.loads(stored.report)
    if report["status"] == "failed":
        last = report["error_log"][-1]["message"] if report["error_log"] else report["stop"]["explanation"]
        raise ApiError(503, f"No answer could be written: {last}", retryable=True, headers=headers)
    return report


async def _inherit_scope(service: Service, client: Client, job: JobRequest, earlier: str) -> JobRequest:
    """Return the request of a follow-up; unless it names where to search, it searches where the earlier run did."""
    stored = await find_owned_run(service, client, earlier)
    if stored.report is None:
        raise ApiError(409, f"The run {earlier!r} has no report to continue from", retryable=stored.error is None)
    if job.collections or job.options.web:
        return job
    request = parse_request(stored.request)
    return replace(job, collections=request.collections, options=replace(job.options, web=request.options.web))


def _build_job_request(
    service: Service, question: str, body: schema.SearchOptionsBody, options: RunOptions
) -> JobRequest:
    if options.web and not service.allows_web:
        raise ApiError(422, "options.web: this service does not search the web; its operator can allow it with --web")
    options.validate(gate_files=False)
    return JobRequest(question, options, tuple(body.collections))
