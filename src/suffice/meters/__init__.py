"""Readings per round. Cheap meters are always on, so that a trace can be judged by a gate nobody had thought of."""

from collections.abc import Iterable

from suffice.meters.base import Hit, Meter, Moment, Sight
from suffice.meters.repetition import QueryOverlap, UniqueRate, WordNovelty

__all__ = ["Hit", "Meter", "Meters", "Moment", "Sight", "before_names", "standard"]


def standard(needs: Iterable[str] = ()) -> "Meters":
    """The meters every run carries; ``needs`` adds windows of the query overlap that a gate asks for by name."""
    windows = tuple(int(name.partition("@")[2]) for name in needs if name.startswith("overlap.jaccard@"))
    return Meters([WordNovelty(), QueryOverlap(windows), UniqueRate()])


def before_names() -> frozenset[str]:
    """The readings taken before a round may change the belief."""
    return frozenset(WordNovelty.names)


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
