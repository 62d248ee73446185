"""Several models behind one: a list to fall back through, and models chosen by role."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from suffice.errors import ModelError
from suffice.models.base import Model, Reply, get_context, has_price, is_language_model, supports_vision
from suffice.prompts.base import Prompt
from suffice.types import Failure, Usage

A = TypeVar("A")


class FallbackModel:
    """Asks the first model, and the next one when it fails. The usage includes what the failed models cost."""

    def __init__(self, models: Sequence[Model]) -> None:
        self.models = tuple(models)
        self.name = self.models[0].name
        self.local = all(model.local for model in models)
        self.is_language_model = is_language_model(self.models[0])
        self.context = _smallest_context(models)
        self.has_price = all(map(has_price, models))
        self.supports_vision = next((known for known in map(supports_vision, models) if known is not False), False)

    def get_model(self, role: str) -> Model:
        return self.models[0]

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
        raise AssertionError("the last model returns or raises")


class RoleRouter:
    """Sends the prompts of some roles to models of their own, and all others to the default model."""

    def __init__(self, default: Model, by_role: Mapping[str, Model]) -> None:
        self._default = default
        self._by_role = dict(by_role)
        self.models = models = tuple({id(model): model for model in (default, *by_role.values())}.values())
        self.name = " + ".join(dict.fromkeys(model.name for model in models))
        self.local = all(model.local for model in models)
        self.is_language_model = any(map(is_language_model, models))
        self.context = _smallest_context(models)
        self.has_price = all(map(has_price, models))
        self.supports_vision = supports_vision(self._by_role.get("look", default))

    def get_model(self, role: str) -> Model:
        return self._by_role.get(role, self._default)

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        return await self.get_model(prompt.role)(prompt)


def _smallest_context(models: Sequence[Model]) -> int | None:
    """Return the context that every model has; ``None`` when all are unknown."""
    return min((tokens for tokens in map(get_context, models) if tokens is not None), default=None)
