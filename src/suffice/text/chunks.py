"""Cuts a text into chunks of a readable size, each with its exact line range.

A chunk is whole lines, verbatim; only a giant line is cut inside. Borders are taken where a reader would: at a
section's head, at a blank line, at the end of a sentence, at the least indented line. What makes a line a head is
the caller's to say: this module knows nothing of Markdown, of source code or of files.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

TARGET_CHARS = 900
MAX_CHARS = 1600
MIN_CHARS = 200
MAX_LINE_CHARS = 4000

_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"[.!?…][\"'”’»)\]]*\s+|[。！？]")
_LINE_BREAK = re.compile(r"\n")
_SPACE = re.compile(r"\s")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]*_]*\s*$")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines ``first`` to ``last`` (from 1, inclusive) joined by newlines, or a stretch of one giant line."""

    text: str
    first: int
    last: int


def split_lines(text: str) -> list[str]:
    """The lines as an editor counts them: only LF, CRLF and CR end a line.

    ``str.splitlines`` also breaks at form feeds and at U+2028, which would put every later citation on a wrong line.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def chunk_lines(
    lines: Sequence[str], *, first: int = 1, section_starts: Collection[int] = (), no_break_before: Collection[int] = ()
) -> list[Chunk]:
    """Chunks in order, without overlap, that together hold every line that is not blank.

    ``first`` is the number of ``lines[0]``. A line number in ``heads`` starts a section: a section within ``LIMIT``
    stays whole, and a chunk of at least ``SMALL`` characters ends before it. A line number in ``glued`` starts no chunk
    unless the limit demands it.
    """
    return _Chunker(lines, first, frozenset(section_starts), frozenset(no_break_before)).chunk()


def split_text(text: str, target: int = TARGET_CHARS, limit: int = MAX_CHARS) -> list[str]:
    """Running text in stretches of about ``target`` characters; a text within ``limit`` stays whole.

    >>> slices("One two. Three four. Five six.", target=22, limit=25)
    ['One two. Three four.', 'Five six.']
    """
    found = []
    position = 0
    while len(text) - position > limit:
        end = _find_break(text, position, target)
        found.append(text[position:end].strip())
        position = end
    found.append(text[position:].strip())
    return [part for part in found if part]


def _find_break(text: str, position: int, target: int) -> int:
    """The best place to cut in the later half of the window: paragraph, sentence, line, word, else anywhere."""
    low, high = position + max(1, target // 2), position + target
    for pattern in (_PARAGRAPH, _SENTENCE, _LINE_BREAK, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return high


@dataclass(frozen=True, slots=True)
class _LineSpan:
    """Line indices ``start`` to ``end`` (exclusive), neither of them blank; ``head`` if a section starts here."""

    start: int
    end: int
    is_section_start: bool = False


class _Chunker:
    """One text being cut; lines are indices from 0 in here."""

    def __init__(self, lines: Sequence[str], first: int, heads: frozenset[int], glued: frozenset[int]) -> None:
        self.lines = lines
        self.first = first
        self.section_starts = heads
        self.no_break_before = glued
        self.line_offsets = [0, *accumulate(len(line) + 1 for line in lines)]

    def chunk(self) -> list[Chunk]:
        found: list[Chunk] = []
        start = 0
        for index, line in enumerate(self.lines):
            if len(line) > MAX_LINE_CHARS:
                found += self._chunk_range(start, index)
                found += [Chunk(part, index + self.first, index + self.first) for part in split_text(line)]
                start = index + 1
        return found + self._chunk_range(start, len(self.lines))

    def _chunk_range(self, start: int, end: int) -> list[Chunk]:
        spans = [
            piece
            for section in self._split_sections(start, end)
            for piece in (
                [section] if self._size(section.start, section.end) <= MAX_CHARS else self._pack_paragraphs(section)
            )
        ]
        return [
            Chunk("\n".join(self.lines[span.start : span.end]), span.start + self.first, span.end - 1 + self.first)
            for span in self._merge_small(spans)
        ]

    def _size(self, start: int, end: int) -> int:
        return self.line_offsets[end] - self.line_offsets[start] - 1

    def _trim_blank_lines(self, start: int, end: int, head: bool) -> list[_LineSpan]:
        while start < end and not self.lines[start].strip():
            start += 1
        while end > start and not self.lines[end - 1].strip():
            end -= 1
        return [_LineSpan(start, end, head)] if start < end else []

    def _split_sections(self, start: int, end: int) -> list[_LineSpan]:
        borders = [i for i in range(start + 1, end) if i + self.first in self.section_starts]
        edges = [start, *borders, end]
        return [
            span
            for low, high in pairwise(edges)
            for span in self._trim_blank_lines(low, high, low + self.first in self.section_starts)
        ]

    def _pack_paragraphs(self, section: _LineSpan) -> list[_LineSpan]:
        """A section too long for one chunk, as runs of its paragraphs."""
        runs: list[_LineSpan] = []
        for part in self._split_paragraphs(section):
            last = runs[-1] if runs else None
            if last is not None and self._size(last.start, part.end) <= TARGET_CHARS:
                runs[-1] = _LineSpan(last.start, part.end, last.is_section_start)
            else:
                runs.append(part)
        return runs

    def _split_paragraphs(self, section: _LineSpan) -> list[_LineSpan]:
        starts = [section.start] + [
            i
            for i in range(section.start + 1, section.end)
            if self.lines[i].strip() and not self.lines[i - 1].strip() and i + self.first not in self.no_break_before
        ]
        edges = [*starts, section.end]
        return [
            part
            for low, high in pairwise(edges)
            for whole in self._trim_blank_lines(low, high, section.is_section_start and low == section.start)
            for part in ([whole] if self._size(whole.start, whole.end) <= MAX_CHARS else self._split_by_lines(whole))
        ]

    def _split_by_lines(self, paragraph: _LineSpan) -> list[_LineSpan]:
        parts: list[_LineSpan] = []
        start = paragraph.start
        while self._size(start, paragraph.end) > MAX_CHARS:
            end = start + 1
            while end < paragraph.end and self._size(start, end + 1) <= TARGET_CHARS:
                end += 1
            candidates = [i for i in range(start + 1, end + 1) if self._size(start, i) >= TARGET_CHARS // 2] or [end]
            cut = max(candidates, key=self._score_break) if end < paragraph.end else end
            parts += self._trim_blank_lines(start, cut, paragraph.is_section_start and start == paragraph.start)
            start = cut
            if start == paragraph.end:
                return parts
        return parts + self._trim_blank_lines(
            start, paragraph.end, paragraph.is_section_start and start == paragraph.start
        )

    def _score_break(self, index: int) -> tuple[bool, bool, bool, int, int]:
        """How well a chunk may start at this line; the later of two equals wins."""
        line, previous = self.lines[index], self.lines[index - 1]
        indent = len(line) - len(line.lstrip())
        ends = bool(_SENTENCE_END.search(previous[-8:]))
        return (index + self.first not in self.no_break_before, not previous.strip(), ends, -indent, index)

    def _merge_small(self, spans: list[_LineSpan]) -> list[_LineSpan]:
        """Small spans joined to a neighbour as far as the limit allows: a section's tail to what it continues, then
        whatever is small to what follows, then what is left to what went before."""
        spans = self._merge_adjacent(spans, lambda last, span: not span.is_section_start and self._is_small(span))
        spans = self._merge_adjacent(spans, lambda last, span: self._is_small(last))
        return self._merge_adjacent(spans, lambda last, span: self._is_small(span))

    def _merge_adjacent(
        self, spans: list[_LineSpan], wanted: Callable[[_LineSpan, _LineSpan], bool]
    ) -> list[_LineSpan]:
        joined: list[_LineSpan] = []
        for span in spans:
            last = joined[-1] if joined else None
            if last is not None and self._size(last.start, span.end) <= MAX_CHARS and wanted(last, span):
                joined[-1] = _LineSpan(last.start, span.end, last.is_section_start)
            else:
                joined.append(span)
        return joined

    def _is_small(self, span: _LineSpan) -> bool:
        return self._size(span.start, span.end) < MIN_CHARS
