"""Check the claims of any text against a search: what ``suffice check`` does.

Each claim is searched for by its own words. If the text lists its sources and the search has them, a claim that cites one of
them is judged by it.
"""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from suffice.claims.checkers import Checker, ModelChecker
from suffice.claims.split import ClaimText, extract_claims
from suffice.claims.verdict import ClaimVerdict, build_evidence, get_deciding_quote, judge_claim, list_quotes
from suffice.search.base import Search
from suffice.text.citations import next_handle, parse_source_entry
from suffice.text.markdown import iter_source_lines
from suffice.types import Claim, Passage, Query, Source, Span

PASSAGES_PER_CLAIM = 8  # Passages that a claim is judged by.
_READ_FIRST = 3  # Of them, those that are read first. The others are read if these do not support the claim.
_CITED_SEARCH_DEPTH = 30  # How far down the ranking a cited source is looked for.


@dataclass
class TextAudit:
    """The claims of one text and the sources quoted for them."""

    text: str
    search: Search
    checker: Checker
    ignored_texts: Sequence[str] = ()
    """Texts whose sentences are no claims, and with which such sentences begin: the notices of a report."""
    sources: dict[str, Source] = field(default_factory=dict)
    """The sources quoted so far, numbered as the text numbers them."""

    def __post_init__(self) -> None:
        self.claim_texts: Sequence[ClaimText] = [
            claim
            for claim in extract_claims(self.text)
            if not any(
                claim.plain_text in ignored or claim.plain_text.startswith(ignored) for ignored in self.ignored_texts
            )
        ]
        self._source_list = parse_source_list(self.text)
        self._handles: dict[str, str] = {}

    async def check_claims(self) -> AsyncIterator[tuple[Claim, ClaimVerdict]]:
        """Yield each claim with its verdict, in the order of the text."""
        for claim in self.claim_texts:
            verdict = await self._check_claim(claim)
            yield self._build_claim(verdict), verdict

    async def _check_claim(self, claim: ClaimText) -> ClaimVerdict:
        if claim.skip_reason:
            return await judge_claim(claim, (), (), self.checker)
        entries = [self._source_list[handle] for handle in claim.handles if handle in self._source_list]
        hits = await self.search(Query(claim.plain_text), _CITED_SEARCH_DEPTH if entries else PASSAGES_PER_CLAIM)
        cited = [hit for hit in hits if any(_is_listed_source(hit, entry) for entry in entries)]
        if not cited:  # The claim's own words do not find its source; the entry's words may.
            for entry in entries:
                found = await self.search(Query(f"{entry} {claim.plain_text}"), _CITED_SEARCH_DEPTH)
                cited += [hit for hit in found if _is_listed_source(hit, entry)]
        cited, hits = cited[:PASSAGES_PER_CLAIM], hits[:PASSAGES_PER_CLAIM]
        asks_model = ModelChecker.name in self.checker.name.split("+")  # It would be asked about both parts.
        if max(len(cited), len(hits)) > _READ_FIRST and not asks_model:
            verdict = await judge_claim(claim, cited[:_READ_FIRST], hits[:_READ_FIRST], self.checker)
            if verdict.support == "supported":
                return verdict
        return await judge_claim(claim, cited, hits, self.checker)

    def _build_claim(self, verdict: ClaimVerdict) -> Claim:
        spans = tuple(
            Span(self._assign_handle(quote.passage), quote.text, quote.location, stance)
            for quote, stance in list_quotes(verdict)
        )
        quote = get_deciding_quote(verdict)
        shown = bool(spans) and quote is not None
        return Claim(
            verdict.claim.text,
            verdict.claim.handles,
            verdict.support,
            spans,
            verdict.note,
            build_evidence(verdict, spans[0].source if shown else ""),
            "" if quote is None else quote.span.checker,
            None if quote is None else quote.span.probability,
        )

    def _assign_handle(self, passage: Passage) -> str:
        """Return the handle that the text itself gives to the source, else the next free one."""
        if passage.id not in self._handles:
            listed = (handle for handle, entry in self._source_list.items() if _is_listed_source(passage, entry))
            own = next(listed, None)
            handle = own or next_handle((*self._source_list, *self.sources))
            self._handles[passage.id] = handle
            location = passage.place.path if own else passage.location
            self.sources.setdefault(handle, Source(handle, passage.title, passage.kind, location, passage.url))
        return self._handles[passage.id]


def parse_source_list(text: str) -> dict[str, str]:
    """Return the sources that a text lists: handle → description."""
    return dict(filter(None, map(parse_source_entry, iter_source_lines(text))))


def _is_listed_source(passage: Passage, entry: str) -> bool:
    """Whether the entry names the path, file, record or title that the passage comes from."""
    place = passage.place
    if place.record is not None:
        return _mentions(f"{place.path}#{place.record}", entry) or _mentions(passage.title, entry)
    names = (place.path, place.path.rsplit("/", 1)[-1], passage.title)
    return any(_mentions(name, entry) for name in names)


def _mentions(name: str, entry: str) -> bool:
    return len(name) > 3 and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", entry) is not None
