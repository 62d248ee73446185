"""Relevance of everything in scope: feedback and the share that was seen."""

import numpy as np
import pytest

from suffice.measure.relevance import estimate_share, move_scores, standardize
from suffice.measure.richness import SightingCounter


def test_the_ranking_moves_towards_what_is_relevant() -> None:
    vectors = np.eye(3, dtype=np.float32)
    moved = move_scores(np.array([0.5, 0.1, 0.1], np.float32), vectors, [1])
    assert moved[1] > moved[2]
    assert moved[0] == max(moved)


@pytest.mark.parametrize(("seen", "left"), [(9.0, 1.0), (1.0, 3.0), (0.2, 0.2)])
def test_the_share_lies_in_its_interval(seen: float, left: float) -> None:
    share, low, high = estimate_share(seen, left)
    assert share == pytest.approx(seen / (seen + left))
    assert 0 < low < share < high == 1


def test_all_or_nothing() -> None:
    assert estimate_share(3.0, 0.0) == (1.0, 1.0, 1.0)
    assert estimate_share(0.0, 3.0) == (0.0, 0.0, 0.0)


def test_equal_scores_stay_finite() -> None:
    assert np.isfinite(standardize(np.array([0.3, 0.3]))).all()


def test_results_that_come_back_say_how_much_was_seen() -> None:
    counter = SightingCounter()
    assert counter.estimate_seen() is None
    counter.add("abcdefgh")
    counter.add("abcdef")
    share, low, high = counter.estimate_seen() or (0.0, 0.0, 0.0)
    assert 0 < low < share < high <= 1
    counter.add("abcdefgh")
    assert counter.estimate_seen() == (1.0, 1.0, 1.0)
