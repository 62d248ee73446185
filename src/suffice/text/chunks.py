"""Cut a text into chunks of a readable size, each with its exact line range.

A chunk has whole lines, verbatim; only a giant line is cut inside. A chunk ends where a reader would pause: before a section,
at a blank line, at the end of a sentence, before the least indented line. The caller says which lines begin sections: this
module knows nothing about Markdown, source code or files.
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
    """Lines ``first`` to ``last`` (from 1, inclusive) joined by newlines, or a part of one giant line."""

    text: str
    first: int
    last: int


def split_lines(text: str) -> list[str]:
    """Return the lines as an editor counts them: only LF, CRLF and CR end a line.

    ``str.splitlines`` also breaks at form feeds and at U+2028, which would give every later citation a wrong line number.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


@dataclass(frozen=True, slots=True)
class Structure:
    """What the caller knows about lines, by their numbers.

    - ``section_starts`` begin sections. A section of at most ``MAX_CHARS`` stays whole, and a chunk of at least ``MIN_CHARS``
      ends before it.
    - ``block_starts`` begin a paragraph, list or code block although no blank line is above; a blank line says so otherwise.
    - ``kept_with_previous`` begin blocks that belong to the block above, such as a list below its lead-in. They are parted
      only if both do not fit into one chunk.
    - ``unbroken`` begin a chunk only if the limit demands it: they are inside a code block, a table row or a list item.
    """

    section_starts: Collection[int] = ()
    block_starts: Collection[int] = ()
    kept_with_previous: Collection[int] = ()
    unbroken: Collection[int] = ()


def chunk_lines(lines: Sequence[str], structure: Structure | None = None, *, first: int = 1) -> list[Chunk]:
    """Return chunks in order, without overlap, that together have every line that is not blank.

    ``first`` is the number of ``lines[0]``.
    """
    return _Chunker(lines, structure or Structure(), first).chunk()


