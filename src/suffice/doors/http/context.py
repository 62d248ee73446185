"""What every path needs: the worker, what the operator offers, and who is asking."""

import asyncio
import time
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from suffice.doors.http.problems import Problem
from suffice.jobs.keys import Allowance
from suffice.jobs.worker import Worker

NOBODY = "local"  # Who asks where no key is needed.


@dataclass(frozen=True)
class Service:
    """``model`` is used when a request names none (``None``: whatever is configured), ``models`` are those it may name;
    ``web``: requests may search the web; ``open``: no key is needed, because only this machine can ask."""

    worker: Worker
    model: str | None = None
    models: tuple[str, ...] = ("extractive",)
    web: bool = False
    open: bool = True


@dataclass(frozen=True)
class Asker:
    """Whose runs these are, and what they may do; without an allowance everything."""

    id: str = NOBODY
    allowance: Allowance | None = None


def service(request: Request) -> Service:
    return cast(Service, request.app.state.service)


Here = Annotated[Service, Depends(service)]
_bearer = HTTPBearer(auto_error=False, description="A key made by `suffice keys create`.")


async def asker(here: Here, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None) -> Asker:
    if here.open:
        return Asker()
    key = None if given is None else await asyncio.to_thread(here.worker.keys.holder, given.credentials)
    if key is None:
        said = "This key is not valid" if given else "A key is needed: send it as Authorization: Bearer …"
        raise Problem(401, said, headers={"www-authenticate": "Bearer"})
    return Asker(key.id, key.allowance)


Who = Annotated[Asker, Depends(asker)]


async def admit(here: Service, who: Asker) -> None:
    """Refuse another run to somebody who has as many as the key allows."""
    if who.allowance is None:
        return
    store = here.worker.store
    counts = await asyncio.to_thread(store.counts, who.id)
    if counts.get("queued", 0) + counts.get("running", 0) >= who.allowance.active:
        raise _busy(f"You have {who.allowance.active} runs queued or under way, which is all this key allows", 10)
    if await asyncio.to_thread(store.ordered_since, who.id, time.time() - 60) >= who.allowance.per_minute:
        raise _busy(f"This key allows {who.allowance.per_minute} runs a minute", 60)


def _busy(message: str, seconds: int) -> Problem:
    return Problem(429, message, retryable=True, headers={"retry-after": str(seconds)})
