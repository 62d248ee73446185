"""Numbers for the events of a run, the same ones whenever the run is gone through again.

Lasting events are ``APART`` apart. The pieces of a draft stand between them: they come only while it is being written, not when
it is taken from the journal, so they may not shift the others. If the writing begins again after a crash, its pieces go behind
those that are there, after an empty one that says so.
"""

from collections.abc import Iterator

from suffice.events import Drafting, Event

EVENT_STRIDE = 1000


class EventNumbering:
    """``last`` is the last number that is kept of the run; 0: none."""

    def __init__(self, last: int) -> None:
        self._last = last
        self._current = 0

    def assign(self, event: Event) -> Iterator[tuple[int, Event]]:
        """The event with its number; a piece of a draft that is longer than any page has none and is left out."""
        if not isinstance(event, Drafting):
            self._current = (self._current // EVENT_STRIDE + 1) * EVENT_STRIDE
            yield self._current, event
            return
        if self._current < self._last < self._current // EVENT_STRIDE * EVENT_STRIDE + EVENT_STRIDE:
            self._current = self._last
            yield from self._assign_draft(Drafting("", event.section))
        yield from self._assign_draft(event)

    def _assign_draft(self, event: Drafting) -> Iterator[tuple[int, Event]]:
        if (self._current + 1) % EVENT_STRIDE:
            self._current += 1
            yield self._current, event


def count_lasting_events(number: int) -> int:
    """How many lasting events there are up to this number."""
    return number // EVENT_STRIDE
