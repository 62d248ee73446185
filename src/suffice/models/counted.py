"""A model whose calls are counted by role: the run's bill."""

from typing import TypeVar

from suffice.asks.base import Ask
from suffice.models.base import Model, Reply
from suffice.types import Usage

A = TypeVar("A")


class Counted:
    """Wraps any model. ``by_role`` adds up to ``total``, always: both come from the same replies."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name
        self.local = model.local
        self.context: int | None = getattr(model, "context", None)
        self.by_role: dict[str, Usage] = {}
        self.total = Usage()

    async def __call__(self, ask: Ask[A]) -> Reply[A]:
        reply = await self._model(ask)
        self.by_role[ask.role] = self.by_role.get(ask.role, Usage()) + reply.usage
        self.total = self.total + reply.usage
        return reply
