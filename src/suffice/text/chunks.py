"""Cuts a text into chunks of a readable size, each with its exact line range.

A chunk is whole lines, verbatim; only a giant line is cut inside. Borders are taken where a reader would: at a
section's head, at a blank line, at the end of a sentence, at the least indented line. What makes a line a head is
the caller's to say: this module knows nothing of Markdown, of source code or of files.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

TARGET = 900
LIMIT = 1600
SMALL = 200
GIANT = 4000

_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"[.!?…][\"'”’»)\]]*\s+|[。！？]")
_BREAK = re.compile(r"\n")
_SPACE = re.compile(r"\s")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]*_]*\s*$")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines ``first`` to ``last`` (from 1, inclusive) joined by newlines, or a stretch of one giant line."""

    text: str
    first: int
    last: int


def lines_of(text: str) -> list[str]:
    """The lines as an editor counts them: only LF, CRLF and CR end a line.

    ``str.splitlines`` also breaks at form feeds and at U+2028, which would put every later citation on a wrong line.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def chunks(
    lines: Sequence[str], *, first: int = 1, heads: Collection[int] = (), glued: Collection[int] = ()
) -> list[Chunk]:
    """Chunks in order, without overlap, that together hold every line that is not blank.

    ``first`` is the number of ``lines[0]``. A line number in ``heads`` starts a section: a section within ``LIMIT``
    stays whole, and a chunk of at least ``SMALL`` characters ends before it. A line number in ``glued`` starts no chunk
    unless the limit demands it.
    """
    return _Cutter(lines, first, frozenset(heads), frozenset(glued)).cut()


def slices(text: str, target: int = TARGET, limit: int = LIMIT) -> list[str]:
    """Running text in stretches of about ``target`` characters; a text within ``limit`` stays whole.

    >>> slices("One two. Three four. Five six.", target=22, limit=25)
    ['One two. Three four.', 'Five six.']
    """
    found = []
    position = 0
    while len(text) - position > limit:
        end = _border(text, position, target)
        found.append(text[position:end].strip())
        position = end
    found.append(text[position:].strip())
    return [part for part in found if part]


def _border(text: str, position: int, target: int) -> int:
    """The best place to cut in the later half of the window: paragraph, sentence, line, word, else anywhere."""
    low, high = position + max(1, target // 2), position + target
    for pattern in (_PARAGRAPH, _SENTENCE, _BREAK, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return high


@dataclass(frozen=True, slots=True)
class _Span:
    """Line indices ``start`` to ``end`` (exclusive), neither of them blank; ``head`` if a section starts here."""

    start: int
    end: int
    head: bool = False


class _Cutter:
    """One text being cut; lines are indices from 0 in here."""

    def __init__(self, lines: Sequence[str], first: int, heads: frozenset[int], glued: frozenset[int]) -> None:
        self.lines = lines
        self.first = first
        self.heads = heads
        self.glued = glued
        self.before = [0, *accumulate(len(line) + 1 for line in lines)]

    def cut(self) -> list[Chunk]:
        found: list[Chunk] = []
        start = 0
        for index, line in enumerate(self.lines):
            if len(line) > GIANT:
                found += self._stretch(start, index)
                found += [Chunk(part, index + self.first, index + self.first) for part in slices(line)]
                start = index + 1
        return found + self._stretch(start, len(self.lines))

    def _stretch(self, start: int, end: int) -> list[Chunk]:
        spans = [
            piece
            for section in self._sections(start, end)
            for piece in ([section] if self._size(section.start, section.end) <= LIMIT else self._packed(section))
        ]
        return [
            Chunk("\n".join(self.lines[span.start : span.end]), span.start + self.first, span.end - 1 + self.first)
            for span in self._without_small(spans)
        ]

    def _size(self, start: int, end: int) -> int:
        return self.before[end] - self.before[start] - 1

    def _trimmed(self, start: int, end: int, head: bool) -> list[_Span]:
        while start < end and not self.lines[start].strip():
            start += 1
        while end > start and not self.lines[end - 1].strip():
            end -= 1
        return [_Span(start, end, head)] if start < end else []

    def _sections(self, start: int, end: int) -> list[_Span]:
        borders = [i for i in range(start + 1, end) if i + self.first in self.heads]
        edges = [start, *borders, end]
        return [
            span for low, high in pairwise(edges) for span in self._trimmed(low, high, low + self.first in self.heads)
        ]

    def _packed(self, section: _Span) -> list[_Span]:
        """A section too long for one chunk, as runs of its paragraphs."""
        runs: list[_Span] = []
        for part in self._paragraphs(section):
            last = runs[-1] if runs else None
            if last is not None and self._size(last.start, part.end) <= TARGET:
                runs[-1] = _Span(last.start, part.end, last.head)
            else:
                runs.append(part)
        return runs

    def _paragraphs(self, section: _Span) -> list[_Span]:
        starts = [section.start] + [
            i
            for i in range(section.start + 1, section.end)
            if self.lines[i].strip() and not self.lines[i - 1].strip() and i + self.first not in self.glued
        ]
        edges = [*starts, section.end]
        return [
            part
            for low, high in pairwise(edges)
            for whole in self._trimmed(low, high, section.head and low == section.start)
            for part in ([whole] if self._size(whole.start, whole.end) <= LIMIT else self._by_lines(whole))
        ]

    def _by_lines(self, paragraph: _Span) -> list[_Span]:
        parts: list[_Span] = []
        start = paragraph.start
        while self._size(start, paragraph.end) > LIMIT:
            end = start + 1
            while end < paragraph.end and self._size(start, end + 1) <= TARGET:
                end += 1
            candidates = [i for i in range(start + 1, end + 1) if self._size(start, i) >= TARGET // 2] or [end]
            cut = max(candidates, key=self._fitness) if end < paragraph.end else end
            parts += self._trimmed(start, cut, paragraph.head and start == paragraph.start)
            start = cut
            if start == paragraph.end:
                return parts
        return parts + self._trimmed(start, paragraph.end, paragraph.head and start == paragraph.start)

    def _fitness(self, index: int) -> tuple[bool, bool, bool, int, int]:
        """How well a chunk may start at this line; the later of two equals wins."""
        line, previous = self.lines[index], self.lines[index - 1]
        indent = len(line) - len(line.lstrip())
        ends = bool(_SENTENCE_END.search(previous[-8:]))
        return (index + self.first not in self.glued, not previous.strip(), ends, -indent, index)

    def _without_small(self, spans: list[_Span]) -> list[_Span]:
        """Small spans joined to a neighbour as far as the limit allows: a section's tail to what it continues, then
        whatever is small to what follows, then what is left to what went before."""
        spans = self._joined(spans, lambda last, span: not span.head and self._small(span))
        spans = self._joined(spans, lambda last, span: self._small(last))
        return self._joined(spans, lambda last, span: self._small(span))

    def _joined(self, spans: list[_Span], wanted: Callable[[_Span, _Span], bool]) -> list[_Span]:
        joined: list[_Span] = []
        for span in spans:
            last = joined[-1] if joined else None
            if last is not None and self._size(last.start, span.end) <= LIMIT and wanted(last, span):
                joined[-1] = _Span(last.start, span.end, last.head)
            else:
                joined.append(span)
        return joined

    def _small(self, span: _Span) -> bool:
        return self._size(span.start, span.end) < SMALL
