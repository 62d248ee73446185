"""The claims of any text held against a search: what ``suffice check`` does.

Each claim is searched for by its own words. If the text lists its sources and the search knows them, a claim that cites one
is held against that one.
"""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from suffice.search.base import Search
from suffice.types import Claim, Passage, Query, Source, Span
from suffice.write.blocks import source_lines
from suffice.write.checkers import Checker
from suffice.write.claims import Statement, statements
from suffice.write.report import NOTICES
from suffice.write.verdicts import Checked, judge, shown

PASSAGES = 8  # Passages that a claim is held against.
_DEEP = 30  # How far down the ranking a cited source is looked for.
_LISTED = re.compile(r"^(?:[-*+]\s+)?(?:\[\^?(\d{1,4})\]:?|(\d{1,4})[.)])\s+(.*)")


@dataclass
class Audit:
    """A text under examination. ``sources`` grows with each new source that is quoted, numbered as the text numbers it."""

    text: str
    search: Search
    checker: Checker
    sources: dict[str, Source] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.statements: Sequence[Statement] = [
            statement for statement in statements(self.text) if not any(statement.said in notice for notice in NOTICES)
        ]
        self._listed = listed(self.text)
        self._numbers: dict[str, str] = {}

    async def claims(self) -> AsyncIterator[tuple[Claim, Checked]]:
        """Each claim with its verdict, in the order of the text."""
        for statement in self.statements:
            checked = await self._check(statement)
            yield self._claim(checked), checked

    async def _check(self, statement: Statement) -> Checked:
        if statement.idle:
            return await judge(statement, (), (), self.checker)
        lines = [self._listed[handle] for handle in statement.handles if handle in self._listed]
        hits = await self.search(Query(statement.said), _DEEP if lines else PASSAGES)
        cited = [hit for hit in hits if any(_is(hit, line) for line in lines)]
        for line in () if cited else lines:  # The claim's own words do not lead there; the source's do.
            found = await self.search(Query(f"{line} {statement.said}"), _DEEP)
            cited += [hit for hit in found if _is(hit, line)]
        return await judge(statement, cited[:PASSAGES], hits[:PASSAGES], self.checker)

    def _claim(self, checked: Checked) -> Claim:
        spans = tuple(
            Span(self._handle(item.passage), item.quote, item.location, stance) for item, stance in shown(checked)
        )
        statement = checked.statement
        return Claim(statement.text, statement.handles, checked.support, spans, checked.note)

    def _handle(self, passage: Passage) -> str:
        """The number the text itself gave to the source, else the next free one."""
        if passage.id not in self._numbers:
            own = next((handle for handle, line in self._listed.items() if _is(passage, line)), None)
            taken = [int(handle.strip("[]")) for handle in (*self._listed, *self.sources)]
            handle = own or f"[{max(taken, default=0) + 1}]"
            self._numbers[passage.id] = handle
            location = passage.place.path if own else passage.location
            self.sources.setdefault(handle, Source(handle, passage.title, passage.kind, location, passage.url))
        return self._numbers[passage.id]


def listed(text: str) -> dict[str, str]:
    """The sources a text lists: handle → what it says of the source."""
    found = (_LISTED.match(line) for line in source_lines(text))
    return {f"[{match[1] or match[2]}]": match[3] for match in found if match}


def _is(passage: Passage, line: str) -> bool:
    """The listed source is the one this passage comes from: its path, file, record or title is named."""
    place = passage.place
    if place.record is not None:
        return _named(f"{place.path}#{place.record}", line) or _named(passage.title, line)
    return _named(place.path, line) or _named(place.path.rsplit("/", 1)[-1], line) or _named(passage.title, line)


def _named(name: str, line: str) -> bool:
    return len(name) > 3 and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line) is not None
