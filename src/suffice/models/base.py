"""The Model seam: one function from an ask to its answer, with what it cost."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

from suffice.errors import ModelError
from suffice.prompts.base import Prompt
from suffice.types import Failure, Usage

A = TypeVar("A")

text_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listening", default=None)
"""Who hears a free text while it is being written, piece by piece; an empty piece: it begins again. Set around a call, it
reaches a model through any wrapper. A model that writes all at once passes over it."""

usage_listener: ContextVar[Callable[[Usage], None]] = ContextVar("spending", default=lambda usage: None)
"""Who hears what each exchange with a provider cost, as soon as it is known. A reply and a ``ModelError`` say it of all of
them together; a call that is cut off ends with neither."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[A]):
    """A model's answer and its cost. The cost travels with the answer so that a stored answer keeps its bill."""

    answer: A
    usage: Usage
    failures: tuple[Failure, ...] = ()
    """What went wrong on the way to the answer; it belongs in the run's error log."""


@runtime_checkable
class Model(Protocol):
    """``local``: it runs on this machine, so nothing leaves it and slowness is no fault. A model may also say in ``context``
    how many tokens it reads, so that prompts are cut to fit, and in ``eyes`` whether it sees pictures."""

    @property
    def name(self) -> str: ...
    @property
    def local(self) -> bool: ...

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        """The answer, of type ``ask.answer``; raises ``ModelError`` when there is none."""
        ...


@contextmanager
def collect_usage() -> Iterator[list[Usage]]:
    """What exchanges cost from now on, one by one; whoever heard of them before still does."""
    heard: list[Usage] = []
    tell = usage_listener.get()

    def hear(usage: Usage) -> None:
        heard.append(usage)
        tell(usage)

    before = usage_listener.set(hear)
    try:
        yield heard
    finally:
        usage_listener.reset(before)


def get_context(model: Model) -> int | None:
    """How many tokens a model can read, question and answer together; ``None``: it does not say."""
    context: int | None = getattr(model, "context", None)
    return context


def supports_vision(model: Model) -> bool | None:
    """Whether a model sees pictures; ``None``: nobody knows before it is shown one."""
    eyes: bool | None = getattr(model, "supports_vision", False)
    return eyes


def is_language_model(model: Model) -> bool:
    """Whether it is a language model: it has words of its own, which can be reviewed, corrected and asked for again."""
    return model.name != "extractive"


class ModelWrapper:
    """What a model that wraps another one says of itself: whatever the other one says."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name
        self.local = model.local
        self.context = get_context(model)
        self.supports_vision = supports_vision(model)
        self.endpoint = getattr(model, "endpoint", None)
        self.has_price = getattr(model, "has_price", True)


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
