"""How the bench of broad questions learns from what is judged relevant, and compares stops."""

import numpy as np

from bench.breadth import Round, calibrate, compare_stops, count_missing, learn_scores
from suffice.measure.relevance import Share, to_probabilities


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


def make_run(*rounds: tuple[int, float, float]) -> list[Round]:
    return [Round(read, 100, truth, Share(share, share / 2, 1.0), 20) for read, truth, share in rounds]


def test_stops_are_compared_by_what_they_reach_and_read() -> None:
    runs = [make_run((20, 0.5, 0.6), (40, 0.8, 0.85), (60, 1.0, 0.95), (80, 1.0, 0.99))]
    rows = {line.split("|")[1].strip(): line for line in compare_stops(runs).splitlines()[2:]}
    assert "| 0.80 | 0 of 1 | 40 |" in rows["`coverage(0.8)`"]
    assert "| 1.00 | 1 of 1 | 60 |" in rows["`coverage(0.9)`"]
    assert "| 1.00 | 1 of 1 | 60 |" in rows["oracle: recall of .9"]
    assert "`fixed(3)`, about the same cost" in rows


def test_the_missing_of_a_list_are_counted_where_coverage_stops() -> None:
    counted = count_missing([make_run((20, 0.5, 0.6), (60, 0.9, 0.9))])
    assert counted == "18.0 found, 2.0 more likely, 2.0 true; the upper figure holds 1 of 1"
