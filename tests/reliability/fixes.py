"""Random Markdown texts and verdicts: what is kept is kept byte for byte.

Code is what CommonMark says it is. A claim never reaches into code, and code stays as it is.

python -m reliability.fixes [--examples N]
"""

import argparse
import re

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from suffice.claims.fix import apply_fixes
from suffice.claims.split import extract_claims
from suffice.claims.verdict import ClaimVerdict

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
SUPPORTS = st.sampled_from(["supported", "unsupported", "contradicted", "unknown"])


def is_kept(verdict):
    return verdict.support in ("unknown", "supported")


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


def check_fixes(text, supports):
    """Assert that fixing keeps every sentence that is to be kept, byte for byte and in order, and adds nothing."""
    claims = list(extract_claims(text))
    verdicts = [ClaimVerdict(claim, next(supports)) for claim in claims]
    fixed = apply_fixes(text, list(zip(claims, verdicts, strict=True)))
    note(f"{text!r} became {fixed.text!r}")
    code = find_code_lines(text)
    for start, line in code:
        own = [claim.span for claim in claims if start <= claim.span[0] < start + len(line)]
        assert not any(part in text[slice(*span)] for part in CODE for span in own), line
    rest = iter(fixed.text.splitlines())
    for line in (line.rstrip("\r\n") for _, line in code if any(map(line.strip().__eq__, CODE))):
        assert line in rest, line
    position = 0
    for claim in (verdict.claim for verdict in verdicts if is_kept(verdict)):
        sentence = text[slice(*claim.span)].strip()
        place = fixed.text.find(sentence, position)
        assert place >= 0, sentence
        position = place + len(sentence)
    if all(map(is_kept, verdicts)):
        assert fixed.text == text
    gone = [verdict for verdict in verdicts if not is_kept(verdict)]
    assert list(fixed.removed) == gone
    # Nothing is added, nothing changes places.
    assert is_subsequence(squeeze(fixed.text).replace("\\", ""), squeeze(text).replace("\\", ""))
    if "#" not in text:  # A heading goes with the last sentence under it. Nothing else but removed sentences does.
        spans = [verdict.claim.span for verdict in gone]
        left = (char for i, char in enumerate(text) if not any(start <= i < end for start, end in spans))
        assert [char for char in fixed.text if char.isalpha()] == [char for char in left if char.isalpha()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--examples", type=int, default=10_000, help="random texts")
    examples = parser.parse_args().examples
    many = settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))

    @many
    @given(TEXTS, st.data())
    def fixes(text, data):
        check_fixes(text, iter(lambda: data.draw(SUPPORTS), None))

    fixes()
    print(f"{examples} random texts fixed: nothing kept was changed.")


if __name__ == "__main__":
    main()
