"""Sentences as offsets: exact, in order, nothing lost."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.text.sentences import quotable_spans, split_sentences

PIECES = st.sampled_from(
    ["Dr.", "e.g.", "the", "Ada", "3.14", ".", "!", "?", "…", "\n", "\n\n", " ", "\t", "- item", "1. ", "# Head", "| a |",
     "他来了。", "「はい」", '"', "”", ")", "`x`", "é", "\u2028", "\r\n", "\x0c", "\u3000", "end.", "no"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join))


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def test_a_citation_before_a_full_stop_ends_the_sentence() -> None:
    assert cut("Pigs fly [1].\n    indented = 1\nIs it so?") == ["Pigs fly [1].", "indented = 1\nIs it so?"]
    assert cut("See fig. two of approx. ten [1]. iPhones sell.") == [
        "See fig. two of approx. ten [1].",
        "iPhones sell.",
    ]


@given(TEXTS)
def test_every_word_is_in_exactly_one_sentence(text: str) -> None:
    found = split_sentences(text)
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(left[1] <= right[0] for left, right in pairwise(found))
    assert "".join("".join(text[start:end].split()) for start, end in found) == "".join(text.split())
    assert all(text[start:end] == text[start:end].strip() for start, end in found)


@given(TEXTS, st.integers(0, 50), st.integers(0, 200))
def test_a_stretch_is_cut_within_its_borders(text: str, start: int, length: int) -> None:
    end = min(len(text), start + length)
    found = split_sentences(text, start, end)
    assert all(start <= left < right <= end for left, right in found)
    assert "".join("".join(text[a:b].split()) for a, b in found) == "".join(text[start:end].split())


@given(TEXTS)
def test_units_of_code_are_exact_and_in_order(text: str) -> None:
    found = quotable_spans(text, "code")
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert found == sorted(found)
    assert all(left[1] <= right[0] for left, right in pairwise(found))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("No stop at the end", ["No stop at the end"]),
        ("Dr. Ada met J. R. Smith at 5 p.m. in the U.S. embassy. It rained.",
         ["Dr. Ada met J. R. Smith at 5 p.m. in the U.S. embassy.", "It rained."]),
        ("See fig. 2, e.g. the top, i.e. the roof. Then go.", ["See fig. 2, e.g. the top, i.e. the roof.", "Then go."]),
        ("Version 3.11 costs $3.50. Buy it.", ["Version 3.11 costs $3.50.", "Buy it."]),
        ("Call lru_cache.clear() first. Then go on.", ["Call lru_cache.clear() first.", "Then go on."]),
        ('He said "Go." She went. (Both left.) Nobody stayed.',
         ['He said "Go."', "She went.", "(Both left.)", "Nobody stayed."]),
        ("Wait... it goes on. Really.", ["Wait... it goes on.", "Really."]),
        ("他来了。她走了！真的吗？是。", ["他来了。", "她走了！", "真的吗？", "是。"]),
        ("「はい。」彼は言った。", ["「はい。」", "彼は言った。"]),
        ("Steps:\n- wash\n- dry\n1. fold\n2) store", ["Steps:", "- wash", "- dry", "1. fold", "2) store"]),
        ("# Title\nBody goes\nover two lines. End", ["# Title", "Body goes\nover two lines.", "End"]),
        ("A paragraph\n\nAnother one", ["A paragraph", "Another one"]),
        ("| a | b |\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("Er kam am 3. Oktober, z.B. mit ca. 20 Leuten bzw. Freunden. Dann ging er.",
         ["Er kam am 3. Oktober, z.B. mit ca. 20 Leuten bzw. Freunden.", "Dann ging er."]),
        ("Mme. Curie, p.ex. en chap. 3, le dit. Elle a raison.", ["Mme. Curie, p.ex. en chap. 3, le dit.", "Elle a raison."]),
        ("La Sra. Ruiz vive en EE.UU. desde 1990. Es médica.", ["La Sra. Ruiz vive en EE.UU. desde 1990.", "Es médica."]),
        ("Es waren 3. Danach kam keiner.", ["Es waren 3.", "Danach kam keiner."]),
        ("It is 330 m. Ada Berg sold it.", ["It is 330 m.", "Ada Berg sold it."]),
    ],
)  # fmt: skip
def test_where_a_reader_would_cut(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@pytest.mark.parametrize("piece", ["He left. She ", "a. b ", "...", "?!", "\n", "\n- x", '."', "。"])
def test_twice_the_text_takes_about_twice_the_time(piece: str) -> None:
    def seconds(times: int) -> float:
        text = piece * times
        began = time.process_time()
        split_sentences(text)
        return time.process_time() - began

    short = min(seconds(1_000) for _ in range(3))
    assert min(seconds(4_000) for _ in range(3)) < 8 * short + 0.05, "quadratic would be sixteen times as long"


CODE = '''def area(r):
    """The area of a circle. Raises nothing.

    >>> area(1)
    3.14
    """
    return 3.14 * r * r  # good enough
'''


def test_code_is_quoted_by_docstring_sentence_and_by_line() -> None:
    quoted = [CODE[start:end] for start, end in quotable_spans(CODE, "code")]
    assert "The area of a circle." in quoted
    assert "def area(r):" in quoted
    assert "return 3.14 * r * r  # good enough" in quoted
    assert not any(">>>" in text for text in quoted)
    sentences = ["The area of a circle.", "Raises nothing."]
    assert [text for text in quoted if text in sentences] == sentences
    assert all(re.search(r"\w", text) for text in quoted)


def test_a_heading_is_no_part_of_the_sentence_below_it():
    text = "# Notice\nThe period is three months.\n## Leave.\nThirty days."
    assert [text[a:b] for a, b in split_sentences(text)] == [
        "# Notice",
        "The period is three months.",
        "## Leave.",
        "Thirty days.",
    ]
