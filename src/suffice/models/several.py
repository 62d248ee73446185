"""Several models as one: a list to fall back through, and models that differ by role."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from suffice.asks.base import Ask
from suffice.errors import ModelError
from suffice.models.base import Model, Reply, context_of, eyes_of
from suffice.types import Failure, Usage

A = TypeVar("A")


class Fallback:
    """Asks the first model, and the next one when it fails. What the failed ones cost is in the bill."""

    def __init__(self, models: Sequence[Model]) -> None:
        self.models = tuple(models)
        self.name = self.models[0].name
        self.local = all(model.local for model in models)
        self.context = _narrowest(models)
        self.priced = all(getattr(model, "priced", True) for model in models)
        self.eyes = next((seen for model in models if (seen := eyes_of(model)) is not False), False)

    async def __call__(self, ask: Ask[A]) -> Reply[A]:
        usage = Usage()
        failures: list[Failure] = []
        for model in self.models:
            try:
                reply = await model(ask)
            except ModelError as error:
                usage, failures = usage + error.usage, [*failures, *error.failures]
                if model is self.models[-1]:
                    error.usage, error.failures = usage, tuple(failures)
                    raise
                failures.append(
                    Failure(ask.role, type(error).__name__, f"{error}; asking the next model", error.retryable)
                )
            else:
                return replace(reply, usage=usage + reply.usage, failures=(*failures, *reply.failures))
        raise AssertionError("the last model answers or raises")


class ByRole:
    """Some roles have a model of their own; all others share one."""

    def __init__(self, usual: Model, special: Mapping[str, Model]) -> None:
        self._usual = usual
        self._special = dict(special)
        self.models = models = tuple({id(model): model for model in (usual, *special.values())}.values())
        self.name = " + ".join(dict.fromkeys(model.name for model in models))
        self.local = all(model.local for model in models)
        self.context = _narrowest(models)
        self.priced = all(getattr(model, "priced", True) for model in models)
        self.eyes = eyes_of(self._special.get("look", usual))

    async def __call__(self, ask: Ask[A]) -> Reply[A]:
        return await self._special.get(ask.role, self._usual)(ask)


def _narrowest(models: Sequence[Model]) -> int | None:
    """What fits the model that reads least fits all of them."""
    return min((tokens for model in models if (tokens := context_of(model)) is not None), default=None)
