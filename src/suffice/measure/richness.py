"""Estimate how much has not been seen yet, from how often things were seen.

    Good (1953), The population frequencies of species: unseen mass ≈ f₁ / n
    Chao (1984), bias-corrected:                        richness   ≈ S + f₁(f₁ − 1) / (2(f₂ + 1))
    Chao (1987), interval of richness:                  S + T / K to S + T · K with T = richness − S,
                                                        K = exp(1.96 √ln(1 + var / T²))

f₁ and f₂ are the numbers of things seen once and twice, n the number of sightings, S the number of different things.
"""

from collections.abc import Hashable, Iterable
from math import exp, log, sqrt


class SightingCounter:
    """Counts sightings. Adding costs O(new); both estimates cost O(1)."""

    def __init__(self) -> None:
        self._counts: dict[Hashable, int] = {}
        self._once = self._twice = 0
        self.total = 0

    def add(self, things: Iterable[Hashable]) -> None:
        for thing in things:
            times = self._counts[thing] = self._counts.get(thing, 0) + 1
            self.total += 1
            if times == 1:
                self._once += 1
            elif times == 2:
                self._once -= 1
                self._twice += 1
            elif times == 3:
                self._twice -= 1

    @property
    def distinct(self) -> int:
        return len(self._counts)

    def estimate_unseen_mass(self) -> float | None:
        """Return the chance that the next sighting is new; ``None`` before the first one."""
        return self._once / self.total if self.total else None

    def estimate_richness(self) -> float | None:
        """Return the estimated number of different things, seen or not; ``None`` before the first sighting."""
        if not self.total:
            return None
        return self.distinct + self._once * (self._once - 1) / (2 * (self._twice + 1))

    def estimate_seen(self) -> tuple[float, float, float] | None:
        """Return the share of all different things that was seen, with its interval; ``None`` before the first sighting."""
        richness = self.estimate_richness()
        if richness is None:
            return None
        once, twice, unseen = self._once, self._twice, richness - self.distinct
        if unseen <= 0:
            return 1.0, 1.0, 1.0
        variance = (
            once * (once - 1) / (2 * (twice + 1))
            + once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
            + once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
        )
        factor = exp(1.96 * sqrt(log(1 + variance / unseen**2)))
        low, high = (self.distinct / (self.distinct + unseen * scale) for scale in (factor, 1 / factor))
        return self.distinct / richness, low, high
