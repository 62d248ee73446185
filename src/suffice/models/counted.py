"""A model whose calls are counted by role: the run's bill."""

from typing import TypeVar

from suffice.asks.base import Prompt
from suffice.errors import ModelError
from suffice.models.base import Model, ModelWrapper, Reply, collect_usage
from suffice.types import Usage

A = TypeVar("A")


class UsageTrackingModel(ModelWrapper):
    """Wraps any model. ``by_role`` adds up to ``total``, always: both come from the same replies and failures.
    Of a call that is cut off, by the run's time or by the user, what it had cost until then is counted."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.by_role: dict[str, Usage] = {}
        self.total = Usage()

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        with collect_usage() as spent:
            try:
                reply = await self._model(prompt)
            except ModelError as error:
                self._add_usage(prompt.role, error.usage)
                raise
            except BaseException:
                self._add_usage(prompt.role, sum(spent, Usage()))
                raise
        self._add_usage(prompt.role, reply.usage)
        return reply

    def _add_usage(self, role: str, usage: Usage) -> None:
        if usage != Usage():
            self.by_role[role] = self.by_role.get(role, Usage()) + usage
            self.total = self.total + usage
