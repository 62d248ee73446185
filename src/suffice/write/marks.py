"""Claims found again in the rendered answer and marked there.

Both sides are compared by letters and digits only, so emphasis, citations, typographic quotes and spacing cannot hide a
claim. One that still cannot be found is reported as such and left to the claims table. It expects HTML that ``Prose``
made, and knows nothing of pages, styles or scripts.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape

from suffice.types import Support

GLYPHS: dict[Support, str] = {"supported": "✓", "contradicted": "✗", "unsupported": "○", "unknown": "?"}

_TAG = re.compile(r"(<[^>]*>)")
_INLINE = re.compile(r"</?(em|strong|s|code|a|br)\b")
_AFTER = re.compile(r"""[.!?…,;:"'”’»)\]。！？]*""")
_WALL = "\n"
# Shorter texts occur by chance.
_FEWEST_LETTERS = 6


def mark(html: str, claims: Sequence[tuple[Sequence[str], Support]]) -> tuple[str, frozenset[int]]:
    """The HTML with each claim marked, and the numbers (from 1) of the claims that were found.

    A claim is the ways in which its text may have come out as HTML, likeliest first, and what the sources say to it.
    """
    page = _Page(html)
    found = set()
    cursor = 0
    for claim, (texts, support) in enumerate(claims, start=1):
        needles = [_Page(text).key for text in texts]
        # A claim taken from a numbered list may carry its number, which the page shows as a marker and not as text.
        needles += [needle.lstrip("0123456789") for needle in needles]
        stretch = next(filter(None, (page.find(needle, cursor) for needle in needles)), None)
        if stretch:
            page.mark(stretch, claim, support)
            cursor = stretch[1]
            found.add(claim)
    return page.html(), frozenset(found)


@dataclass(frozen=True, slots=True)
class _Letter:
    part: int
    offset: int
    begins_word: bool


class _Page:
    """HTML as a list of parts (texts at even positions, tags at odd ones) and the letters that the texts consist of."""

    def __init__(self, html: str) -> None:
        self.parts = [part if i % 2 else unescape(part) for i, part in enumerate(_TAG.split(html))]
        self.letters: list[_Letter] = []
        self.key = ""
        self._taken: set[int] = set()
        # What to insert into a part: where, its rank among insertions at one place (close, verdict, open), and the tag.
        self._edits: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        key: list[str] = []
        begins = True
        for i, part in enumerate(self.parts):
            if i % 2:
                if part and not _INLINE.match(part):
                    key.append(_WALL)
                    self.letters.append(_Letter(i, 0, True))
                    begins = True
                continue
            if self._is_citation(i):
                continue
            for offset, char in enumerate(part):
                folded = [c for c in unicodedata.normalize("NFKD", char).casefold() if c.isalnum()]
                for c in folded:
                    key.append(c)
                    self.letters.append(_Letter(i, offset, begins))
                    begins = False
                begins = begins or not folded
        self.key = "".join(key)

    def find(self, needle: str, cursor: int) -> tuple[int, int] | None:
        """The first free stretch of whole words that reads like the needle, from the cursor on, then before it."""
        if len(needle) < _FEWEST_LETTERS:
            return None
        for begin in (cursor, 0):
            start = self.key.find(needle, begin)
            while start >= 0:
                end = start + len(needle)
                whole = self.letters[start].begins_word and (end == len(self.key) or self.letters[end].begins_word)
                if whole and self._taken.isdisjoint(range(start, end)):
                    return start, end
                start = self.key.find(needle, start + 1)
        return None

    def mark(self, stretch: tuple[int, int], claim: int, support: Support) -> None:
        self._taken.update(range(*stretch))
        first, last = self.letters[stretch[0]], self.letters[stretch[1] - 1]
        for i in range(first.part, last.part + 1, 2):
            begin = first.offset if i == first.part else 0
            end = last.offset + 1 if i == last.part else len(self.parts[i])
            if self.parts[i][begin:end].strip() and not self._is_citation(i):
                self._edits[i].append((begin, 2, f'<mark class="claim {support}" data-claim="{claim}">'))
                self._edits[i].append((end, 0, "</mark>"))
        part, offset = self._end(last)
        verdict = (
            f'<a class="verdict {support}" href="#claim-{claim}" data-claim="{claim}" '
            f'aria-describedby="evidence-{claim}" aria-label="Claim {claim}: {support}">{GLYPHS[support]}</a>'
        )
        self._edits[part].append((offset, 1, verdict))

    def html(self) -> str:
        return "".join(part if i % 2 else self._edited(i, part) for i, part in enumerate(self.parts))

    def _is_citation(self, part: int) -> bool:
        return part > 0 and self.parts[part - 1].startswith('<a class="cite"')

    def _end(self, last: _Letter) -> tuple[int, int]:
        """Where the verdict goes: behind the sentence's closing marks and citations, and never inside a link."""
        part, offset = last.part, last.offset + 1
        depth = sum(tag.startswith("<a ") - tag.startswith("</a") for tag in self.parts[1:part:2])
        while depth > 0:
            depth -= self.parts[part + 1].startswith("</a")
            part, offset = part + 2, 0
        while True:
            text = self.parts[part]
            closing = _AFTER.match(text, offset)
            offset = closing.end() if closing else offset
            if text[offset:].strip() or part + 4 >= len(self.parts) or not self._is_citation(part + 2):
                return part, offset
            part, offset = part + 4, 0

    def _edited(self, i: int, text: str) -> str:
        pieces, position = [], 0
        for offset, _, insertion in sorted(self._edits.get(i, []), key=lambda edit: edit[:2]):
            pieces += [escape(text[position:offset], quote=False), insertion]
            position = offset
        return "".join([*pieces, escape(text[position:], quote=False)])
