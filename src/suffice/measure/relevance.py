"""Rank everything in scope by relevance, and estimate how much of what is relevant has been read.

    Otsu (1979): the cut of sorted values that makes the variance between both parts largest
    Rocchio (1971): the query moves towards what was found relevant, q' = q + β · mean(relevant)
    share seen = Σ p(read) / Σ p(all), p the calibrated probability that a passage is relevant

Vectors are rows of length one.
"""

from collections.abc import Sequence
from math import exp
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy

FEEDBACK = 0.3  # β: more pulls the ranking away from the question.
BIAS, SLOPE = -3.0, 1.5
SPREAD = 3.0


class Share(NamedTuple):
    """An estimated share with its interval."""

    share: float
    low: float
    high: float


def find_cut(values: Sequence[float]) -> float:
    """Return the threshold between the upper and the lower part of values by Otsu's rule; the lowest value if all are equal.

    >>> find_cut([0.1, 0.2, 0.9, 0.8])
    0.5
    """
    ranked = sorted(values, reverse=True)
    total, above = sum(ranked), 0.0
    best, cut = 0.0, ranked[-1] if ranked else 0.0
    for count, value in enumerate(ranked[:-1], 1):
        above += value
        below = len(ranked) - count
        between = count * below * (above / count - (total - above) / below) ** 2
        if between > best + 1e-12:
            best, cut = between, (value + ranked[count]) / 2
    return cut


def move_scores(
    scores: "numpy.ndarray", vectors: "numpy.ndarray", relevant: Sequence[int], weight: float = FEEDBACK
) -> "numpy.ndarray":
    """Return the similarities to a query that moved towards the rows that are relevant (Rocchio without negative examples)."""
    import numpy

    if not len(relevant):
        return scores
    mean = vectors[list(relevant)].mean(axis=0)
    mean /= max(float(numpy.linalg.norm(mean)), 1e-9)
    moved: numpy.ndarray = (scores + weight * (vectors @ mean)) / (1 + weight)
    return moved


def mean_of_best(scores: Sequence[float], count: int = 2) -> float:
    """Return the mean of the best scores: one passage may be near the question by chance.

    >>> mean_of_best([0.2, 0.8, 0.6])
    0.7
    """
    best = sorted(scores, reverse=True)[:count]
    return sum(best) / len(best)


def to_probabilities(scores: Sequence[float]) -> list[float]:
    """Return how likely each passage is relevant, given the scores of all."""
    spread = pstdev(scores) or 1.0
    middle = fmean(scores)
    return [1 / (1 + exp(-(BIAS + SLOPE * (score - middle) / spread))) for score in scores]


def estimate_share(probabilities: Sequence[float], is_read: Sequence[bool]) -> Share:
    """Return Σ p(read) / Σ p(all) with an interval."""
    seen = sum(p for p, read in zip(probabilities, is_read, strict=True) if read)
    left = sum(p for p, read in zip(probabilities, is_read, strict=True) if not read)
    if seen + left == 0:
        return Share(1.0, 1.0, 1.0)
    share = seen / (seen + left)
    low, high = (seen / (seen + left * factor) for factor in (SPREAD, 1 / SPREAD))
    return Share(share, low, high)
