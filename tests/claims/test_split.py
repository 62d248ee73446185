"""Splitting a text into its claims."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.claims.split import extract_claims, strip_claim_markup

MARKDOWN = """---
title: A report
---
# The bridge

The Meridian bridge was built
by Halloran Works [1], and Ida Halloran founded the works in 1880 [2]. Is it so?
Traffic rose by 5 %. [3][4] Then `x.y. z` **came**.

- First item.
1. Numbered item
> quoted text
> goes on here.

| what | when |
|---|---|
| Bridge built | 1887 [1] |

```
Code. Not prose.
```
<!-- Not this. -->

## Sources

[1] The bridge — bridge.txt:1-2
"""


def texts(markdown):
    return [claim.text for claim in extract_claims(markdown)]


def test_the_claims_of_a_report():
    assert texts(MARKDOWN) == [
        "The Meridian bridge was built\nby Halloran Works [1], and Ida Halloran founded the works in 1880",
        "Is it so?",
        "Traffic rose by 5 %.",
        "Then `x.y. z` **came**.",
        "First item.",
        "Numbered item",
        "quoted text\n> goes on here.",
        "Bridge built | 1887",
    ]


def test_each_sentence_has_its_citations():
    assert [claim.handles for claim in extract_claims(MARKDOWN)][:3] == [("[1]", "[2]"), (), ("[3]", "[4]")]


def test_code_in_a_sentence_is_part_of_its_words():
    [claim] = extract_claims("From Python: `import tin`.")
    assert strip_claim_markup(claim.text) == "From Python: import tin."
    assert strip_claim_markup("[`deploy/`](../deploy) has a `Dockerfile`") == "deploy/ has a Dockerfile"


@given(st.text(alphabet="aB1 .,;[]|>#-*`\n\\é東", max_size=120))
def test_claims_are_exact_and_do_not_overlap(markdown):
    reached = 0
    for claim in extract_claims(markdown):
        start, end = claim.span
        assert markdown[start:end].startswith(claim.text)
        assert reached <= start < end
        reached = end


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("---\ntitle: The bridge was built in 1887\ntags:\n- bridges\n---\nBananas contain potassium.", 1),
        ("---\r\ntitle: The bridge was built in 1887\r\n---\r\nBananas contain potassium.\r\n", 1),
        ("---\nPigs fly over Vienna in winter [1].\n---\nBananas contain potassium.", 2),
        ("---\nnote: Pigs fly over Vienna in winter [1].\n---\nBananas contain potassium.", 2),
    ],
)
def test_only_keys_and_values_are_front_matter(text, count):
    assert len(list(extract_claims(text))) == count


@pytest.mark.parametrize("mark", ["[1]", "[1][2]", "[^1]", "[^note]", "²", "[citation needed]", "”[1]"])
def test_a_note_right_after_the_full_stop_ends_the_sentence(mark):
    one, other = extract_claims(f"The ferry leaves every 20 minutes.{mark} Dogs are kept on a lead.")
    assert (other.text, other.handles) == ("Dogs are kept on a lead.", ())
    assert bool(one.handles) == ("[1]" in mark)
    assert texts("Read argv.[1] of the program first.") == ["Read argv.[1] of the program first."]


def test_a_sentence_may_begin_with_code():
    found = texts("`maxsize` limits the cache. `ttl` limits its age, see `a. B`. **`x` is bold.** `y` is not.")
    assert len(found) == 4


def test_what_stands_in_a_code_block_is_no_claim():
    assert texts("-     indented = 1\n") == [], "an item that holds code"
    assert texts("- One is here.\n<!-- a comment -->\n    indented = 1\n") == ["One is here."], "a comment ends a list"
    assert texts("```\nrate = 0.5 Pigs fly over Vienna in winter [1].\n```\n") == [], "code and words on one line"
    assert texts("```\nPigs fly over Vienna in winter [1].\n```\n") == []
    assert texts("```\na = 1\n``` <!-- open -->\n- ```\nb = 2\n```\n") == [], (
        "a fence with words behind it closes nothing"
    )
