"""Check the claims of any text against a search: what ``suffice check`` does.

Each claim is searched for by its own words. If the text lists its sources and the search has them, a claim that cites one of
them is judged by it. With a language model, all claims and the passages found for them are checked together.
"""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from suffice.claims.checker import Checker
from suffice.claims.reasons import describe_reason
from suffice.claims.split import ClaimText, extract_claims, strip_claim_markup
from suffice.claims.verdict import ClaimVerdict, build_evidence, find_skip_reason, judge_claim
from suffice.claims.whole import AskDraft, check_draft
from suffice.errors import InputError
from suffice.search.base import Search
from suffice.search.isolation.jobs import IsolatedJob, JobFailed, Limits
from suffice.search.isolation.pool import get_pool
from suffice.text.citations import next_handle, parse_source_entry
from suffice.text.markdown import iter_source_lines
from suffice.types import Claim, Passage, Query, Reason, Source, Span

PASSAGES_PER_CLAIM = 5  # Passages that a claim is judged by.
PASSAGES_FOR_MODEL = 4  # Of them, those that a language model gets.
MODEL_PROMPT_TOKENS = 12_000  # Claims and passages in one call of a language model.
_READ_FIRST = 3  # Passages that are read first. The others are read if these do not support the claim.
_CITED_SEARCH_DEPTH = 30  # How far down the ranking a cited source is looked for.
# What splitting a text may use. A book of a million characters takes a second.
_SPLIT_LIMITS = Limits(memory_bytes=1 << 30, cpu_seconds=5, seconds=30.0, output_bytes=1 << 20)


async def validate_text(text: str, name: str) -> None:
    """Raise ``InputError`` if the text cannot be split into claims in a few seconds; it is tried in a child process."""
    job = IsolatedJob(f"{__name__}:count_claims", (text.encode("utf-8", "replace"),), _SPLIT_LIMITS)
    try:
        await get_pool().run_async(job, int)
    except JobFailed as failed:
        raise InputError(
            f"{name} cannot be split into claims: it {failed}; remove what is not prose, or check a part of it"
        ) from failed


def count_claims(text: bytes) -> int:
    """Split a text as ``TextAudit`` does; what the child process runs."""
    return sum(bool(strip_claim_markup(claim.text)) for claim in extract_claims(text.decode("utf-8")))


@dataclass
class TextAudit:
    """The claims of one text and the sources quoted for them."""

    text: str
    search: Search
    checker: Checker
    ignored_texts: Sequence[str] = ()
    """Texts whose sentences are no claims, and with which such sentences begin: the notices of a report."""
    ask: AskDraft | None = None
    """Asks a language model to check the claims."""
    sources: dict[str, Source] = field(default_factory=dict)
    """The sources quoted so far, numbered as the text numbers them."""

    def __post_init__(self) -> None:
        self.claim_texts: list[ClaimText] = []
        for claim in extract_claims(self.text):
            words = strip_claim_markup(claim.text)
            if not any(words in ignored or words.startswith(ignored) for ignored in self.ignored_texts):
                self.claim_texts.append(claim)
        # The sources that the text lists, by handle.
        self._source_list = dict(filter(None, map(parse_source_entry, iter_source_lines(self.text))))
        self._handles: dict[str, str] = {}

    async def check_claims(self) -> AsyncIterator[tuple[Claim, ClaimVerdict]]:
        """Yield each claim with its verdict, in the order of the text."""
        by_model = await self._ask_model() if self.ask is not None else [None] * len(self.claim_texts)
        known: dict[tuple[str, tuple[str, ...]], ClaimVerdict] = {}
        for claim, verdict in zip(self.claim_texts, by_model, strict=True):
            words = strip_claim_markup(claim.text), claim.handles
            if verdict is None and words not in known:
                known[words] = await self._check_claim(claim)
            decided = verdict or known[words].about(claim)
            yield self._build_claim(decided), decided

    async def _check_claim(self, claim: ClaimText) -> ClaimVerdict:
        cited, hits = await self._find_passages(claim)
        if max(len(cited), len(hits)) > _READ_FIRST:
            verdict = await judge_claim(claim, cited[:_READ_FIRST], hits[:_READ_FIRST], self.checker)
            if verdict.support == "supported":
                return verdict
        verdict = await judge_claim(claim, cited, hits, self.checker)
        if verdict.support == "unsupported" and not cited and hits and all(hit.kind == "code" for hit in hits):
            return replace(verdict, support="unknown", reason=Reason("code"))
        return verdict

    async def _find_passages(self, claim: ClaimText) -> tuple[list[Passage], list[Passage]]:
        """Return the passages of the sources that a claim cites, and those that its words find."""
        words = strip_claim_markup(claim.text)
        if find_skip_reason(words, bool(claim.handles)):
            return [], []
        entries = [self._source_list[handle] for handle in claim.handles if handle in self._source_list]
        hits = await self.search(Query(words), _CITED_SEARCH_DEPTH if entries else PASSAGES_PER_CLAIM)
        cited = [hit for hit in hits if any(_is_listed_source(hit, entry) for entry in entries)]
        if not cited:  # The claim's own words do not find its source; the entry's words may.
            for entry in entries:
                found = await self.search(Query(f"{entry} {words}"), _CITED_SEARCH_DEPTH)
                cited += [hit for hit in found if _is_listed_source(hit, entry)]
        return cited[:PASSAGES_PER_CLAIM], list(hits[:PASSAGES_PER_CLAIM])

    async def _ask_model(self) -> list[ClaimVerdict | None]:
        """Return the verdicts of the language model; ``None`` for claims that it was not asked about or left out."""
        assert self.ask is not None
        handles: dict[str, str] = {}
        passages: dict[str, Passage] = {}
        asked: dict[int, ClaimText] = {}  # With the handles of the passages found for them.
        for number, claim in enumerate(self.claim_texts):
            cited, hits = await self._find_passages(claim)
            found = (cited or hits)[:PASSAGES_FOR_MODEL]
            own = {handles.setdefault(one.id, f"[{len(handles) + 1}]"): one for one in found}
            passages |= own
            if own:
                asked[number] = replace(claim, text=strip_claim_markup(claim.text), handles=tuple(own))
        checked = await check_draft(list(asked.values()), passages, self.ask, MODEL_PROMPT_TOKENS, again=False)
        verdicts = dict(zip(asked, checked, strict=True))
        return [
            None if (verdict := verdicts.get(number)) is None else verdict.about(claim)
            for number, claim in enumerate(self.claim_texts)
        ]

    def _build_claim(self, verdict: ClaimVerdict) -> Claim:
        spans = tuple(
            Span(self._assign_handle(quote.passage), quote.text, quote.location, stance)
            for quote, stance in verdict.quotes
        )
        quote = verdict.deciding_quote
        return Claim(
            verdict.claim.text,
            verdict.claim.handles,
            verdict.support,
            spans,
            describe_reason(verdict.reason),
            build_evidence(verdict, spans[0].source if spans else ""),
            "" if quote is None else quote.checker,
            None if quote is None else quote.probability,
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


def _is_listed_source(passage: Passage, entry: str) -> bool:
    """Whether the entry names the path, file, record or title that the passage comes from."""
    place = passage.place
    if place.record is not None:
        return _mentions(f"{place.path}#{place.record}", entry) or _mentions(passage.title, entry)
    names = (place.path, place.path.rsplit("/", 1)[-1], passage.title)
    return any(_mentions(name, entry) for name in names)


def _mentions(name: str, entry: str) -> bool:
    return len(name) > 3 and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", entry) is not None
