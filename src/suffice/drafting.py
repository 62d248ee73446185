"""Hearing a draft while it is being written: pieces of a model's text become events, a line or so at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from suffice.asks import Ask, Draft
from suffice.events import Drafting, Event
from suffice.models.base import listening

PIECE = 80  # Characters. A provider sends a few letters at a time; an event for each would only be noise.


@contextmanager
def overheard(ask: Ask[object], tell: Callable[[Event], None]) -> Iterator[None]:
    """While a draft is asked for, what is written of it is told. Other asks are nobody's business."""
    if not isinstance(ask, Draft):
        yield
        return
    held: list[str] = []

    def flush() -> None:
        if held:
            tell(Drafting("".join(held), ask.section))
            held.clear()

    def hear(piece: str) -> None:
        if not piece:  # It begins again.
            held.clear()
            tell(Drafting("", ask.section))
            return
        held.append(piece)
        if "\n" in piece or sum(map(len, held)) >= PIECE:
            flush()

    before = listening.set(hear)
    try:
        yield
    finally:
        listening.reset(before)
        flush()
