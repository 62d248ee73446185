"""The claims of any text held against a search: what ``suffice check`` does.

Each claim is searched for by its own words. If the text lists its sources and the search knows them, a claim that cites one
is held against that one.
"""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from suffice.claims.checkers import Checker
from suffice.claims.notices import NOTICES
from suffice.claims.split import ClaimText, extract_claims
from suffice.claims.verdict import ClaimVerdict, judge_claim, list_quotes
from suffice.search.base import Search
from suffice.text.markdown import iter_source_lines
from suffice.types import Claim, Passage, Query, Source, Span

PASSAGES_PER_CLAIM = 8  # Passages that a claim is held against.
_CITED_SEARCH_DEPTH = 30  # How far down the ranking a cited source is looked for.
_SOURCE_ENTRY = re.compile(r"^(?:[-*+]\s+)?(?:\[\^?(\d{1,4})\]:?|(\d{1,4})[.)])\s+(.*)")


@dataclass
class TextAudit:
    """A text under examination. ``sources`` grows with each new source that is quoted, numbered as the text numbers it."""

    text: str
    search: Search
    checker: Checker
    sources: dict[str, Source] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.claim_texts: Sequence[ClaimText] = [
            statement
            for statement in extract_claims(self.text)
            if not any(statement.plain_text in notice for notice in NOTICES)
        ]
        self._source_list = parse_source_list(self.text)
        self._handles: dict[str, str] = {}

    async def check_claims(self) -> AsyncIterator[tuple[Claim, ClaimVerdict]]:
        """Each claim with its verdict, in the order of the text."""
        for statement in self.claim_texts:
            checked = await self._check_claim(statement)
            yield self._build_claim(checked), checked

    async def _check_claim(self, statement: ClaimText) -> ClaimVerdict:
        if statement.skip_reason:
            return await judge_claim(statement, (), (), self.checker)
        lines = [self._source_list[handle] for handle in statement.handles if handle in self._source_list]
        hits = await self.search(Query(statement.plain_text), _CITED_SEARCH_DEPTH if lines else PASSAGES_PER_CLAIM)
        cited = [hit for hit in hits if any(_is_listed_source(hit, line) for line in lines)]
        for line in () if cited else lines:  # The claim's own words do not lead there; the source's do.
            found = await self.search(Query(f"{line} {statement.plain_text}"), _CITED_SEARCH_DEPTH)
            cited += [hit for hit in found if _is_listed_source(hit, line)]
        return await judge_claim(statement, cited[:PASSAGES_PER_CLAIM], hits[:PASSAGES_PER_CLAIM], self.checker)

    def _build_claim(self, checked: ClaimVerdict) -> Claim:
        spans = tuple(
            Span(self._assign_handle(item.passage), item.text, item.location, stance)
            for item, stance in list_quotes(checked)
        )
        statement = checked.claim
        return Claim(statement.text, statement.handles, checked.support, spans, checked.note)

    def _assign_handle(self, passage: Passage) -> str:
        """The number the text itself gave to the source, else the next free one."""
        if passage.id not in self._handles:
            own = next((handle for handle, line in self._source_list.items() if _is_listed_source(passage, line)), None)
            taken = [int(handle.strip("[]")) for handle in (*self._source_list, *self.sources)]
            handle = own or f"[{max(taken, default=0) + 1}]"
            self._handles[passage.id] = handle
            location = passage.place.path if own else passage.location
            self.sources.setdefault(handle, Source(handle, passage.title, passage.kind, location, passage.url))
        return self._handles[passage.id]


def parse_source_list(text: str) -> dict[str, str]:
    """The sources a text lists: handle → what it says of the source."""
    found = (_SOURCE_ENTRY.match(line) for line in iter_source_lines(text))
    return {f"[{match[1] or match[2]}]": match[3] for match in found if match}


def _is_listed_source(passage: Passage, line: str) -> bool:
    """The listed source is the one this passage comes from: its path, file, record or title is named."""
    place = passage.place
    if place.record is not None:
        return _mentions(f"{place.path}#{place.record}", line) or _mentions(passage.title, line)
    return (
        _mentions(place.path, line) or _mentions(place.path.rsplit("/", 1)[-1], line) or _mentions(passage.title, line)
    )


def _mentions(name: str, line: str) -> bool:
    return len(name) > 3 and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line) is not None
