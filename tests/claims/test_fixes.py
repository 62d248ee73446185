"""Applying verdicts to a text: what is kept is kept byte for byte."""

from itertools import groupby

from hypothesis import given, note, settings
from hypothesis import strategies as st

from suffice.claims.checkers import LexicalChecker
from suffice.claims.split import extract_claims
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import ClaimVerifier
from suffice.memory.trajectory import TrajectoryMemory
from suffice.state.run import RunState
from suffice.testing import FixtureSearch, ScriptedModel

SENTENCES = [
    "The Eiffel Tower was built in 1889 [1].",
    "Bananas contain potassium [2].",
    "Graz lies on the river Mur [4], and the Pope was crowned in Avignon [4].",
    "It costs $5 at 20 °C… [3]",
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


def is_kept(verdict):
    return verdict.support == "unknown" or (verdict.support == "supported" and verdict.claim.handles)


def squeeze(text):
    return "".join(text.split())


def is_subsequence(short, long):
    rest = iter(long)
    return all(char in rest for char in short)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.data(), st.booleans())
def test_what_is_kept_is_kept_byte_for_byte(text, data, strict):
    verdicts = [ClaimVerdict(claim, data.draw(SUPPORTS)) for claim in extract_claims(text, skip_asides=False)]
    run = RunState("Who built it?", ScriptedModel({}), TrajectoryMemory, run_id="r")
    verifier = ClaimVerifier(run, FixtureSearch(), LexicalChecker(), lambda draft: draft, strict=strict)
    fixed, removed = verifier.apply_fixes(text, verdicts)
    note(f"{text!r} became {fixed!r}")
    sentences = [(span, list(own)) for span, own in groupby(verdicts, key=lambda one: one.claim.sentence_span)]
    position = 0
    for (start, end), own in sentences:  # Kept sentences stand in the fixed text as they were, in the same order.
        if all(map(is_kept, own)):
            place = fixed.find(text[start:end].strip(), position)
            assert place >= 0, text[start:end]
            position = place + len(text[start:end].strip())
    if all(map(is_kept, verdicts)):
        assert fixed == text
    assert removed == tuple(
        one.claim.plain_text for one in verdicts if strict and not is_kept(one) and not one.supporting
    )
    if strict and all(all(map(is_kept, own)) or not any(map(is_kept, own)) for _, own in sentences):
        assert is_subsequence(
            squeeze(fixed).replace("\\#", "#"), squeeze(text)
        )  # Nothing is added, nothing changes places.
        if (
            "#" not in text
        ):  # A heading goes with the last sentence under it. No other letter outside the removed sentences does.
            gone = [span for span, own in sentences if not all(map(is_kept, own))]
            rest = (char for i, char in enumerate(text) if not any(start <= i < end for start, end in gone))
            assert [char for char in fixed if char.isalpha()] == [char for char in rest if char.isalpha()]
