"""Numbers for the events of a run, the same ones whenever the run is gone through again.

Lasting events are ``APART`` apart. The pieces of a draft stand between them: they come only while it is being written, not when
it is taken from the journal, so they may not shift the others. If the writing begins again after a crash, its pieces go behind
those that are there, after an empty one that says so.
"""

from collections.abc import Iterator

from suffice.events import Drafting, Event

APART = 1000


class Numbering:
    """``last`` is the last number that is kept of the run; 0: none."""

    def __init__(self, last: int) -> None:
        self._last = last
        self._here = 0

    def of(self, event: Event) -> Iterator[tuple[int, Event]]:
        """The event with its number; a piece of a draft that is longer than any page has none and is left out."""
        if not isinstance(event, Drafting):
            self._here = (self._here // APART + 1) * APART
            yield self._here, event
            return
        if self._here < self._last < self._here // APART * APART + APART:
            self._here = self._last
            yield from self._piece(Drafting("", event.section))
        yield from self._piece(event)

    def _piece(self, event: Drafting) -> Iterator[tuple[int, Event]]:
        if (self._here + 1) % APART:
            self._here += 1
            yield self._here, event


def lasting(number: int) -> int:
    """How many lasting events there are up to this number."""
    return number // APART
