"""Applying verdicts to a text: what is kept is kept byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reliability.fixes import SUPPORTS, TEXTS, check_fixes

from suffice.claims.fix import apply_fixes
from suffice.claims.split import extract_claims
from suffice.claims.verdict import ClaimVerdict, Quote
from suffice.types import Passage, Place


@given(TEXTS, st.data())
def test_what_is_kept_is_kept_byte_for_byte(text, data):
    check_fixes(text, iter(lambda: data.draw(SUPPORTS), None))


def fix(text, **supports):
    """Fix a text: ``supports`` gives the verdict on the claims that contain a word, all others are supported."""
    verdicts = [
        (
            claim,
            ClaimVerdict(claim, next((value for word, value in supports.items() if word in claim.text), "supported")),
        )
        for claim in extract_claims(text)
    ]
    return apply_fixes(text, verdicts)


def test_a_removed_sentence_that_began_a_line_before_takes_nothing_else_with_it():
    quoted = "> Pigs fly over Vienna [1].\n> [1]: https://example.org"
    text = f"Bananas contain potassium [1].\n{quoted}\n\nGraz lies on the Mur [2].\n"
    fixed = fix(text, Pigs="unsupported", https="unsupported").text
    assert fixed.startswith("Bananas contain potassium [1].\n")
    assert fixed.rstrip().endswith("Graz lies on the Mur [2].")
    assert "Pigs" not in fixed


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Bananas are yellow [1].\nPigs fly [1].\n", "Bananas are yellow [1].\n"),
        (
            "Bananas are yellow [1].\r\n\r\nPigs fly [1].\r\n\r\nGraz is old [2].\r\n",
            "Bananas are yellow [1].\r\n\r\nGraz is old [2].\r\n",
        ),
        ("    x = 1 \n\n\t\nPigs fly [1].\n\nGraz is old [2].\n", "    x = 1 \n\nGraz is old [2].\n"),
    ],
)
def test_line_ends_and_spaces_beside_a_removed_paragraph_stay(text, result):
    assert fix(text, Pigs="unsupported").text == result


def test_headings_that_were_empty_before_stay():
    text = "\n# Notes\n\n## To do\n\n## Bananas\n\nBananas are yellow [1].\n\n## Pigs\n\nPigs fly [1].\n"
    assert fix(text, Pigs="unsupported").text == text.split("\n\n## Pigs")[0] + "\n"


def test_a_claim_that_another_source_supports_stays_without_its_citations():
    text = "Bananas are yellow [1]. Graz is old [1], they say. Pigs fly [1].\n"
    passage = Passage("p", "Graz is old.", "", Place("a.md"), "text")
    one, two, three = extract_claims(text)
    verdicts = [
        (one, ClaimVerdict(one, "supported")),
        (two, ClaimVerdict(two, "unsupported", uncited_support=Quote(passage, 0, 12))),
        (three, ClaimVerdict(three, "contradicted")),
    ]
    fixed = apply_fixes(text, verdicts)
    assert fixed.text == "Bananas are yellow [1]. Graz is old, they say.\n"
    assert [verdict.claim for verdict in fixed.removed] == [three]


@pytest.mark.parametrize(
    "heading", ["### The Eiffel Tower was completed in 1989 [1]", "**Marie Curie was a Danish physicist [1]**"]
)
def test_a_heading_that_cites_a_source_is_a_claim(heading):
    text = f"{heading}\n\nBananas contain potassium [2]."
    assert len(list(extract_claims(text))) == 2
    assert fix(text, was="unsupported").text == "Bananas contain potassium [2]."


def test_an_answer_in_a_heading_is_not_dropped_as_empty():
    fixed = fix("Cows sing [1].\n\n#### Answer: Paris", Cows="unsupported", Paris="unknown")
    assert fixed.text == "#### Answer: Paris"


@pytest.mark.parametrize(
    "heading", ["What is new in 3.12", "Getting Started Is Easy", "Changes that are planned for 2027", "Results"]
)
def test_a_title_is_no_claim(heading):
    assert not list(extract_claims(f"## {heading}\n"))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("<p>Pigs fly over Graz. Bananas are yellow.</p>\n", "<p>Bananas are yellow.</p>\n"),
        (
            "<details>\n<summary>Pigs fly over Graz</summary>\n\nBananas are yellow.\n\n</details>\n",
            "<details>\n<summary></summary>\n\nBananas are yellow.\n\n</details>\n",
        ),
        ("Pigs were 5 m high [1]\n===\n\nBananas are yellow.\n", "Bananas are yellow.\n"),
        (
            "Bananas are yellow.\n\nPigs were 5 m high [1]\n---\n\nGraz is old.\n",
            "Bananas are yellow.\n\nGraz is old.\n",
        ),
        ("- Pigs were 5 m high\n---\nGraz is old.\n", "---\nGraz is old.\n"),
        ("> Pigs were 5 m high.\n> Bananas are yellow.\n", "> Bananas are yellow.\n"),
    ],
)
def test_markup_around_a_removed_sentence_stays_whole(text, result):
    assert fix(text, Pigs="unsupported").text == result
