"""Markdown becomes safe HTML with linked citations, and claims are marked in it."""

import pytest
from report.html_page import Page

from suffice.report.answer_html import MarkdownRenderer, mark_claims
from suffice.types import Claim, Source

SOURCES = (
    Source("[1]", "One", "web", "https://a.example/x", "https://a.example/x"),
    Source("[2]", "Two", "text", "b.txt:1-2"),
)


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("So [1, 2].", 'So\u202f<a class="cite" href="#source-1">[1]</a><a class="cite" href="#source-2">[2]</a>.'),
        ("No such [7].", "No such [7]."),
        ("[1](https://evil.example)", '<a class="cite" href="#source-1">[1]</a>'),
        ("[away](https://evil.example) ![pic](https://evil.example)", "away pic"),
        ("`x[1]`", "<code>x[1]</code>"),
        ("Read argv\\[1\\] and \\*args.", "Read argv[1] and *args."),
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("[there](https://a.example/x)", '<a href="https://a.example/x" rel="noopener noreferrer nofollow">there</a>'),
    ],
)
def test_inline_markdown(markdown: str, expected: str) -> None:
    assert MarkdownRenderer(SOURCES).render_inline(markdown) == expected


def _mark(answer: str, *claims: str) -> tuple[str, frozenset[int]]:
    text, found = mark_claims(answer, [Claim(claim, (), "supported") for claim in claims], MarkdownRenderer(SOURCES))
    Page(text)
    return text, found


@pytest.mark.parametrize(
    ("answer", "claim", "marked"),
    [
        ("It is **very** big [1]. More.", "It is very big.", ["It is ", "very", " big\u202f", "."]),
        ("It is big [1] and old [2].", "It is big and old.", ["It is big\u202f", " and old\u202f", "."]),
        ("- One thing here\n- Two things here", "Two things here", ["Two things here"]),
        ("1. One thing here\n2. Two things here", "Two things here", ["Two things here"]),
        ("See [the page](https://a.example/x).", "See the page.", ["See ", "the page", "."]),
        ("2 < 3 & 4 > 3 holds.", "2 < 3 & 4 > 3 holds.", ["2 &lt; 3 &amp; 4 &gt; 3 holds."]),
        ("The x\\[1\\] is set [1].", "The x[1] is set.", ["The x[1] is set\u202f", "."]),
        ("It is **so** [1].", "It is **so** [1].", ["It is ", "so", "."]),
        ("**“It turns.”** It is old.", "“It turns.”", ["“It turns.”"]),
        ("**It turns. It is old.**", "It is old.**", ["It is old."]),
        ("- **1998**: The mill burnt. It was rebuilt. [1]", "The mill burnt. It was rebuilt.",
         ["1998", ": The mill burnt. It was rebuilt.\u202f"]),
        ("| a | b |\n|---|---|\n| mill | It turns. [1] |", "It turns.", ["It turns.\u202f"]),
        ("| a | b |\n|---|---|\n| mill | 12 m |", "mill | 12 m", ["mill", "12 m"]),
        ("Concatenation matters.", "catenation", []),
        ("First half.\n\nSecond half.", "First half. Second half.", []),
        ("東京は首都である。", "東京は首都である。", ["東京は首都である。"]),
    ],
)  # fmt: skip
def test_a_claim_is_marked_where_the_answer_states_it(answer: str, claim: str, marked: list[str]) -> None:
    text, found = _mark(answer, claim)
    assert [
        part.split("</mark>")[0].split(">", 1)[1] for part in text.split("<mark")[1:] if "</mark>" in part
    ] == marked
    assert found == (frozenset({1}) if marked else frozenset())
    assert not set("\ufdd1\ufdd2\u200a") & set(text)


def test_a_claim_made_twice_is_marked_twice() -> None:
    text, found = _mark("The same words. The same [words](https://a.example/x).", "The same words.", "The same words.")
    assert found == {1, 2}
    assert '</mark></a><mark class="claim supported" data-claim="2">.</mark><a class="verdict supported"' in text


def test_a_verdict_stands_outside_of_links() -> None:
    text, found = _mark("[It is one. It is two](https://a.example/x).", "[It is one.", "It is two")
    assert 1 in found
    assert '</a><a class="verdict' in text


def test_a_claim_that_is_only_markup_changes_nothing() -> None:
    assert _mark("x", "", "***", "[1]", "```", "\n") == ("<p>x</p>\n", frozenset())


@pytest.mark.parametrize(
    "sentence", ["It has 85 %.", "It covers 85 % of all. [1]", "It ends as `cancelled`.", "It (`x`)."]
)
def test_a_verdict_stands_behind_its_sentence(sentence: str) -> None:
    words = sentence.replace(" [1]", "").replace("`", "")
    text, found = _mark(f"{sentence} More follows here.", words)
    assert found == {1}
    assert Page(text).text.partition("✓")[2].strip() == "More follows here."
