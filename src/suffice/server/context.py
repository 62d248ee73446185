"""What every path needs: the worker, what the operator offers, and who is asking."""

import asyncio
import time
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from suffice.jobs.keys import Quota
from suffice.jobs.worker import Worker
from suffice.server.errors import ApiError

LOCAL_OWNER = "local"  # Who asks where no key is needed.


@dataclass(frozen=True)
class Service:
    """``model`` is used when a request names none (``None``: whatever is configured), ``models`` are those it may name;
    ``web``: requests may search the web; ``open``: no key is needed, because only this machine can ask."""

    worker: Worker
    default_model: str | None = None
    allowed_models: tuple[str, ...] = ("extractive",)
    allows_web: bool = False
    is_open: bool = True


@dataclass(frozen=True)
class Client:
    """Whose runs these are, and what they may do; without an allowance everything."""

    id: str = LOCAL_OWNER
    quota: Quota | None = None


def get_service(request: Request) -> Service:
    return cast(Service, request.app.state.service)


ServiceDep = Annotated[Service, Depends(get_service)]
_bearer = HTTPBearer(auto_error=False, description="A key made by `suffice keys create`.")


async def get_client(
    service: ServiceDep, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None
) -> Client:
    if service.is_open:
        return Client()
    key = None if given is None else await asyncio.to_thread(service.worker.api_keys.authenticate, given.credentials)
    if key is None:
        said = "This key is not valid" if given else "A key is needed: send it as Authorization: Bearer …"
        raise ApiError(401, said, headers={"www-authenticate": "Bearer"})
    return Client(key.id, key.quota)


ClientDep = Annotated[Client, Depends(get_client)]


async def enforce_quota(service: Service, client: Client) -> None:
    """Refuse another run to somebody who has as many as the key allows."""
    if client.quota is None:
        return
    store = service.worker.store
    counts = await asyncio.to_thread(store.count_by_status, client.id)
    if counts.get("queued", 0) + counts.get("running", 0) >= client.quota.active:
        raise _too_many_requests(
            f"You have {client.quota.active} runs queued or under way, which is all this key allows", 10
        )
    if await asyncio.to_thread(store.count_since, client.id, time.time() - 60) >= client.quota.per_minute:
        raise _too_many_requests(f"This key allows {client.quota.per_minute} runs a minute", 60)


def _too_many_requests(message: str, seconds: int) -> ApiError:
    return ApiError(429, message, retryable=True, headers={"retry-after": str(seconds)})
