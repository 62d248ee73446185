"""Decide which printed lines of a program count as evidence.

A program computes values; it does not know facts. A line therefore needs a figure that the program computed, and its words must
stand in the sources. Otherwise a model could print any sentence and cite the output as its source.
"""

import ast
import re

from suffice.text.entities import stem_words
from suffice.text.tokens import STOP_WORDS

_FIGURE = re.compile(r"(?<!\w)-?\d+(?:[,\u202f\u00a0 ]\d{3})*(?:\.\d+)?(?:\s?%)?")
_NEGATION = re.compile(r"\b(?:not?|never|none|neither|nor|without|cannot|false|wrong)\b|n['’]t\b", re.IGNORECASE)
# Words that name an operation, a unit or a relation; they state nothing about the world.
_OPERATION_WORDS = """
per result results total totals sum average mean median difference ratio share rate growth increase decrease change
percent percentage points factor times more less fewer larger smaller higher lower longer shorter older younger
combined together altogether remaining number count value amount approximately about equals minus plus divided
multiplied rounded second seconds minute minutes hour hours day days week weeks month months year years decade decades
hundred thousand million billion trillion usd eur gbp dollars euros kg km m cm mm
"""


def keep_computed_lines(output: str, code: str, source_text: str) -> str:
    """Return the lines with a computed figure; a label with words of no source becomes "Result".

    >>> keep_computed_lines("The bridge is safe.\\nSum: 42", "print('The bridge is safe.')\\nprint('Sum:', 40 + 2)", "40 2")
    'Sum: 42'
    """
    quoted = " ".join(value for value in list_constants(code) if isinstance(value, str))
    stated = set(_FIGURE.findall(quoted))
    known = {*stem_words(source_text), *stem_words(_OPERATION_WORDS), *stem_words(" ".join(STOP_WORDS))}
    lines = []
    for line in filter(None, map(str.strip, output.splitlines())):
        figures = [figure for figure in _FIGURE.findall(line) if figure not in stated]
        if not figures:
            continue
        words = {stem for stem in stem_words(line) if not stem.isdecimal()}
        is_borne_out = words <= known and not _NEGATION.search(line)
        lines.append(line if is_borne_out else f"Result: {', '.join(figures)}")
    return "\n".join(lines)


def list_constants(code: str) -> list[object]:
    """Return the constants of a program, without those that format numbers; none if it cannot be parsed."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # The sandbox's own check reports this with a better message.
    format_specs = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None
        for part in ast.walk(node.format_spec)
    }
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in format_specs]
