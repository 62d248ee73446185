r"""All citation syntax is defined here.

- A citation is the handle of a source: ``[3]``, at most four digits.
- A group cites several sources at once: ``[1, 2]`` or ``[1; 2]``.
- A writer may also cite the anchor of a typed source: ``[FRED:UNRATE:2024-05]``. A thesis label such as
  ``[THESIS:MSFT:long]`` names no source.
- An escaped bracket (``argv\[3]``) is text of a source and cites nothing.

- Brackets in code (``a[1]`` between ticks, or in a fenced block) cite nothing either.

Offsets count characters of the text as given. The functions that find a run of citations at a place do not look for code.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from suffice.text.plain import replace_spans
from suffice.text.sentences import Offsets, split_sentences

_NUMBER = r"\d{1,4}"
_KEY = rf"(?:{_NUMBER}|(?!THESIS:)[A-Z][A-Z0-9]{{1,11}}:[\w.^=-]{{1,40}}:[\w.-]{{1,40}})"
_SEPARATOR = r"\s*[,;]\s*"
_ONE = rf"(?<!\\)\[{_NUMBER}\]"

_CITATION = re.compile(_ONE)
_CITATION_WITH_SPACE = re.compile(rf"(?:(?<!\s)\s++)?{_ONE}")
_CITATION_OR_ANCHOR = re.compile(rf"(?<!\\)\[{_KEY}\]")
_GROUP = re.compile(rf"(?<!\\)\[({_NUMBER}(?:{_SEPARATOR}{_NUMBER})*)\]")
_MIXED_GROUP = re.compile(rf"(?<!\\)\[({_KEY}(?:{_SEPARATOR}{_KEY})+)\]")
_SEVERAL = re.compile(rf"{_ONE}(?:[ \t]*{_ONE})+")
_RUN = re.compile(rf"(?:\s*{_ONE})*")
# The citations of a run may be links: [3](https://…).
_CITATION_OR_LINK = re.compile(rf"(?:(?<!\s)\s++)?{_ONE}(?:\([^()\s]*\))?")
_HANDLE = re.compile(rf"\[?\s*({_NUMBER})\s*\]?")
_SOURCE_ENTRY = re.compile(rf"^(?:[-*+]\s+)?(?:\[\^?({_NUMBER})\]:?|({_NUMBER})[.)])\s+(.*)")

_CODE = re.compile(
    r"^[ \t>]*(?P<fence>`{3,12}|~{3,12})[^\n]*+\n(?:.*?\n)??[ \t>]*(?P=fence)[^\n]*$"
    r"|(?<![\\`])(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE | re.DOTALL,
)

REFERENCE_MARK = r"(?<!\\)\[[^\[\]\n:]{1,40}:[^\[\]\n]{1,60}\](?!\()|(?<!\\)\[\^[\w-]+\](?!\()|【[^【】]{0,500}】"
"""Pattern of other marks that a writer puts after a claim: any anchor, a footnote, a mark in lenticular brackets."""


class Citation(NamedTuple):
    """One citation: ``text[start:end]`` is its handle."""

    start: int
    end: int
    handle: str


def _mask_code(text: str) -> str:
    """Return the text with its code blanked at the same offsets."""
    return _CODE.sub(lambda match: " " * len(match.group()), text) if "`" in text or "~~~" in text else text


def _substitute(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """Return the text with each match outside code replaced."""
    return replace_spans(text, ((*match.span(), replace(match)) for match in pattern.finditer(_mask_code(text))))


def find_citations(text: str) -> Iterator[Citation]:
    r"""Yield the citations of a text in reading order.

    >>> [(found.start, found.handle) for found in find_citations(r"One [2], argv\[3], two [1].")]
    [(4, '[2]'), (23, '[1]')]
    """
    return (Citation(match.start(), match.end(), match.group()) for match in _CITATION.finditer(_mask_code(text)))


def find_citation_groups(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """Yield start, end and handles of each citation or group of citations."""
    for match in _GROUP.finditer(_mask_code(text)):
        yield match.start(), match.end(), [f"[{number.strip()}]" for number in re.split("[,;]", match[1])]


def list_handles(*texts: str) -> tuple[str, ...]:
    """Return the handles that the texts cite, each once, in the order of first citation."""
    return tuple(dict.fromkeys(found for text in texts for found in _CITATION.findall(_mask_code(text))))


def has_citation(text: str) -> bool:
    """Whether the text cites a source by its handle."""
    return _CITATION.search(_mask_code(text)) is not None


def strip_citations(text: str, keep: Collection[str] = ()) -> str:
    """Return the text without its citations, but for those to keep, and the space before each of them.

    >>> strip_citations("It rose [1][2] and fell [3].")
    'It rose and fell.'
    """
    return _CITATION_WITH_SPACE.sub(lambda match: match[0] if match[0].strip() in keep else "", text)


def replace_citations(text: str, replace: Callable[[str], str], *, anchors: bool = False) -> str:
    """Return the text with each citation replaced; ``anchors`` includes those of typed sources."""
    return _substitute(_CITATION_OR_ANCHOR if anchors else _CITATION, lambda match: replace(match.group()), text)


def drop_unknown_citations(text: str, resolve: Callable[[str], str | None]) -> tuple[str, list[str]]:
    """Return the text with each citation as ``resolve`` gives it, and the citations that it does not know.

    Unknown citations are removed from the text.
    """
    unknown: list[str] = []

    def replace(citation: str) -> str:
        if (handle := resolve(citation)) is not None:
            return handle
        unknown.append(citation)
        return ""

    cleaned = replace_citations(text, replace, anchors=True)
    return (re.sub(r"(?<![ \t])[ \t]++([.,;:!?])", r"\1", cleaned) if unknown else cleaned), list(
        dict.fromkeys(unknown)
    )


def drop_repeated_citations(text: str) -> str:
    """Return the text with each source cited at most once in a run of citations.

    >>> drop_repeated_citations("It rose [1] [2][1], and fell [1].")
    'It rose [1] [2], and fell [1].'
    """

    def drop_repeated(run: re.Match[str]) -> str:
        kept: dict[str, str] = {}
        for match in _CITATION_WITH_SPACE.finditer(run.group()):
            kept.setdefault(match.group().strip(), match.group())
        return "".join(kept.values())

    return _substitute(_SEVERAL, drop_repeated, text)


def split_citation_groups(text: str) -> str:
    """Return the text with each group as single citations, anchors included.

    >>> split_citation_groups("So it is [1, 2; FRED:UNRATE:2024-05].")
    'So it is [1] [2] [FRED:UNRATE:2024-05].'
    """
    return _substitute(
        _MIXED_GROUP, lambda match: " ".join(f"[{key.strip()}]" for key in re.split("[,;]", match[1])), text
    )


def skip_citations(text: str, start: int = 0, end: int | None = None) -> int:
    """Return the offset after the run of citations that begins at ``start``; ``start`` itself when there is none."""
    run = _RUN.match(text, start, len(text) if end is None else end)
    return run.end() if run else start


def split_cited_sentences(text: str, masked: str) -> list[Offsets]:
    """Return the offsets of the sentences of a text, each with the citations that follow it.

    ``masked`` is the text with what may hold a full stop, such as code, masked at the same offsets.
    """
    found: list[Offsets] = []
    for start, end in split_sentences(masked):
        after = skip_citations(text, start, end) if found else start
        if after > start:  # Citations behind a full stop belong to the sentence before it.
            after += after < end and text[after] in ".,;"
            found[-1] = found[-1][0], after
            start = end - len(text[after:end].lstrip())
        if any(map(str.isalnum, text[start:end])):
            found.append((start, end))
        elif found:
            found[-1] = found[-1][0], end
    return found


def trailing_citations_start(text: str, start: int = 0, end: int | None = None, *, punctuation: str = "") -> int:
    """Return the offset of the run of citations that ends ``text[start:end]``; ``end`` itself when there is none.

    Space in front belongs to the run. Characters of ``punctuation`` may follow it.

    >>> "It rose [1][2]."[: trailing_citations_start("It rose [1][2].", punctuation=".")]
    'It rose'
    """
    end = len(text) if end is None else end
    stop = start + len(text[start:end].rstrip(punctuation).rstrip()) if punctuation else end
    run_start, run_end = end, -1
    for match in _CITATION_OR_LINK.finditer(text, start, stop):
        run_start = run_start if match.start() == run_end else match.start()
        run_end = match.end()
    return run_start if run_end == stop else end


def parse_handle(text: str) -> str | None:
    """Return the handle that ``3``, ``[3]`` or ``[ 03 ]`` means; ``None`` for any other text."""
    match = _HANDLE.fullmatch(text.strip())
    return f"[{int(match[1])}]" if match else None


def is_handle(text: str) -> bool:
    return _CITATION.fullmatch(text) is not None


def next_handle(handles: Iterable[str]) -> str:
    """Return the handle after the highest of the given ones."""
    return f"[{max((int(handle.strip('[]')) for handle in handles), default=0) + 1}]"


def parse_source_entry(line: str) -> tuple[str, str] | None:
    """Return handle and description of a line in a list of sources; ``None`` for any other line.

    >>> parse_source_entry("[^2]: The bridge, bridge.txt"), parse_source_entry("3. Another book")
    (('[2]', 'The bridge, bridge.txt'), ('[3]', 'Another book'))
    """
    match = _SOURCE_ENTRY.match(line)
    return (f"[{match[1] or match[2]}]", match[3]) if match else None
