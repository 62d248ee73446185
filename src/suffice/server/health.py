"""``/healthz``, ``/readyz`` and ``/metrics`` for the operator."""

import asyncio

import sqlalchemy as sa
from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import generate_latest
from pydantic import BaseModel

from suffice.jobs.store import ENDED_STATUSES
from suffice.jobs.telemetry import REGISTRY
from suffice.server.dependencies import ClientDep, ServiceDep
from suffice.server.errors import ApiError, document_errors

router = APIRouter()

READY_TIMEOUT = 5.0  # Seconds for the database to answer; probes usually wait no longer.


class Health(BaseModel):
    status: str


@router.get("/healthz", summary="Is the process alive?")
async def healthz() -> Health:
    return Health(status="ok")


@router.get("/readyz", summary="Can it take runs?", responses=document_errors(503))
async def readyz(service: ServiceDep) -> Health:
    try:
        async with asyncio.timeout(READY_TIMEOUT):
            await asyncio.to_thread(service.worker.store.count_by_status)
    except (sa.exc.SQLAlchemyError, TimeoutError):
        raise ApiError(503, "The database does not answer", retryable=True) from None
    if not service.worker.is_ready:
        raise ApiError(503, "The database has not accepted anything for a while", retryable=True)
    return Health(status="ok")


@router.get(
    "/metrics", summary="Metrics for Prometheus", response_class=PlainTextResponse, responses=document_errors(401)
)
async def metrics(service: ServiceDep, client: ClientDep) -> Response:
    counts = await asyncio.to_thread(service.worker.store.count_by_status)
    workers = await asyncio.to_thread(service.worker.heartbeats.count_alive)
    lines = [
        "# HELP suffice_runs Runs by status; queued runs are the depth of the queue.",
        "# TYPE suffice_runs gauge",
        *(
            f'suffice_runs{{status="{status}"}} {counts.get(status, 0)}'
            for status in ("queued", "running", *ENDED_STATUSES)
        ),
        "# HELP suffice_workers Workers that are alive.",
        "# TYPE suffice_workers gauge",
        f"suffice_workers {workers}",
    ]
    text = generate_latest(REGISTRY).decode() + "\n".join(lines) + "\n"
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")
