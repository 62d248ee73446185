"""Applying verdicts to a text: what is kept is kept byte for byte."""

from itertools import groupby

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from suffice.claims.checkers import EvidenceSpan
from suffice.claims.fix import FixRules, apply_fixes
from suffice.claims.split import extract_claims
from suffice.claims.verdict import ClaimVerdict, Quote
from suffice.text.markdown import find_headings
from suffice.types import Passage, Place

SENTENCES = [
    "The Eiffel Tower was built in 1889 [1].",
    "Bananas contain potassium [2].",
    "Graz lies on the river Mur [4], and the Pope was crowned in Avignon [4].",
    "It costs $5 at 20 °C… [3]",
    "Its tower is high [1].",
    "Two spaces  inside\nand a line break [1].",
    "**Bold words stay** as *they* are `x  y` [1].",
    "Überall 东京 🌉 [1].",
    "Is it so?",
    "No stop here [1]",
]
BLOCKS = [
    "# A heading",
    "## Empty",
    "### Deeper",
    "## A heading that states something [1]",
    "**Bold line**",
    "```\ncode\n\n\n\nmore = 1\n```",
    "    indented = 1",
    "<!-- a comment -->",
    "---",
    "| a | b |\n|---|---|\n| Bananas contain potassium [2]. | Cows sing [1]. |",
    "[1]: https://example.org",
    "> ",
    "-",
]
GAPS = [
    "\n",
    "\n\n",
    "\n\n\n",
    "\n\n\n\n\n",
    " \n\n\t\n",
    "  \n",
    "\r\n\r\n",
    "\n- ",
    "\n\n1. ",
    "\n> ",
    "\n  - ",
    " ",
    "  ",
]
TEXTS = st.one_of(
    st.lists(st.tuples(st.sampled_from(SENTENCES + BLOCKS), st.sampled_from(GAPS)), min_size=1, max_size=9).map(
        lambda parts: "".join(part + gap for part, gap in parts)
    ),
    st.text(alphabet="ab A.1#-*>`|[]\n \t:,;", max_size=80),
)
SUPPORTS = st.sampled_from(["supported", "unsupported", "contradicted", "unknown"])


RULES = FixRules(cite=lambda passage: "[9]")


def is_kept(verdict):
    return verdict.support == "unknown" or (verdict.support == "supported" and bool(verdict.claim.handles))


def squeeze(text):
    return "".join(text.split())


def is_subsequence(short, long):
    rest = iter(long)
    return all(char in rest for char in short)


def find_orphans(text, sentences, strict):
    """Return the sentences that begin with "It" or "Its" and whose subject's sentence, in the same section, is removed."""
    orphans = set()
    headings = [heading.start for heading in find_headings(text)]
    for number, ((start, end), _) in enumerate(sentences):
        if not strict or not text[start:end].lstrip("*_ ").startswith(("It ", "Its ")):
            continue
        floor = max((place for place in headings if place <= start), default=-1)
        for (first, last), own in reversed(sentences[:number]):
            if first < floor:
                break
            if not text[first:last].lstrip("*_ ").startswith(("It ", "Its ")):
                if not any(map(is_kept, own)):
                    orphans.add(start)
                break
    return orphans


def check_fixes(text, supports, strict):
    """Assert that fixing keeps every sentence that is to be kept, byte for byte and in order, and adds nothing."""
    verdicts = [ClaimVerdict(claim, next(supports)) for claim in extract_claims(text, skip_asides=False)]
    fixed = apply_fixes(text, verdicts, FixRules(cite=lambda passage: "[9]", strict=strict))
    note(f"{text!r} became {fixed.text!r}")
    sentences = [(span, list(own)) for span, own in groupby(verdicts, key=lambda one: one.claim.sentence_span)]
    orphans = find_orphans(text, sentences, strict)
    position = 0
    for (start, end), own in sentences:
        if all(map(is_kept, own)) and start not in orphans:
            place = fixed.text.find(text[start:end].strip(), position)
            assert place >= 0, text[start:end]
            position = place + len(text[start:end].strip())
    if all(map(is_kept, verdicts)):
        assert fixed.text == text
    assert [one.claim for one in fixed.removed] == [
        one.claim for one in verdicts if strict and (not is_kept(one) or one.claim.sentence_span[0] in orphans)
    ]
    if strict and all(all(map(is_kept, own)) or not any(map(is_kept, own)) for _, own in sentences):
        # Nothing is added, nothing changes places.
        assert is_subsequence(squeeze(fixed.text).replace("\\#", "#"), squeeze(text))
        if (
            "#" not in text
        ):  # A heading goes with the last sentence under it. Nothing else outside the removed ones does.
            gone = [span for span, own in sentences if not all(map(is_kept, own)) or span[0] in orphans]
            rest = (char for i, char in enumerate(text) if not any(start <= i < end for start, end in gone))
            assert [char for char in fixed.text if char.isalpha()] == [char for char in rest if char.isalpha()]


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.data(), st.booleans())
def test_what_is_kept_is_kept_byte_for_byte(text, data, strict):
    check_fixes(text, iter(lambda: data.draw(SUPPORTS), None), strict)


def fix(text, rules=RULES, **supports):
    """Fix a text: ``supports`` gives the verdict on the claims that contain a word, all others are supported."""
    verdicts = [
        ClaimVerdict(claim, next((value for word, value in supports.items() if word in claim.text), "supported"))
        for claim in extract_claims(text)
    ]
    return apply_fixes(text, verdicts, rules)


def test_pronouns_go_with_the_sentence_that_names_their_subject():
    text = "Eddie Fisher was born in 1928 [1]. He married Debbie Reynolds [1]. His son is Todd [1]. Graz lies on the Mur [2]."
    fixed = fix(text, Eddie="unsupported")
    assert fixed.text == "Graz lies on the Mur [2]."
    assert len(fixed.removed) == 3


@pytest.mark.parametrize(
    "text",
    [
        "Marie Curie was a physicist [1]. She won two prizes [1]. She drove an ambulance [1].",
        "A mast was raised [1]. She won two prizes [1].\n\n## Marie Curie\n\nShe drove an ambulance [1].",
        "The prize was doubled: she won two prizes [1]. It is possible to win more [1].",
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
        ("He was born in Philadelphia in 1928.", "Eddie Fisher", "He was born in Philadelphia in 1928. [9]"),
        ("Yoo Ah-in was born in Daegu in 1986.", "Yoo Ah-in", ""),
    ],
)
def test_a_replacement_is_about_the_same_subject(near, title, result):
    text = "Eddie Fisher was born in Boston in 1930 [1]."
    [claim] = extract_claims(text)
    fixed = apply_fixes(text, [ClaimVerdict(claim, "unsupported", nearest=quote(near, title))], RULES)
    assert fixed.text == result
    assert bool(fixed.removed) == (not result)


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
