"""Decide whether a change of an instruction is a real gain.

Each task is answered with both texts, so the differences are paired. Under the hypothesis that the change does nothing, each
difference is as likely positive as negative; the test flips their signs in all ways and counts how often the mean is as
large as the one observed (the sign-flip permutation test of Fisher 1935, exact up to 2^14 ways, else sampled).

Stopping early only for futility cannot make a false gain more likely: a change is never kept before all tasks are done.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, variance

import numpy

MAX_EXACT = 14  # Differences up to which all sign flips are counted.
_SAMPLES = 20_000
_MIN_FUTILITY_SHARE = 0.5  # Share of the tasks after which a mean difference of 0 or less ends an experiment.


@dataclass(frozen=True)
class PairedResult:
    """The paired comparison of two texts on the same tasks."""

    count: int
    gain: float
    p: float


def compare_paired(before: Sequence[float], after: Sequence[float]) -> PairedResult:
    """Return the mean gain and the one-sided p-value of "the change does nothing"."""
    differences = [new - old for old, new in zip(before, after, strict=True)]
    if not differences:
        return PairedResult(0, 0.0, 1.0)
    return PairedResult(len(differences), fmean(differences), sign_flip_p(differences))


def sign_flip_p(differences: Sequence[float]) -> float:
    """Return the share of sign flips whose mean is at least the observed one.

    >>> sign_flip_p([0.1] * 5), sign_flip_p([0.1, -0.1])
    (0.03125, 0.75)
    """
    sizes = numpy.abs(numpy.array(differences, float))
    count = int(numpy.sum(_make_signs(len(sizes)) @ sizes >= sum(differences) - 1e-12))
    return count / 2 ** len(sizes) if len(sizes) <= MAX_EXACT else (count + 1) / (_SAMPLES + 1)


@cache
def _make_signs(count: int) -> numpy.ndarray:
    """Return all rows of ``count`` signs, or a sample of them if there are too many."""
    if count > MAX_EXACT:
        return numpy.random.default_rng(0).choice((-1.0, 1.0), (_SAMPLES, count))
    bits = (numpy.arange(2**count)[:, None] >> numpy.arange(count)) & 1
    return numpy.asarray(bits * 2.0 - 1.0)


def smallest_p(count: int) -> float:
    return 0.5**count if count <= MAX_EXACT else 1 / (_SAMPLES + 1)


def is_futile(before: Sequence[float], after: Sequence[float], total: int, level: float) -> bool:
    """Whether an experiment may end early, after the first tasks of ``total``.

    It is futile if the rest cannot make it significant even if every remaining task gained as much as the best so far could,
    or if after half of the tasks the change has gained nothing.
    """
    done = len(after)
    if not done or done >= total:
        return False
    differences = [new - old for old, new in zip(before[:done], after, strict=True)]
    if done >= _MIN_FUTILITY_SHARE * total and fmean(differences) <= 0:
        return True
    best_case = [*differences, *(1.0 - old for old in before[done:total])]
    return sign_flip_p(best_case) > level


def estimate_noise(repeats: Sequence[Sequence[float]]) -> float:
    """Return the standard deviation of one run of a task, from repeated runs of the same text; 0 without repetition."""
    variances = [variance(own) for own in repeats if len(own) > 1]
    return fmean(variances) ** 0.5 if variances else 0.0


def least_gain(noise: float, tasks: int, repeats: int) -> float:
    """Return the gain below which a difference of two means is within the noise: one standard error of the difference."""
    return noise * (2 / (tasks * repeats)) ** 0.5 if tasks and repeats else 0.0
