"""Rank everything in scope by relevance, and estimate how much of what is relevant has been read.

    Rocchio (1971): the query moves towards what was found relevant, q' = q + β · mean(relevant)
    share seen = Σ p(read) / Σ p(all), p the calibrated probability that a passage is relevant

Vectors are rows of length one.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import exp, log
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy

FEEDBACK = 0.3  # β: more pulls the ranking away from the question.
# Fitted on 40 questions over four sets of documentation (``python -m bench.breadth --topics``).
BIAS, SLOPE = -4.07, 1.67
INTERVAL = 1.8  # How far below its estimate the log-odds of a share may be, for four of five questions.
_PRESUMED = 300
_SMOOTHING = 0.02
_LEARNED_WEIGHT, _HALF_LEARNED = 3.0, 25
_NEWTON_STEPS = 20


class Share(NamedTuple):
    """An estimated share with its interval."""

    share: float
    low: float
    high: float


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


def standardize(scores: "numpy.ndarray") -> "numpy.ndarray":
    """Return the scores with mean 0 and standard deviation 1."""
    standard: numpy.ndarray = (scores - scores.mean()) / (float(scores.std()) or 1.0)
    return standard


def to_probabilities(scores: "numpy.ndarray", bias: float = BIAS, slope: float = SLOPE) -> "numpy.ndarray":
    """Return the probability of relevance for standardized scores."""
    import numpy

    probabilities: numpy.ndarray = 1 / (1 + numpy.exp(-numpy.clip(bias + slope * scores, -30, 30)))
    return probabilities


def learn_scores(
    scores: "numpy.ndarray", words: Sequence[Collection[str]], judged: Mapping[int, bool], seed: int = 0
) -> "numpy.ndarray":
    """Return standardized scores moved by what was judged: log-odds of each word in relevant and other texts (naive Bayes).

    Texts drawn at random from those not judged count as not relevant (Cormack and Grossman 2015). The more relevant ones were
    judged, the more their words weigh against the similarity to the question.
    """
    import numpy

    relevant = [row for row, is_relevant in judged.items() if is_relevant]
    unjudged = [row for row in range(len(words)) if row not in judged]
    if not relevant:
        return scores
    drawn = Random(seed).sample(unjudged, min(_PRESUMED, len(unjudged)))
    others = [*(row for row, is_relevant in judged.items() if not is_relevant), *drawn]
    counts = Counter(word for own in words for word in set(own))
    total = len(words)
    weights = {word: log(total / count) for word, count in counts.items() if 3 <= count <= total / 2}
    lengths = [sum(weights.get(word, 0.0) ** 2 for word in set(own)) ** 0.5 or 1.0 for own in words]

    def add_up(rows: Sequence[int]) -> dict[str, float]:
        sums: dict[str, float] = defaultdict(lambda: _SMOOTHING)
        for row in rows:
            for word in set(words[row]) & weights.keys():
                sums[word] += weights[word] / lengths[row]
        return sums

    with_it, without = add_up(relevant), add_up(others)
    totals = [sum(sums.values()) + _SMOOTHING * (len(weights) - len(sums)) for sums in (with_it, without)]
    odds = {word: log(with_it[word] / totals[0]) - log(without[word] / totals[1]) for word in weights}
    learned = numpy.array(
        [
            sum(odds[word] * weights[word] for word in set(own) if word in weights) / length
            for own, length in zip(words, lengths, strict=True)
        ]
    )
    weight = _LEARNED_WEIGHT * len(relevant) / (len(relevant) + _HALF_LEARNED)
    moved: numpy.ndarray = scores + weight * standardize(learned)
    return moved


def calibrate(scores: Sequence[float], labels: Sequence[bool]) -> tuple[float, float]:
    """Return bias and slope of the probability of relevance, from the scores before reading and what was found (Platt)."""
    import numpy

    x, y = numpy.array(scores, float), numpy.array(labels, float)
    prior, strength = numpy.array([-2.5, 1.0]), numpy.array([0.2, 1.0])
    rows = numpy.stack([numpy.ones_like(x), x], axis=1)
    weights = prior.copy()
    for _ in range(_NEWTON_STEPS):
        p = to_probabilities(x, *weights)
        gradient = rows.T @ (y - p) - strength * (weights - prior)
        hessian = (rows * (p * (1 - p))[:, None]).T @ rows + numpy.diag(strength)
        weights = weights + numpy.linalg.solve(hessian, gradient)
    return float(weights[0]), max(0.05, float(weights[1]))


def estimate_share(seen: float, left: float) -> Share:
    """Return seen / (seen + left) with an interval, which bench/breadth.md measures.

    It ends at 1: what was not read may hold nothing, however probable each passage is.
    """
    if seen <= 0 or left <= 0:
        return Share(*[float(left <= 0)] * 3)
    share, low = (1 / (1 + exp(-(log(seen / left) + shift))) for shift in (0.0, -INTERVAL))
    return Share(share, low, 1.0)
