"""Rank everything in scope by relevance, and estimate how much of what is relevant has been read.

    Rocchio (1971): the query moves towards what was found relevant, q' = q + β · mean(relevant)
    share seen = Σ p(read) / Σ p(all), p the calibrated probability that a passage is relevant

Vectors are rows of length one.
"""

from collections.abc import Sequence
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy

FEEDBACK = 0.3  # β: more pulls the ranking away from the question.
# Fitted on 40 questions over four sets of documentation (``python -m bench.breadth --topics``), with the vectors before.
BIAS, SLOPE = -4.07, 1.67
# Of a file: the weights of its own score and of how far it is behind the best file (the same command fits them).
FILE_BIAS, FILE_SLOPE, FILE_BEHIND = -1.99, 10.33, 6.93
INTERVAL = 1.8  # How far below its estimate the log-odds of a share may be, for four of five questions.


class Share(NamedTuple):
    share: float
    low: float
    high: float


def move_scores(scores: "numpy.ndarray", vectors: "numpy.ndarray", relevant: Sequence[int]) -> "numpy.ndarray":
    """Return the similarities to a query that moved towards the rows that are relevant (Rocchio without negative examples)."""
    import numpy

    if not len(relevant):
        return scores
    mean = vectors[list(relevant)].mean(axis=0)
    mean /= max(float(numpy.linalg.norm(mean)), 1e-9)
    return numpy.asarray((scores + FEEDBACK * (vectors @ mean)) / (1 + FEEDBACK))


def mean_of_best(scores: Sequence[float], count: int = 2) -> float:
    """Return the mean of the best scores: one passage may be near the question by chance.

    >>> mean_of_best([0.2, 0.8, 0.6])
    0.7
    """
    best = sorted(scores, reverse=True)[:count]
    return sum(best) / len(best)


def standardize(scores: "numpy.ndarray") -> "numpy.ndarray":
    standard: numpy.ndarray = (scores - scores.mean()) / (float(scores.std()) or 1.0)
    return standard


def to_probabilities(scores: "numpy.ndarray", bias: float = BIAS, slope: float = SLOPE) -> "numpy.ndarray":
    """Return the probability of relevance for standardized scores."""
    import numpy

    return numpy.asarray(1 / (1 + numpy.exp(-numpy.clip(bias + slope * scores, -30, 30))))


def estimate_file_relevance(score: float, best: float) -> float:
    """Return the probability that a file is relevant, from its similarity to the question and that of the best file.

    >>> round(estimate_file_relevance(0.6, best=0.6), 2), round(estimate_file_relevance(0.3, best=0.6), 2)
    (0.99, 0.27)
    """
    return 1 / (1 + exp(-(FILE_BIAS + FILE_SLOPE * score + FILE_BEHIND * (score - best))))


def estimate_share(seen: float, left: float) -> Share:
    """Return seen / (seen + left) with an interval, which bench/breadth.md measures.

    It ends at 1: what was not read may hold nothing, however probable each passage is.
    """
    if seen <= 0 or left <= 0:
        return Share(*[float(left <= 0)] * 3)
    share, low = (1 / (1 + exp(-(log(seen / left) + shift))) for shift in (0.0, -INTERVAL))
    return Share(share, low, 1.0)
