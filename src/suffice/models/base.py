"""The Model seam: one function from a prompt to its response, with what the response cost.

``ModelWrapper`` is the base of everything that wraps a model; ``UsageTrackingModel`` adds up what the calls of a run cost.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast, runtime_checkable

from suffice.errors import ModelError
from suffice.prompts.base import Prompt
from suffice.types import Failure, Usage

A = TypeVar("A")

text_listener: ContextVar[Callable[[str], None] | None] = ContextVar("text_listener", default=None)
"""Receives a free text piece by piece while a model writes it; an empty piece means that the text starts over. Set around a
call, it reaches the model through any wrapper. Models that do not stream ignore it."""

usage_listener: ContextVar[Callable[[Usage], None]] = ContextVar("usage_listener", default=lambda usage: None)
"""Receives the usage of each exchange with a provider as soon as it is known. A reply and a ``ModelError`` report the sum of
their exchanges; a cancelled call ends with neither, so only the listener knows what it cost."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[A]):
    """A model's response with its cost, so that a stored response keeps what it cost."""

    answer: A
    usage: Usage
    failures: tuple[Failure, ...] = ()
    """What went wrong on the way to the response, for the run's error log."""


@runtime_checkable
class Model(Protocol):
    """Answers prompts. A model may also have these attributes; wrappers pass them on:

    ``is_language_model``   it can write, revise and judge text; default ``True``
    ``context``             tokens of prompt and response together, so that prompts are cut to fit; default unknown
    ``supports_vision``     whether it accepts images, ``None`` when unknown; default ``False``
    ``has_price``           whether the price of a call is known; default ``True``
    """

    @property
    def name(self) -> str: ...
    @property
    def local(self) -> bool:
        """Whether it runs on this machine: no text leaves it, and it may be slow."""

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        """Return the response, of type ``prompt.response_type``; raise ``ModelError`` when there is none."""


def is_language_model(model: Model) -> bool:
    return bool(getattr(model, "is_language_model", True))


def get_context(model: Model) -> int | None:
    return cast("int | None", getattr(model, "context", None))


def supports_vision(model: Model) -> bool | None:
    return cast("bool | None", getattr(model, "supports_vision", False))


def has_price(model: Model) -> bool:
    return bool(getattr(model, "has_price", True))


@contextmanager
def collect_usage() -> Iterator[list[Usage]]:
    """Collect the usage of each exchange inside the block. The listener that was set before still receives it too."""
    collected: list[Usage] = []
    outer_listener = usage_listener.get()

    def listen(usage: Usage) -> None:
        collected.append(usage)
        outer_listener(usage)

    token = usage_listener.set(listen)
    try:
        yield collected
    finally:
        usage_listener.reset(token)


class ModelWrapper:
    """Base of a model that wraps another one and has the same attributes."""

    def __init__(self, model: Model) -> None:
        self.wrapped = model
        self.name = model.name
        self.local = model.local
        self.is_language_model = is_language_model(model)
        self.context = get_context(model)
        self.supports_vision = supports_vision(model)
        self.has_price = has_price(model)
        self.endpoint = getattr(model, "endpoint", None)


class UsageTrackingModel(ModelWrapper):
    """Adds up what the calls to a model cost, in total and by role.

    A call that is cancelled, by the run's time limit or by the user, counts with what it had cost until then.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.by_role: dict[str, Usage] = {}
        self.total = Usage()
        self.answered_count = 0
        self.failed_count = 0

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        with collect_usage() as exchanges:
            try:
                reply = await self.wrapped(prompt)
            except BaseException as error:
                self.failed_count += 1
                self._add_usage(prompt.role, error.usage if isinstance(error, ModelError) else sum(exchanges, Usage()))
                raise
        self._add_usage(prompt.role, reply.usage)
        self.answered_count += 1
        return reply

    def _add_usage(self, role: str, usage: Usage) -> None:
        if usage != Usage():
            self.by_role[role] = self.by_role.get(role, Usage()) + usage
            self.total = self.total + usage