def split_text(text: str, target: int = TARGET_CHARS, limit: int = MAX_CHARS) -> list[str]:
    """Split running text into parts of about ``target`` characters; a text within ``limit`` stays whole.

    >>> split_text("One two. Three four. Five six.", target=22, limit=25)
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
    """Return the best offset to cut at in the later half of the window: paragraph, sentence, line, word, else its end."""
    low, high = position + max(1, target // 2), position + target
    for pattern in (_PARAGRAPH, _SENTENCE, _LINE_BREAK, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return high


@dataclass(frozen=True, slots=True)
class _LineSpan:
    """Line indices ``start`` to ``end`` (exclusive); the first and the last line are not blank."""

    start: int
    end: int
    is_section_start: bool = False


class _Chunker:
    """Cuts one text. Lines are indices from 0 here."""

    def __init__(self, lines: Sequence[str], structure: Structure, first: int) -> None:
        self.lines = lines
        self.first = first
        self.section_starts = frozenset(structure.section_starts)
        self.block_starts = frozenset(structure.block_starts)
        self.kept_with_previous = frozenset(structure.kept_with_previous)
        self.unbroken = frozenset(structure.unbroken)
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
                [section] if self._size(section.start, section.end) <= MAX_CHARS else self._pack_blocks(section)
            )
        ]
        return [
            Chunk("\n".join(self.lines[span.start : span.end]), span.start + self.first, span.end - 1 + self.first)
            for span in self._merge_small(spans)
        ]

    def _size(self, start: int, end: int) -> int:
        return self.line_offsets[end] - self.line_offsets[start] - 1

    def _trim_blank_lines(self, start: int, end: int, is_section_start: bool) -> list[_LineSpan]:
        while start < end and not self.lines[start].strip():
            start += 1
        while end > start and not self.lines[end - 1].strip():
            end -= 1
        return [_LineSpan(start, end, is_section_start)] if start < end else []

    def _split_sections(self, start: int, end: int) -> list[_LineSpan]:
        edges = [start, *(i for i in range(start + 1, end) if i + self.first in self.section_starts), end]
        return [
            span
            for low, high in pairwise(edges)
            for span in self._trim_blank_lines(low, high, low + self.first in self.section_starts)
        ]

    def _pack_blocks(self, section: _LineSpan) -> list[_LineSpan]:
        """Split a section that is too long for one chunk into runs of its blocks."""
        runs: list[list[_LineSpan]] = []
        for block in self._split_blocks(section):
            is_kept = block.start + self.first in self.kept_with_previous
            is_tiny = bool(runs) and self._size(runs[-1][0].start, runs[-1][-1].end) < MIN_CHARS
            limit = MAX_CHARS if is_kept or is_tiny else TARGET_CHARS
            if runs and self._size(runs[-1][0].start, block.end) <= limit:
                runs[-1].append(block)
            else:
                runs.append([*(self._take_lead_in(runs[-1], block) if runs and is_kept else []), block])
        return [_LineSpan(run[0].start, run[-1].end, run[0].is_section_start) for run in runs if run]

    def _take_lead_in(self, run: list[_LineSpan], block: _LineSpan) -> list[_LineSpan]:
        """Take from the end of a run what should stand in one chunk with the block, as far as both fit."""
        taken: list[_LineSpan] = []
        while len(run) > 1 and self._size(run[-1].start, block.end) <= MAX_CHARS:
            taken.insert(0, run.pop())
            if taken[0].start + self.first not in self.kept_with_previous:
                break
        return taken

    def _split_blocks(self, section: _LineSpan) -> list[_LineSpan]:
        inside = range(section.start + 1, section.end)
        starts = (i for i in inside if self.lines[i].strip() and self._begins_block(i))
        edges = [section.start, *starts, section.end]
        return [
            part
            for low, high in pairwise(edges)
            for whole in self._trim_blank_lines(low, high, section.is_section_start and low == section.start)
            for part in ([whole] if self._size(whole.start, whole.end) <= MAX_CHARS else self._split_by_lines(whole))
        ]

    def _begins_block(self, index: int) -> bool:
        number = index + self.first
        return number in self.block_starts or (not self.lines[index - 1].strip() and number not in self.unbroken)

    def _split_by_lines(self, block: _LineSpan) -> list[_LineSpan]:
        parts: list[_LineSpan] = []
        start = block.start
        while start < block.end:
            cut = self._find_cut(start, block.end) if self._size(start, block.end) > MAX_CHARS else block.end
            parts += self._trim_blank_lines(start, cut, block.is_section_start and start == block.start)
            start = cut
        return parts

    def _find_cut(self, start: int, end: int) -> int:
        """Return the line to cut before: the best in the later half of the target, else any below the limit that may be."""
        cut = start + 1
        while cut < end and self._size(start, cut + 1) <= TARGET_CHARS:
            cut += 1
        if cut == end:
            return end
        low = start + 1
        while low < cut and self._size(start, low) < TARGET_CHARS // 2:
            low += 1
        best = max(range(low, cut + 1), key=self._score_break)
        if best + self.first not in self.unbroken:
            return best
        high = cut
        while high + 1 < end and self._size(start, high + 1) <= MAX_CHARS:
            high += 1
        breakable = [i for i in range(start + 1, high + 1) if i + self.first not in self.unbroken]
        return max(breakable, key=lambda i: (self._size(start, i) >= MIN_CHARS, -abs(i - cut)), default=best)

    def _score_break(self, index: int) -> tuple[bool, bool, bool, int, int]:
        """Return how well a chunk may begin at this line; the later of two equals wins."""
        line, previous = self.lines[index], self.lines[index - 1]
        indent = len(line) - len(line.lstrip())
        ends = bool(_SENTENCE_END.search(previous[-8:]))
        return (index + self.first not in self.unbroken, not previous.strip(), ends, -indent, index)

    def _merge_small(self, spans: list[_LineSpan]) -> list[_LineSpan]:
        """Join small spans to a neighbour as far as the limit allows.

        The end of a section joins what it continues, then any small span joins what follows, then what comes before.
        """
        spans = self._merge_adjacent(spans, lambda last, span: not span.is_section_start and self._is_small(span))
        spans = self._merge_adjacent(spans, lambda last, span: self._is_small(last))
        return self._merge_adjacent(spans, lambda last, span: self._is_small(span))

    def _merge_adjacent(
        self, spans: list[_LineSpan], should_merge: Callable[[_LineSpan, _LineSpan], bool]
    ) -> list[_LineSpan]:
        joined: list[_LineSpan] = []
        for span in spans:
            last = joined[-1] if joined else None
            if last is not None and self._size(last.start, span.end) <= MAX_CHARS and should_merge(last, span):
                joined[-1] = _LineSpan(last.start, span.end, last.is_section_start)
            else:
                joined.append(span)
        return joined

    def _is_small(self, span: _LineSpan) -> bool:
        return self._size(span.start, span.end) < MIN_CHARS
