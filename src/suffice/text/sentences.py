"""Find the sentences of a text as offsets, so that a quote is always exact."""

import re
from collections.abc import Iterator

from suffice.types import ROW_KINDS

# A sentence ends at a full stop, question or exclamation mark (with closing quotes, brackets and the marks of notes, such as
# "[1]", "[^note]" or "²") before white space, at an ideographic full stop, at a blank line, at the end of a heading, or
# before a list item, heading or table row.
_SENTENCE_END = re.compile(
    r"""(?P<stop>(?<![.!?…])[.!?…]+["'”’)\]*_`]*(?:\[(?:\^?[\w-]{1,20}|citation[ ]needed)\]|[¹²³⁰-⁹])*)(?=\s)
      | [。！？।؟]+[」』）]*
      | \n[ \t]*\n\s*
      | ^[ \t]*\#{1,6}[ \t][^\n]*\n
      | \n(?=[ \t]*(?:[-*+•|>#]|\d+[.)])\s)""",
    re.VERBOSE | re.MULTILINE,
)
_ABBREVIATIONS = frozenset(
    """mr mrs ms dr prof sr jr st vs etc e.g i.e cf fig figs eq no vol pp ed eds al inc ltd co corp dept est approx
    gen col lt sgt capt rev hon jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k a.m p.m
    z.b d.h u.a u.ä o.ä i.d.r s.o s.u bzw ca evtl ggf inkl usw vgl sog bspw abb nr abs kap tel hrsg str mio mrd
    mme mlle mm p.ex c.-à-d av env éd hab chap
    sra srta dra ud uds ee.uu p.ej pág págs núm aprox tel dpto avda
    sig ecc pag dott ing avv bijv enz blz nl dhr mevr resp""".split()
)
# "am 3. Oktober": a number before a month is a day.
_DAY_AND_MONTH = re.compile(
    r"(?<!\d)\d{1,2}\.\s+(?:januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)\b",
    re.I,
)
_CITATION = re.compile(r"\[\d+\]$")
_LAST_WORD = re.compile(r"[\w.]{1,20}$")
_TRIPLE_QUOTE = re.compile(r'"""|\'\'\'')

_MAX_GAP = 200  # White space between sentences.

Offsets = tuple[int, int]


def split_sentences(text: str, start: int = 0, end: int | None = None) -> list[Offsets]:
    """Return the offsets of the sentences in ``text[start:end]``, trimmed of white space, in reading order.

    >>> [text[a:b] for text in ["Dr. Ada wrote it. It ran!"] for a, b in split_sentences(text)]
    ['Dr. Ada wrote it.', 'It ran!']
    """
    end = len(text) if end is None else end
    found: list[Offsets] = []
    begin = start
    for match in _SENTENCE_END.finditer(text, start, end):
        if match.group("stop") and _continues_sentence(text, match.start(), match.end(), end):
            continue
        _append_trimmed(found, text, begin, match.end())
        begin = match.end()
    _append_trimmed(found, text, begin, end)
    return found


def ends_sentence(text: str) -> bool:
    """Return whether a text ends as a sentence does, not as a title, a greeting or a line that was cut."""
    tail = text.rstrip()[-_MAX_GAP:]
    return any(match.end() == len(tail) for match in _SENTENCE_END.finditer(f"{tail} "))


def quotable_spans(text: str, kind: str) -> list[Offsets]:
    """Return the offsets of what can be quoted from a passage of this kind: sentences, rows, in code docstrings and lines.

    Interactive examples in docstrings are left out.
    """
    if kind in ROW_KINDS:
        return _line_spans(text, 0, len(text))
    if kind != "code":
        return split_sentences(text)
    found: list[Offsets] = []
    position = 0
    for start, end in [*docstring_spans(text), (len(text), len(text))]:
        found += _line_spans(text, position, start)
        found += [span for span in split_sentences(text, start, end) if ">>>" not in text[slice(*span)]]
        position = end
    return sorted(found)


def docstring_spans(text: str) -> Iterator[Offsets]:
    """Yield the offsets of the text inside docstrings.

    A passage may begin or end inside a docstring. A single mark with nothing after it on its line closes one that began
    earlier; any other single mark opens one that continues.
    """
    marks = [mark.span() for mark in _TRIPLE_QUOTE.finditer(text)]
    if len(marks) % 2 and not text[marks[0][1] :].partition("\n")[0].strip():
        yield 0, marks.pop(0)[0]
    for i in range(0, len(marks), 2):
        yield marks[i][1], marks[i + 1][0] if i + 1 < len(marks) else len(text)


def _continues_sentence(text: str, dot: int, after: int, end: int) -> bool:
    """Whether a full stop ends no sentence: after an abbreviation or initial, or before a small letter.

    After a citation it ends one in any case.
    """
    if _CITATION.search(text, max(0, dot - 8), dot):
        return False
    following = text[after : min(end, after + _MAX_GAP)].lstrip()
    if following[:1].islower() and text[dot] == ".":
        return True
    if text[dot : dot + 1] != "." or after - dot > 1:
        return False
    word = _LAST_WORD.search(text, max(0, dot - 20), dot)
    if word is None:
        return False
    last = word.group().lower()
    if last.isdigit():  # The number of a list's item, or a day.
        is_first = not text[text.rfind("\n", 0, dot) + 1 : dot - len(last)].strip()
        return is_first or bool(_DAY_AND_MONTH.match(text, dot - len(last), end))
    is_unit = text[max(0, word.start() - 2) : word.start()].rstrip(" \u00a0\u202f")[-1:].isdigit()  # "330 m."
    return last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and not is_unit)


def _append_trimmed(found: list[Offsets], text: str, start: int, end: int) -> None:
    if words := text[start:end].strip():
        begin = text.index(words, start)
        found.append((begin, begin + len(words)))


def _line_spans(text: str, start: int, end: int) -> list[Offsets]:
    found: list[Offsets] = []
    position = start
    for line in text[start:end].splitlines(keepends=True):
        if any(character.isalnum() for character in line):
            _append_trimmed(found, text, position, position + len(line))
        position += len(line)
    return found
