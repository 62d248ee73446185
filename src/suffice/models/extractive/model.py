"""The extractive model: each ask goes to the function that answers it."""

import asyncio
from typing import TypeVar, cast

from suffice.asks import Ask, Draft, Plan, Reflect
from suffice.errors import ModelError
from suffice.leads import Embed
from suffice.models.base import Reply
from suffice.models.extractive.draft import draft
from suffice.models.extractive.plan import plan
from suffice.models.extractive.reflect import reflect
from suffice.types import Usage

A = TypeVar("A")


class Extractive:
    """``embed`` makes its choice of sentences better; without it words alone decide."""

    name = "extractive"
    local = True

    def __init__(self, embed: Embed | None = None) -> None:
        self._embed = embed

    async def __call__(self, ask: Ask[A]) -> Reply[A]:
        answer: object
        if isinstance(ask, Plan):
            answer = plan(ask)
        elif isinstance(ask, Reflect):
            answer = reflect(ask)
        elif isinstance(ask, Draft):
            answer = await asyncio.to_thread(draft, ask, self._embed)
        else:
            raise ModelError(
                f"The extractive model has no way to answer {ask.role!r}; choose a language model with --model"
            )
        return Reply(cast(A, answer), Usage(calls=1))
