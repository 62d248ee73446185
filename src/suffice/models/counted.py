"""A model whose calls are counted by role: the run's bill."""

from typing import TypeVar

from suffice.asks.base import Ask
from suffice.errors import ModelError
from suffice.models.base import Model, Reply, Wrapping, expenses
from suffice.types import Usage

A = TypeVar("A")


class Counted(Wrapping):
    """Wraps any model. ``by_role`` adds up to ``total``, always: both come from the same replies and failures.
    Of a call that is cut off, by the run's time or by the user, what it had cost until then is counted."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.by_role: dict[str, Usage] = {}
        self.total = Usage()

    async def __call__(self, ask: Ask[A]) -> Reply[A]:
        with expenses() as spent:
            try:
                reply = await self._model(ask)
            except ModelError as error:
                self._count(ask.role, error.usage)
                raise
            except BaseException:
                self._count(ask.role, sum(spent, Usage()))
                raise
        self._count(ask.role, reply.usage)
        return reply

    def _count(self, role: str, usage: Usage) -> None:
        if usage != Usage():
            self.by_role[role] = self.by_role.get(role, Usage()) + usage
            self.total = self.total + usage
