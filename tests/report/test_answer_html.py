"""Markdown becomes safe HTML with linked citations, and claims are highlighted in it."""

from html import escape

import pytest
from report.html_page import Page

from suffice.report.answer_html import MarkdownRenderer, highlight_claims
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


@pytest.mark.parametrize(
    ("answer", "claim", "highlighted"),
    [
        ("It is **very** big [1]. More.", "It is very big.", ["It is ", "very", " big"]),
        ("It is big [1] and old [2].", "It is big and old", ["It is big\u202f", " and old"]),
        ("He said “don’t go”.", 'He said "don\'t go".', ["He said “don’t go"]),
        ("- One thing here\n- Two things here", "Two things here", ["Two things here"]),
        ("See [the page](https://a.example/x).", "See the page.", ["See ", "the page"]),
        ("2 < 3 & 4 > 3 holds.", "2 < 3 & 4 > 3 holds", ["2 &lt; 3 &amp; 4 &gt; 3 holds"]),
        ("The x\\[1\\] is set [1].", "The x[1] is set.", ["The x[1] is set"]),
        ("It is **so** [1].", "It is **so** [1].", ["It is ", "so"]),
        ("Concatenation matters.", "catenation", []),
        ("First half.\n\nSecond half.", "First half. Second half.", []),
        ("Short.", "a", []),
        ("東京は首都である。", "東京は首都である。", ["東京は首都である"]),
    ],
)
def test_a_claim_is_found_by_its_words(answer: str, claim: str, highlighted: list[str]) -> None:
    renderer = MarkdownRenderer(SOURCES)
    text, found = highlight_claims(
        renderer.render_block(answer), [((escape(claim), renderer.render_inline(claim)), "supported")]
    )
    Page(text)
    assert [part.split("</mark>")[0].split(">", 1)[1] for part in text.split("<mark")[1:]] == highlighted
    assert found == (frozenset({1}) if highlighted else frozenset())


def test_a_claim_made_twice_is_highlighted_twice_with_verdicts_outside_of_links() -> None:
    renderer = MarkdownRenderer(SOURCES)
    claim = ["The same words"]
    text, found = highlight_claims(
        renderer.render_block("The same words. The same [words](https://a.example/x)."),
        [(claim, "supported"), (claim, "unknown")],
    )
    assert found == {1, 2}
    assert '</mark></a>.<a class="verdict unknown"' in text


def test_a_claim_that_is_only_markup_changes_nothing() -> None:
    claims = tuple(Claim(text, (), "unknown") for text in ("", "***", "[1]", "```", "\n"))
    renderer = MarkdownRenderer(SOURCES)
    assert (
        highlight_claims("<p>x</p>", [([renderer.render_inline(claim.text)], claim.support) for claim in claims])[0]
        == "<p>x</p>"
    )


@pytest.mark.parametrize("figure", ["85 %", "85%", "85\u00a0€"])
def test_a_verdict_does_not_split_a_figure_from_its_unit(figure: str) -> None:
    sentence = f"The share of otters was {figure}"
    text, found = highlight_claims(f"<p>{sentence}. More follows.</p>", [((sentence,), "supported")])
    assert found == {1}
    assert f"{figure}.✓" in Page(text).text


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        ("It covers 85 %. [1]", "85</mark> %."),
        ("It covers 85 % of all. [1]", "all</mark>."),
        ("It ends as `cancelled`. [1]", "cancelled</mark></code>."),
    ],
)
def test_a_verdict_does_not_stand_before_the_full_stop(answer: str, end: str) -> None:
    text, _ = highlight_claims(
        MarkdownRenderer(()).render_block(answer), [((answer.replace(" [1]", ""),), "supported")]
    )
    assert end in text
    assert text.index(end) < text.index('class="verdict')


def test_a_verdict_stands_behind_the_bracket_that_closes_its_sentence() -> None:
    html = "<p>It is small (<code>bench.page</code>).</p>"
    text, _ = highlight_claims(html, [(("It is small (bench.page)",), "supported")])
    assert Page(text).text.strip() == "It is small (bench.page).✓"
