"""Relevance of everything in scope: feedback, learning from what was judged, and the share that was seen."""

import numpy as np
import pytest

from suffice.measure.relevance import (
    calibrate,
    estimate_share,
    learn_scores,
    move_scores,
    standardize,
    to_probabilities,
)
from suffice.measure.richness import SightingCounter


def test_the_ranking_moves_towards_what_is_relevant() -> None:
    vectors = np.eye(3, dtype=np.float32)
    moved = move_scores(np.array([0.5, 0.1, 0.1], np.float32), vectors, [1])
    assert moved[1] > moved[2]
    assert moved[0] == max(moved)


def test_words_of_relevant_texts_lift_texts_that_share_them() -> None:
    words = [{"eel", "river"}, {"eel", "lake"}, {"eel", "sea"}, *({f"stone{n % 3}", "dust"} for n in range(9))]
    scores = learn_scores(np.zeros(12), words, {0: True, 1: True, 3: False})
    assert scores[2] > max(scores[4:])
    assert list(learn_scores(np.zeros(12), words, {3: False})) == [0.0] * 12, "nothing relevant teaches nothing"


def test_probabilities_follow_what_was_found() -> None:
    bias, slope = calibrate([-2, -1, 0, 1, 2] * 40, [False, False, False, True, True] * 40)
    low, high = to_probabilities(np.array([-2.0, 2.0]), bias, slope)
    assert low < 0.1
    assert high > 0.9


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
