"""Several models as one: a list to fall back through, and models that differ by role."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from suffice.errors import ModelError
from suffice.models.base import Model, Reply, get_context, supports_vision
from suffice.prompts.base import Prompt
from suffice.types import Failure, Usage

A = TypeVar("A")


class FallbackModel:
    """Asks the first model, and the next one when it fails. What the failed ones cost is in the bill."""

    def __init__(self, models: Sequence[Model]) -> None:
        self.models = tuple(models)
        self.name = self.models[0].name
        self.local = all(model.local for model in models)
        self.context = _smallest_context(models)
        self.has_price = all(getattr(model, "has_price", True) for model in models)
        self.supports_vision = next((seen for model in models if (seen := supports_vision(model)) is not False), False)

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        usage = Usage()
        failures: list[Failure] = []
        for model in self.models:
            try:
                reply = await model(prompt)
            except ModelError as error:
                usage, failures = usage + error.usage, [*failures, *error.failures]
                if model is self.models[-1]:
                    error.usage, error.failures = usage, tuple(failures)
                    raise
                failures.append(
                    Failure(prompt.role, type(error).__name__, f"{error}; asking the next model", error.retryable)
                )
            else:
                return replace(reply, usage=usage + reply.usage, failures=(*failures, *reply.failures))
        raise AssertionError("the last model answers or raises")


class RoleRouter:
    """Some roles have a model of their own; all others share one."""

    def __init__(self, default: Model, by_role: Mapping[str, Model]) -> None:
        self._default = default
        self._by_role = dict(by_role)
        self.models = models = tuple({id(model): model for model in (default, *by_role.values())}.values())
        self.name = " + ".join(dict.fromkeys(model.name for model in models))
        self.local = all(model.local for model in models)
        self.context = _smallest_context(models)
        self.has_price = all(getattr(model, "has_price", True) for model in models)
        self.supports_vision = supports_vision(self._by_role.get("look", default))

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        return await self._by_role.get(prompt.role, self._default)(prompt)


def _smallest_context(models: Sequence[Model]) -> int | None:
    """What fits the model that reads least fits all of them."""
    return min((tokens for model in models if (tokens := get_context(model)) is not None), default=None)
