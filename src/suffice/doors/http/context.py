"""What every path needs: the worker, what the operator offers, and who is asking."""

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from suffice.jobs.worker import Worker


@dataclass(frozen=True)
class Service:
    """``model`` is used when a request names none (``None``: whatever is configured), ``models`` are those it may name;
    ``web``: requests may search the web."""

    worker: Worker
    model: str | None = None
    models: tuple[str, ...] = ("extractive",)
    web: bool = False


def service(request: Request) -> Service:
    return cast(Service, request.app.state.service)


def owner(request: Request) -> str:
    """Whose runs these are."""
    return cast(str, getattr(request.state, "owner", "local"))


Here = Annotated[Service, Depends(service)]
Owner = Annotated[str, Depends(owner)]
