"""Words in any script, and token estimates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.text.tokens import content_words, estimate_tokens, jaccard, segment_unspaced, tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Hello, World!", ["hello", "world"]),
        ("naïve Café 42", ["naïve", "café", "42"]),
        ("lru_cache(maxsize=None)", ["lru_cache", "maxsize", "none"]),
        ("東京都", ["東京", "京都"]),
        ("猫", ["猫"]),
        ("Python3で書く", ["python3", "で書", "書く"]),
        ("Привет мир", ["привет", "мир"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


@given(st.text())
def test_words_are_lower_case_and_without_spaces(text: str) -> None:
    for word in tokenize(text):
        assert word == word.lower()
        assert len(word.split()) == 1


@given(st.text(alphabet="東京都大阪abc 12"))
def test_a_spaced_text_has_the_same_words_without_pairs(text: str) -> None:
    assert segment_unspaced(text).split() == [
        piece for word in text.split() for piece in segment_unspaced(word).split()
    ]
    assert segment_unspaced(text).isascii() == text.isascii()


def test_a_search_in_the_middle_of_an_unspaced_run_finds_it() -> None:
    assert set(tokenize("京都")) <= set(tokenize("東京都庁"))


@given(st.text(), st.text())
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert estimate_tokens(text) <= estimate_tokens(text + more)
    assert estimate_tokens(text) <= estimate_tokens(more + text)


def test_estimates_are_in_the_right_order_of_magnitude() -> None:
    assert estimate_tokens("") == 0
    assert 70 <= estimate_tokens("The quick brown fox jumps over the lazy dog. " * 8) <= 110
    assert 8 <= estimate_tokens("東京都の人口は多い。") <= 12


def test_content_words_leave_out_what_says_nothing() -> None:
    assert content_words("What is the area of a circle of radius 5 in 円?") == ["area", "circle", "radius", "5", "円"]


@given(st.sets(st.text(max_size=3)), st.sets(st.text(max_size=3)))
def test_jaccard(left: set[str], right: set[str]) -> None:
    value = jaccard(left, right)
    assert 0 <= value <= 1
    assert value == jaccard(right, left)
    assert (value == 1) == (left == right)
