"""Readings per round. Cheap meters are always on, so that a trace can be judged by a gate nobody had thought of."""

from collections.abc import Iterable, Sequence

from suffice import plugins
from suffice.meters.base import Hit, Meter, MeterContext, Moment, RoundView
from suffice.meters.semantic import CoverageMeter
from suffice.types import Embed

__all__ = [
    "BEFORE_READINGS",
    "EMBEDDING_READINGS",
    "Hit",
    "Meter",
    "MeterContext",
    "MeterSet",
    "Moment",
    "RoundView",
    "build_meters",
]

# Readings taken before a round may change the belief; every other one is taken after.
BEFORE_READINGS = frozenset({"novelty.words", "novelty.embedding", "novelty.model", "evidence.chars"})

# Readings that compare meanings: they need an embedding model and texts.
EMBEDDING_READINGS = frozenset({"novelty.embedding", "coverage.mean", "coverage.min", "coverage.gain"})


class MeterSet:
    """A run's meters, read in the two moments of a round."""

    def __init__(self, meters: Iterable[Meter]) -> None:
        self._meters = tuple(meters)

    def read(self, moment: Moment, view: RoundView) -> dict[str, float | None]:
        readings: dict[str, float | None] = {}
        for meter in self._meters:
            if meter.moment == moment:
                readings.update(meter.read(view))
        return readings

    def set_topics(self, topics: Sequence[str]) -> None:
        """Tell the meters that measure coverage what is to be covered now."""
        for meter in self._meters:
            if isinstance(meter, CoverageMeter):
                meter.set_topics(topics)


def build_meters(
    needs: frozenset[str] = frozenset(), question: str | None = None, embed: Embed | None = None
) -> MeterSet:
    """Every meter that is installed, built in or not."""
    context = MeterContext(question, needs, embed)
    return MeterSet(plugins.load_plugin("meters", name)(context) for name in plugins.list_plugins("meters"))
