"""Bound how many passages can answer a question that none of those read answers.

    X ~ Binomial(K, s · n / N): K of N passages answer, n of them are drawn, a reader finds one that answers with probability s
    at most K: the largest with P(X ≤ x) ≥ α / 2;  s: the smallest with P(Y ≥ y) ≥ α / 2 of the passages it was measured on

Both are exact (Clopper and Pearson 1934), so together they hold with 1 − α. Drawing without replacement only lowers P(X ≤ x).
"""

from bisect import bisect_left
from math import exp, lgamma, log, log1p

CONFIDENCE = 0.95
_TAIL = (1 - CONFIDENCE) / 2
_STEPS = 1000  # The probability of finding is bounded to a thousandth.


def bound_share(drawn: int, positive: int, passages: int, *, found: int, shown: int) -> float:
    """Return the share of ``passages`` that can answer, given how many of those drawn from them seem to.

    ``found`` of ``shown`` passages that answer their question is what the reader was measured to recognise.

    >>> round(bound_share(160, 0, 4_800, found=51, shown=51), 3)
    0.024
    """
    if not passages:
        return 0.0
    least = find_least_rate(found, shown) * drawn / passages
    too_many = bisect_left(range(passages + 1), True, key=lambda count: _sum_binomial(positive, count, least) < _TAIL)
    return (too_many - 1) / passages if too_many else 0.0


def find_least_rate(found: int, shown: int) -> float:
    """Return the lower end of the interval for a rate, rounded down."""
    first = bisect_left(
        range(_STEPS), True, key=lambda step: 1 - _sum_binomial(found - 1, shown, step / _STEPS) >= _TAIL
    )
    return max(0, first - 1) / _STEPS


def _sum_binomial(most: int, count: int, rate: float) -> float:
    """Return P(X ≤ most) for X ~ Binomial(count, rate)."""
    if most >= count or rate <= 0:
        return float(most >= 0)
    if rate >= 1:
        return 0.0
    return sum(
        exp(lgamma(count + 1) - lgamma(i + 1) - lgamma(count - i + 1) + i * log(rate) + (count - i) * log1p(-rate))
        for i in range(most + 1)
    )
