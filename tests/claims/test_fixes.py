"""Applying verdicts to a text: what is kept is kept byte for byte."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reliability.fixes import SUPPORTS, TEXTS, check_fixes, check_verifier

from suffice.claims.checkers import EvidenceSpan
from suffice.claims.fix import FixRules, apply_fixes
from suffice.claims.split import extract_claims
from suffice.claims.verdict import ClaimVerdict, Quote
from suffice.types import Passage, Place

RULES = FixRules(cite=lambda passage: "[9]")


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.data(), st.booleans())
def test_what_is_kept_is_kept_byte_for_byte(text, data, strict):
    check_fixes(text, iter(lambda: data.draw(SUPPORTS), None), strict)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_a_verified_text_states_nothing_unsupported(text):
    check_verifier(text)


def fix(text, rules=RULES, **supports):
    """Fix a text: ``supports`` gives the verdict on the claims that contain a word, all others are supported."""
    verdicts = [
        ClaimVerdict(claim, next((value for word, value in supports.items() if word in claim.text), "supported"))
        for claim in extract_claims(text)
    ]
    return apply_fixes(text, verdicts, rules)


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


def test_pronouns_go_with_the_sentence_that_names_their_subject():
    text = "Eddie Fisher was born in 1928 [1]. He married Debbie Reynolds [1]. His son is Todd [1]. Graz lies on the Mur [2]."
    fixed = fix(text, Eddie="unsupported")
    assert fixed.text == "Graz lies on the Mur [2]."
    assert len(fixed.removed) == 3


@pytest.mark.parametrize(
    "sentence",
    [
        "In 1950 he married Debbie Reynolds [1].",
        "On 3 May 1950, he married Debbie Reynolds [1].",
        "Later he married Debbie Reynolds [1].",
        "After the war, his son was born [1].",
        "Such singers are rare [1].",
        "That was his second album [1].",
    ],
)
def test_a_pronoun_after_a_time_or_place_goes_as_well(sentence):
    fixed = fix(f"Eddie Fisher was born in 1928 [1]. {sentence} Graz lies on the Mur [2].", Eddie="unsupported")
    assert fixed.text == "Graz lies on the Mur [2]."


def test_headings_that_were_empty_before_stay():
    text = "\n# Notes\n\n## To do\n\n## Bananas\n\nBananas are yellow [1].\n\n## Pigs\n\nPigs fly [1].\n"
    assert fix(text, Pigs="unsupported").text == text.split("\n\n## Pigs")[0] + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "Marie Curie was a physicist [1]. She won two prizes [1]. She drove an ambulance [1].",
        "A mast was raised [1]. She won two prizes [1].\n\n## Marie Curie\n\nShe drove an ambulance [1].",
        "The prize was doubled: she won two prizes [1]. It is possible to win more [1].",
        "Marie Curie was a physicist [1]. The prizes were gold [1]. In 1914 she drove an ambulance [1].",
        "Two prizes were given [1]. Both Linz and Graz are cities [1].",
    ],
)
def test_pronouns_stay_where_their_subject_stays(text):
    last = text.split(". ")[-1].split("\n")[-1]
    assert fix(text, prizes="unsupported").text.endswith(last)


def quote(text, title="", overlap=0.9):
    passage = Passage("p", text, title, Place("a.md"), "text")
    return Quote(passage, EvidenceSpan(0, len(text), None, overlap, overlap))


@pytest.mark.parametrize(
    ("near", "title", "result"),
    [
        ("Eddie Fisher was born in Philadelphia in 1928.", "", "Eddie Fisher was born in Philadelphia in 1928. [9]"),
        ("He was born in Philadelphia in 1928.", "Eddie Fisher", ""),
        ("Yoo Ah-in was born in Daegu in 1986.", "Yoo Ah-in", ""),
    ],
)
def test_a_replacement_is_about_the_same_subject(near, title, result):
    text = "Eddie Fisher was born in Boston in 1930 [1]."
    [claim] = extract_claims(text)
    fixed = apply_fixes(text, [ClaimVerdict(claim, "unsupported", nearest=quote(near, title))], RULES)
    assert fixed.text == result
    assert bool(fixed.removed) == (not result)


def test_code_replaces_no_sentence():
    text = "The timeout is 30 seconds."
    [claim] = extract_claims(text)
    near = quote("The timeout is 40 seconds.")
    code = Quote(replace(near.passage, kind="code"), near.span)
    for one, result in ((near, "The timeout is 40 seconds. [9]"), (code, "")):
        assert apply_fixes(text, [ClaimVerdict(claim, "contradicted", contradicting=(one,))], RULES).text == result


def test_a_quote_that_begins_with_a_pronoun_replaces_only_a_sentence_that_does():
    text = "Eddie Fisher was a singer [1]. He was born in Philadelphia in 1930 [1]."
    near = quote("He was born in Philadelphia in 1928.", "Eddie Fisher")
    first, second = extract_claims(text)
    verdicts = [ClaimVerdict(first, "supported"), ClaimVerdict(second, "contradicted", contradicting=(near,))]
    fixed = apply_fixes(text, verdicts, RULES).text
    assert fixed == "Eddie Fisher was a singer [1]. He was born in Philadelphia in 1928. [9]"


@pytest.mark.parametrize(
    "heading", ["### The Eiffel Tower was completed in 1989", "**Marie Curie was a Danish physicist**"]
)
def test_a_heading_that_states_something_is_a_claim(heading):
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
        ("Pigs were 5 m high\n===\n\nBananas are yellow.\n", "Bananas are yellow.\n"),
        ("Bananas are yellow.\n\nPigs were 5 m high\n---\n\nGraz is old.\n", "Bananas are yellow.\n\nGraz is old.\n"),
        ("- Pigs were 5 m high\n---\nGraz is old.\n", "---\nGraz is old.\n"),
        ("> Pigs were 5 m high.\n> Bananas are yellow.\n", "> Bananas are yellow.\n"),
    ],
)
def test_markup_around_a_removed_sentence_stays_whole(text, result):
    assert fix(text, FixRules(cite=lambda passage: "", require_citation=False), Pigs="unsupported").text == result
