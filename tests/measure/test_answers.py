"""Token F1 against counts made by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.measure.answers import token_f1


@pytest.mark.parametrize(
    ("answer", "truths", "expected"),
    [
        ("The Eiffel Tower", ["eiffel tower"], 1.0),
        ("Paris, France", ["Paris"], 2 / 3),  # precision 1/2, recall 1
        ("in 1927", ["1927", "nineteen twenty-seven"], 2 / 3),
        ("to be or not", ["to be to be"], 0.5),  # each word counts as often as both have it: to, be
        ("London", ["Paris"], 0.0),
        ("", ["Paris"], 0.0),
        ("", [""], 1.0),
        ("the", ["a"], 1.0),  # nothing is left of either
        ("Paris", [], 0.0),
        ("Berlin", ["Paris", "berlin"], 1.0),
        ("The U.S.!", ["u s"], 1.0),  # case, articles and punctuation do not count
        ("東京", ["東京"], 1.0),
    ],
)
def test_token_f1(answer, truths, expected):
    assert token_f1(answer, truths) == pytest.approx(expected)


@given(st.lists(st.sampled_from("xyz"), max_size=6), st.lists(st.sampled_from("xyz"), max_size=6))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(given_words, true_words):
    left = list(true_words)
    same = 0
    for word in given_words:
        if word in left:
            left.remove(word)
            same += 1
    if not given_words or not true_words:
        expected = float(given_words == true_words)
    elif not same:
        expected = 0.0
    else:
        precision, recall = same / len(given_words), same / len(true_words)
        expected = 2 * precision * recall / (precision + recall)
    assert token_f1(" ".join(given_words), [" ".join(true_words)]) == pytest.approx(expected)
