"""Random Markdown texts and verdicts: what is kept is kept byte for byte, and a strict text states nothing unsupported.

Code is what CommonMark says it is. A claim never reaches into code, and code stays as it is. A sentence that stands alone in
a line of a code block states something there too; beside code on one line it is a part of the code.

python -m reliability.fixes [--examples N]
"""

import argparse
import asyncio
import re
from functools import partial
from itertools import groupby

from bridge_story import PASSAGES
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from suffice.claims.checkers import LexicalChecker
from suffice.claims.fix import FixRules, apply_fixes
from suffice.claims.split import extract_claims
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import ClaimVerifier
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts import SynthesisResponse
from suffice.report.draft import clean_draft
from suffice.state.run import RunState
from suffice.testing import FixtureSearch, ScriptedModel
from suffice.text.markdown import find_headings

SENTENCES = [
    "The Eiffel Tower was built in 1889 [1].",
    "Bananas contain potassium [2].",
    "Graz lies on the river Mur [4], and the Pope was crowned in Avignon [4].",
    "It costs $5 at 20 °C… [3]",
    "Its tower is high [1].",
    "Two spaces  inside\nand a line break [1].",
    "**Bold words stay** as *they* are `x  y` [1].",
    "Überall 东京 🌉 [1].",
    "The Meridian bridge was built by Halloran Works in 1887 [1].",
    "Pigs fly over Vienna in winter [1].",
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
CODE = ("indented = 1", "more = 1")
PRONOUN = re.compile(r"\W*Its? ")
SUPPORTS = st.sampled_from(["supported", "unsupported", "contradicted", "unknown"])


def is_kept(verdict):
    return verdict.support == "unknown" or (verdict.support == "supported" and bool(verdict.claim.handles))


def squeeze(text):
    return "".join(text.split())


def is_subsequence(short, long):
    rest = iter(long)
    return all(char in rest for char in short)


def find_code_lines(text):
    """Return the lines of a text that CommonMark reads as code, each with its offset."""
    starts = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text)), len(text)]
    tokens = MarkdownIt("commonmark").enable("table").disable("reference").parse(text)
    maps = [token.map for token in tokens if token.type in ("fence", "code_block")]
    return [(starts[i], text[starts[i] : starts[i + 1]]) for first, last in maps for i in range(first, last)]


def drop_sentences(line):
    """Return the letters and digits of a line that belong to no sentence."""
    for sentence in SENTENCES:
        for part in sentence.split("\n"):
            line = line.replace(part, "")
    return "".join(filter(str.isalnum, re.sub(r"\d+[.)]", "", line)))


def find_orphans(text, sentences, strict):
    """Return the sentences that begin with "It" or "Its" and whose subject's sentence, in the same section, is removed."""
    orphans = set()
    headings = [heading.start for heading in find_headings(text)]
    for number, ((start, end), _) in enumerate(sentences):
        if not strict or not PRONOUN.match(text[start:end]):
            continue
        floor = max((place for place in headings if place <= start), default=-1)
        for (first, last), own in reversed(sentences[:number]):
            if first < floor:
                break
            if not PRONOUN.match(text[first:last]):
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
    code = find_code_lines(text)
    for start, line in code:
        own = [one.claim.full_span for one in verdicts if start <= one.claim.full_span[0] < start + len(line)]
        assert not any(part in text[slice(*span)] for part in CODE for span in own), line
    rest = iter(fixed.text.splitlines())
    for line in (line.rstrip("\r\n") for _, line in code if any(map(line.strip().__eq__, CODE))):
        assert line in rest, line
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
        assert is_subsequence(squeeze(fixed.text).replace("\\", ""), squeeze(text).replace("\\", ""))
        if (
            "#" not in text
        ):  # A heading goes with the last sentence under it. Nothing else outside the removed ones does.
            gone = [span for span, own in sentences if not all(map(is_kept, own)) or span[0] in orphans]
            rest = (char for i, char in enumerate(text) if not any(start <= i < end for start, end in gone))
            assert [char for char in fixed.text if char.isalpha()] == [char for char in rest if char.isalpha()]


def check_verifier(text):
    """Assert that the verifier leaves no unsupported claim in a text."""
    run = RunState("Who built it?", ScriptedModel({}), TrajectoryMemory, run_id="r")
    for passage in PASSAGES:
        run.evidence.add(passage)
    verifier = ClaimVerifier(run, FixtureSearch(), LexicalChecker(), partial(clean_draft, run))
    verified = asyncio.run(verifier(SynthesisResponse(text)))
    note(f"{text!r} became {verified.answer!r}")
    assert all(verdict.support in ("supported", "unknown") for verdict in verifier.get_verdicts(verified))
    code = {line.strip() for _, line in find_code_lines(verified.answer) if drop_sentences(line)}
    assert not any("Pigs fly" in line for line in verified.answer.splitlines() if line.strip() not in code)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--examples", type=int, default=10_000, help="texts for each of the two properties")
    examples = parser.parse_args().examples
    many = settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))

    @many
    @given(TEXTS, st.data(), st.booleans())
    def fixes(text, data, strict):
        check_fixes(text, iter(lambda: data.draw(SUPPORTS), None), strict)

    @many
    @given(TEXTS)
    def verifier(text):
        check_verifier(text)

    fixes()
    verifier()
    print(
        f"{examples} random texts fixed and {examples} verified: nothing kept was changed, nothing unsupported was left."
    )


if __name__ == "__main__":
    main()
