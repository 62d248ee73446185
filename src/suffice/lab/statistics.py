"""Statistics of a grid: means with bootstrap intervals, paired t-tests, and Holm's correction for several tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy

from suffice.errors import InputError, describe_install

DRAWS = 2_000
MIN_PAIRS = 3  # Fewer pairs are not tested.


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The mean difference of pairs, its bootstrap interval, and the p-value of a two-sided paired t-test."""

    pairs: int
    difference: float
    interval: tuple[float, float] | None
    p: float | None


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of the mean, from draws with a fixed seed; ``None`` for fewer than two values."""
    if len(values) < 2:
        return None
    array = numpy.asarray(values, float)
    draws = numpy.random.default_rng(0).integers(0, len(array), (DRAWS, len(array)))
    low, high = numpy.quantile(array[draws].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def paired_test(left: Sequence[float], right: Sequence[float]) -> PairedTest:
    """Compare ``left`` with ``right``, pair by pair. Without any difference p is 1; with too few pairs it is unknown."""
    differences = [a - b for a, b in zip(left, right, strict=True)]
    if not differences:
        return PairedTest(0, 0.0, None, None)
    p: float | None = None
    if len(differences) >= MIN_PAIRS:
        p = 1.0 if len(set(differences)) == 1 and differences[0] == 0 else _t_test(left, right)
    return PairedTest(len(differences), fmean(differences), bootstrap_interval(differences), p)


def _t_test(left: Sequence[float], right: Sequence[float]) -> float | None:
    try:
        from scipy.stats import ttest_rel
    except ImportError as error:
        raise InputError(f"The tables need the package scipy: {describe_install('lab')}") from error
    import warnings

    with warnings.catch_warnings():  # Equal differences have no variance; p is then 0.
        warnings.simplefilter("ignore", RuntimeWarning)
        p = float(ttest_rel(left, right).pvalue)
    return p if p == p else None


def adjust_holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values adjusted by Holm's step-down method. Unknown ones stay unknown and are not counted."""
    known = sorted((p, position) for position, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, position) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p))
        adjusted[position] = highest
    return adjusted
