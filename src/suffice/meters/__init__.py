"""Readings per round. Cheap meters are always on, so that a trace can be judged by a gate nobody had thought of."""

from collections.abc import Iterable, Sequence

from suffice import plugins
from suffice.leads import Embed
from suffice.meters.base import Context, Hit, Meter, Moment, Sight
from suffice.meters.meaning import Coverage

__all__ = ["BEFORE", "MEANING", "Context", "Hit", "Meter", "Meters", "Moment", "Sight", "standard"]

# Readings taken before a round may change the belief; every other one is taken after.
BEFORE = frozenset({"novelty.words", "novelty.embedding", "novelty.model", "evidence.chars"})

# Readings that compare meanings: they need an embedding model and texts.
MEANING = frozenset({"novelty.embedding", "coverage.mean", "coverage.min", "coverage.gain"})


class Meters:
    """A run's meters, read in the two moments of a round."""

    def __init__(self, meters: Iterable[Meter]) -> None:
        self._meters = tuple(meters)

    def read(self, moment: Moment, sight: Sight) -> dict[str, float | None]:
        readings: dict[str, float | None] = {}
        for meter in self._meters:
            if meter.moment == moment:
                readings.update(meter.read(sight))
        return readings

    def outline(self, topics: Sequence[str]) -> None:
        """Tell the meters that measure coverage what is to be covered now."""
        for meter in self._meters:
            if isinstance(meter, Coverage):
                meter.outline(topics)


def standard(needs: frozenset[str] = frozenset(), question: str | None = None, embed: Embed | None = None) -> Meters:
    """Every meter that is installed, built in or not."""
    context = Context(question, needs, embed)
    return Meters(plugins.find("meters", name)(context) for name in plugins.names("meters"))
