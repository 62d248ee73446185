"""How much has not been seen yet, from how often things were seen.

    Good (1953), The population frequencies of species: unseen mass ≈ f₁ / n
    Chao (1984), bias-corrected:                        richness   ≈ S + f₁(f₁ − 1) / (2(f₂ + 1))

f₁ and f₂ are the numbers of things seen once and twice, n the number of sightings, S the number of different things.
"""

from collections import Counter
from collections.abc import Hashable, Iterable


class Sightings:
    """Counts sightings; both estimates cost O(1) after O(new) counting."""

    def __init__(self) -> None:
        self._times: dict[Hashable, int] = {}
        self._of: Counter[int] = Counter()
        self.total = 0

    def add(self, things: Iterable[Hashable]) -> None:
        for thing in things:
            times = self._times.get(thing, 0)
            self._times[thing] = times + 1
            if times:
                self._of[times] -= 1
            self._of[times + 1] += 1
            self.total += 1

    @property
    def different(self) -> int:
        return len(self._times)

    def unseen_mass(self) -> float | None:
        """The chance that the next sighting is of something new; ``None`` before the first sighting."""
        return self._of[1] / self.total if self.total else None

    def richness(self) -> float | None:
        """The estimated number of different things there are, seen or not."""
        if not self.total:
            return None
        once, twice = self._of[1], self._of[2]
        return self.different + once * (once - 1) / (2 * (twice + 1))
