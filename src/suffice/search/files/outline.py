"""The outline of a source file: where definitions begin, which of them begin a section, and what a chunk is called.

It knows no language; ``python`` and ``definitions`` find the symbols.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from suffice.text.chunks import MAX_CHARS, Chunk

_MAX_NAMES = 4


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition that begins at line ``first``, comments and decorators above it included.

    ``name`` is qualified (``Class.method``); a deeper ``depth`` lies inside the definition before it.
    """

    first: int
    depth: int
    name: str


class CodeOutline:
    def __init__(self, symbols: Sequence[Symbol]) -> None:
        unique = {symbol.first: symbol for symbol in reversed(symbols)}
        self.symbols = [unique[first] for first in sorted(unique)]
        self.firsts = [symbol.first for symbol in self.symbols]

    def find_section_starts(self, lines: Sequence[str]) -> set[int]:
        """Outer definitions begin sections; inner ones only where the outer is too long for one chunk."""
        before = [0, *accumulate(len(line) + 1 for line in lines)]
        heads: set[int] = set()
        todo = [(1, len(lines) + 1, self.symbols)]
        while todo:
            start, end, inner = todo.pop()
            if not inner or before[end - 1] - before[start - 1] - 1 <= MAX_CHARS:
                continue
            depth = min(symbol.depth for symbol in inner)
            starts = [symbol.first for symbol in inner if symbol.depth == depth]
            heads.update(starts)
            deeper = [symbol for symbol in inner if symbol.depth > depth]
            firsts = [symbol.first for symbol in deeper]
            for low, high in pairwise([start, *starts, end]):
                todo.append((low, high, deeper[bisect_left(firsts, low) : bisect_left(firsts, high)]))
        return heads

    def name_chunk(self, chunk: Chunk) -> list[str]:
        """What a chunk defines, outermost only; what it lies in, if it begins in the middle of a definition."""
        low, high = bisect_left(self.firsts, chunk.first), bisect_right(self.firsts, chunk.last)
        found = [self.symbols[low - 1].name] if low and self.firsts[low : low + 1] != [chunk.first] else []
        depth: int | None = None
        for symbol in self.symbols[low:high]:
            if depth is None or symbol.depth <= depth:
                found.append(symbol.name)
                depth = symbol.depth
        return list(dict.fromkeys(name for name in found if name))[:_MAX_NAMES]
