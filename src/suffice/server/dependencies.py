"""What the routes depend on: the service, the limits on its searches, the authenticated client, and the client's own runs."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Path, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from suffice.jobs.api_keys import Quota
from suffice.jobs.store import StoredRun, is_run_id
from suffice.jobs.worker import Worker
from suffice.server.errors import ApiError
from suffice.storage.report_json import loads
from suffice.types import Report

MAX_CONCURRENT = 8  # Searches of one process at the same time; each uses a thread, and the embedding model one core.
MAX_WAITING = 1000  # Searches that wait for their turn; more are refused.
_WINDOW_SECONDS = 60.0
LOCAL_OWNER = "local"  # The owner of all runs while no key is needed.


class SearchLimiter:
    """How many searches run at the same time in one process, how many may wait, and how many a key may ask for."""

    def __init__(self) -> None:
        self._semaphore = asyncio.Semaphore(MAX_CONCURRENT)
        self._admitted = 0
        self._recent: dict[str, deque[float]] = {}

    @asynccontextmanager
    async def admit(self, owner: str, per_minute: int | None) -> AsyncIterator[None]:
        """Wait for a turn and hold it; raise ``ApiError`` if the owner or everyone asks too much."""
        if per_minute is not None:
            self._count(owner, per_minute)
        if self._admitted >= MAX_CONCURRENT + MAX_WAITING:
            raise ApiError(503, "Too many searches are waiting", retryable=True, headers={"retry-after": "5"})
        self._admitted += 1
        try:
            async with self._semaphore:
                yield
        finally:
            self._admitted -= 1

    def _count(self, owner: str, per_minute: int) -> None:
        now = time.monotonic()
        recent = self._recent.setdefault(owner, deque())
        while recent and recent[0] <= now - _WINDOW_SECONDS:
            recent.popleft()
        if len(recent) >= per_minute:
            wait = max(1, round(recent[0] + _WINDOW_SECONDS - now))
            headers = {"retry-after": str(wait)}
            raise ApiError(429, f"This key allows {per_minute} searches a minute", retryable=True, headers=headers)
        recent.append(now)


@dataclass(frozen=True)
class Service:
    """The worker, and what its operator allows."""

    worker: Worker
    default_model: str | None = None
    """The model of requests that name none; ``None`` is the configured one."""
    allowed_models: tuple[str, ...] = ("extractive",)
    allows_web: bool = False
    searches: SearchLimiter = field(default_factory=SearchLimiter)


@dataclass(frozen=True)
class Client:
    """The owner of the runs of a request, and their quota (``None``: unlimited)."""

    id: str = LOCAL_OWNER
    quota: Quota | None = None


def get_service(request: Request) -> Service:
    return cast(Service, request.app.state.service)


ServiceDep = Annotated[Service, Depends(get_service)]
_bearer = HTTPBearer(auto_error=False, description="A key created with `suffice keys create`.")


async def get_client(
    service: ServiceDep, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None
) -> Client:
    """Authenticate the request by its bearer key."""
    if not await service.worker.api_keys.is_required():
        return Client()
    key = None if given is None else await asyncio.to_thread(service.worker.api_keys.authenticate, given.credentials)
    if key is None:
        message = "This key is not valid" if given else "A key is required; send it as Authorization: Bearer KEY"
        raise ApiError(401, message, headers={"www-authenticate": "Bearer"})
    return Client(key.id, key.quota)


ClientDep = Annotated[Client, Depends(get_client)]


async def find_owned_run(service: Service, client: Client, run: str) -> StoredRun:
    """Return a run of the client over collections of this service.

    The error does not tell whether another client has such a run.
    """
    try:
        # Anything else is not an id; a zero byte or half a surrogate pair in it would be an error of the database.
        stored = await asyncio.to_thread(service.worker.store.get, run) if is_run_id(run) else None
    except KeyError:
        stored = None
    if stored is None or stored.owner != client.id:
        raise ApiError(404, f"You have no run {run!r}")
    if not service.worker.served.accepts(stored.request):
        raise ApiError(404, f"The run {run!r} was asked of documents that this service does not serve")
    return stored


async def get_owned_run(
    job: Annotated[str, Path(min_length=1, max_length=64, description="The id of one of your runs.")],
    service: ServiceDep,
    client: ClientDep,
) -> StoredRun:
    return await find_owned_run(service, client, job)


OwnedRunDep = Annotated[StoredRun, Depends(get_owned_run)]


def load_report(run: StoredRun) -> Report:
    if run.report is None:
        raise ApiError(404, f"The run {run.id!r} has no report yet")
    return loads(run.report)
