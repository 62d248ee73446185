"""What counts as a citation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.text.citations import (
    find_citation_groups,
    find_citations,
    has_citation,
    is_handle,
    list_handles,
    next_handle,
    parse_handle,
    parse_source_entry,
    replace_citations,
    skip_citations,
    split_citation_groups,
    strip_citations,
    trailing_citations_start,
)

TEXTS = st.text(alphabet="aB1 .,;[]()\\\\\n:^FRED", max_size=60)


@pytest.mark.parametrize(
    ("text", "handles"),
    [
        ("It rose [1], then fell [12][3].", ["[1]", "[12]", "[3]"]),
        ("argv\\[1] and \\[2\\]", []),
        ("[12345] [x] [] [1 ] [1, 2]", []),
        ("[FRED:UNRATE:2024-05]", []),
    ],
)
def test_citations_are_handles_in_brackets(text, handles):
    assert [citation.handle for citation in find_citations(text)] == handles
    assert has_citation(text) == bool(handles)


@given(TEXTS)
def test_offsets_are_exact(text):
    for start, end, handle in find_citations(text):
        assert text[start:end] == handle
        assert is_handle(handle)
        assert parse_handle(handle) == f"[{int(handle[1:-1])}]"


@given(TEXTS)
def test_stripping_removes_every_citation_and_adds_nothing(text):
    stripped = strip_citations(text)
    assert len(stripped) <= len(text)
    assert (stripped == text) == (not has_citation(text))


def test_handles_are_listed_once_in_the_order_of_citation():
    assert list_handles("a [2] [1]", "b [2] [3]") == ("[2]", "[1]", "[3]")


def test_groups_are_split_into_single_citations():
    assert split_citation_groups("a [1, 2;3] b [1] c \\[1, 2]") == "a [1] [2] [3] b [1] c \\[1, 2]"
    assert split_citation_groups("[1, FRED:UNRATE:2024-05]") == "[1] [FRED:UNRATE:2024-05]"
    assert list(find_citation_groups("a [1, 2] b [3]")) == [(2, 8, ["[1]", "[2]"]), (11, 14, ["[3]"])]


def test_citations_are_replaced():
    numbers = {"[7]": "[1]", "[FRED:UNRATE:2024-05]": "[2]"}
    assert replace_citations("a [7] \\[7]", numbers.__getitem__) == "a [1] \\[7]"
    text = "a [7] [FRED:UNRATE:2024-05] [THESIS:MSFT:long]"
    assert replace_citations(text, numbers.__getitem__, anchors=True) == "a [1] [2] [THESIS:MSFT:long]"


@pytest.mark.parametrize(
    ("text", "rest"), [(" [1][2]. So", ". So"), ("[1] [2]", ""), ("a [1]", "a [1]"), ("\\[1]", "\\[1]")]
)
def test_a_leading_run_is_skipped(text, rest):
    assert text[skip_citations(text) :] == rest


@pytest.mark.parametrize(
    ("text", "punctuation", "body"),
    [
        ("a [1] [2]", "", "a"),
        ("a [1] [2].", "", "a [1] [2]."),
        ("a [1] [2].", ".", "a"),
        ("a [1](https://x.example) !", "!", "a"),
        ("a [1] b", ".", "a [1] b"),
        ("a \\[1]", "", "a \\[1]"),
        ("a.", ".", "a."),
    ],
)
def test_a_trailing_run_is_found(text, punctuation, body):
    assert text[: trailing_citations_start(text, punctuation=punctuation)] == body


@pytest.mark.parametrize(
    ("text", "handle"),
    [("3", "[3]"), (" [ 03 ] ", "[3]"), ("[3", "[3]"), ("[x]", None), ("", None), ("12345", None), ("[1, 2]", None)],
)
def test_what_a_model_may_write_for_a_handle(text, handle):
    assert parse_handle(text) == handle


def test_the_next_handle_is_the_first_free_one():
    assert next_handle(()) == "[1]"
    assert next_handle(["[2]", "[7]"]) == "[8]"


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("[1] The bridge", ("[1]", "The bridge")),
        ("- [^2]: Notes", ("[2]", "Notes")),
        ("3) Book", ("[3]", "Book")),
        ("The bridge [1]", None),
    ],
)
def test_entries_of_a_source_list(line, entry):
    assert parse_source_entry(line) == entry
