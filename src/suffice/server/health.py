"""``/healthz``, ``/readyz`` and ``/metrics`` for the operator."""

import asyncio

import sqlalchemy as sa
from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import generate_latest

from suffice.jobs.store import ENDED_STATUSES
from suffice.jobs.telemetry import REGISTRY, RUNS, WORKERS
from suffice.server.dependencies import ClientDep, ServiceDep
from suffice.server.errors import ApiError, document_errors

router = APIRouter()

READY_TIMEOUT = 5.0  # Seconds for the database to answer; probes usually wait no longer.


@router.get("/healthz", summary="Is the process alive?")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz", summary="Can it take runs?", responses=document_errors(503))
async def readyz(service: ServiceDep) -> dict[str, str]:
    try:
        async with asyncio.timeout(READY_TIMEOUT):
            await asyncio.to_thread(service.worker.store.count_by_status)
    except (sa.exc.SQLAlchemyError, TimeoutError):
        raise ApiError(503, "The database does not answer", retryable=True) from None
    if not service.worker.is_ready:
        raise ApiError(503, "The database has not accepted anything for a while", retryable=True)
    return {"status": "ok"}


@router.get(
    "/metrics", summary="Metrics for Prometheus", response_class=PlainTextResponse, responses=document_errors(401)
)
async def metrics(service: ServiceDep, client: ClientDep) -> Response:
    counts = await asyncio.to_thread(service.worker.store.count_by_status)
    workers = await asyncio.to_thread(service.worker.heartbeats.count_alive)
    for status in ("queued", "running", *ENDED_STATUSES):
        RUNS.labels(status).set(counts.get(status, 0))
    WORKERS.set(workers)
    text = generate_latest(REGISTRY).decode()
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")
