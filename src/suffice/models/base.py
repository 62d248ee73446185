"""The Model seam: one function from an ask to its answer, with what it cost."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

from suffice.asks.base import Ask
from suffice.types import Usage

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Reply(Generic[A]):
    """A model's answer and its cost. The cost travels with the answer so that a stored answer keeps its bill."""

    answer: A
    usage: Usage


@runtime_checkable
class Model(Protocol):
    """``local``: it runs on this machine, so nothing leaves it and slowness is no fault. A model may also say in ``context``
    how many tokens it reads; prompts are then cut to fit."""

    @property
    def name(self) -> str: ...
    @property
    def local(self) -> bool: ...

    async def __call__(self, ask: Ask[A]) -> Reply[A]:
        """The answer, of type ``ask.answer``; raises ``ModelError`` when there is none."""
        ...
