"""Verify a draft before it is shown: every claim in it is supported by a source, or marked, or removed.

    each claim ─▶ supported by its citation ─▶ stays
                ─▶ supported by another source ─▶ gets that citation
                ─▶ neither ─▶ is searched for once, if the budget allows
                ─▶ still neither ─▶ is replaced or removed (``fix``), and listed under the open questions

Verdicts are cached, so verifying a revision costs only its new sentences.
"""

import asyncio
import heapq
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from textwrap import shorten

from suffice.claims.checker import Checker
from suffice.claims.figures import find_missing_figure
from suffice.claims.fix import apply_fixes
from suffice.claims.split import CONTRADICTED_MARK, UNSUPPORTED_MARK, ClaimText, extract_claims, strip_claim_markup
from suffice.claims.verdict import ClaimVerdict, judge_claim
from suffice.errors import SearchError
from suffice.events import CheckingClaim
from suffice.models.base import is_language_model
from suffice.prompts import CheckSupport, SupportResponse, SynthesisResponse
from suffice.search.base import Search
from suffice.search.resilience import to_failure
from suffice.state.run import RunState
from suffice.state.search_log import SEARCH_TIMED_OUT
from suffice.text.citations import has_citation, strip_citations
from suffice.text.entities import content_stems
from suffice.text.markdown import drop_empty_headings
from suffice.types import Hits, Passage, Query, Round

AskSupport = Callable[[CheckSupport], Awaitable[SupportResponse | None]]
CleanDraft = Callable[[SynthesisResponse], SynthesisResponse]
"""Prepares a draft for verification: drops unknown citations and whatever else must not reach a reader."""

PASSAGES_PER_CLAIM = 6  # Passages besides the cited ones that a claim is judged by.
MAX_CLAIM_QUERIES = 5  # Claims that are searched for each time a draft is verified.
_MAX_QUOTED_CHARS = 200
_OPEN_QUESTION = re.compile(
    r"\?\s*$|^\W*(?:whether|how|what|why|who|when|where|which)\b|\b(?:not|no|missing|unknown|unclear|lacks?|lacking)\b",
    re.I,
)
_LEFT_OUT_PREFIX = "Left out, because no source supports it: "
_SUPPORT_MARKS = re.compile(rf"\s*(?:{re.escape(UNSUPPORTED_MARK)}|{re.escape(CONTRADICTED_MARK)})")


def make_ask_support(run: RunState) -> AskSupport | None:
    """Return how to ask the run's model about a claim while the budget lasts; ``None`` without a language model."""
    if not is_language_model(run.model):
        return None

    async def ask(prompt: CheckSupport) -> SupportResponse | None:
        if run.budget.is_spent():
            run.record_refused(prompt.role)
            return None
        run.event_queue.add(CheckingClaim(prompt.claim))
        return await run.try_ask(prompt)

    return ask


class ClaimVerifier:
    """Verifies the drafts of one run and caches the verdicts on their claims."""

    def __init__(
        self, run: RunState, search: Search, checker: Checker, clean: CleanDraft, *, strict: bool = True
    ) -> None:
        self._run = run
        self._search = search
        self._checker = checker
        self._clean = clean
        self._strict = strict
        self._is_lexical_only = False
        self._verdict_cache: dict[tuple[str, tuple[str, ...]], tuple[int, ClaimVerdict]] = {}
        self._searched_claims: set[str] = set()
        self._verified: dict[str, tuple[ClaimVerdict, ...]] = {}

    async def __call__(self, draft: SynthesisResponse) -> SynthesisResponse:
        """Return the draft with every unsupported claim fixed or removed; a lenient run marks such claims instead."""
        try:
            async with self._run.budget.time_limit():
                return await self._verify(draft)
        except TimeoutError:
            return await self.verify_lexically(draft)

    async def verify_lexically(self, draft: SynthesisResponse) -> SynthesisResponse:
        """Verify by words and numbers alone, without a search or a model, from now on.

        Used when the time is up and after an interruption.
        """
        self._checker, self._is_lexical_only = Checker(), True
        return await self._verify(draft)

    @property
    def checker_name(self) -> str:
        """The name of the checker that judges the claims, such as ``lexical+reader``."""
        return self._checker.name

    def get_verdicts(self, verified: SynthesisResponse | None) -> tuple[ClaimVerdict, ...]:
        """Return the verdicts on a verified text."""
        return self._verified.get("" if verified is None else verified.answer, ())

    async def _verify(self, draft: SynthesisResponse) -> SynthesisResponse:
        draft = self._clean(draft)
        answer = drop_empty_headings(_SUPPORT_MARKS.sub("", draft.answer))
        verdicts = await self.check_claims(answer)
        if await self._search_unsupported(verdicts):
            verdicts = await self.check_claims(answer)
        answer, removed = self._apply_fixes(answer, verdicts)
        verdicts = await self.check_claims(answer)
        self._verified[answer] = tuple(verdicts)
        summary, left_out = await self._verify_line(_SUPPORT_MARKS.sub("", draft.summary))
        questions = (
            *(line for line in draft.open_questions if _is_open_question(line)),
            *map(self._describe_removed, (*removed, *left_out)),
        )
        return replace(
            draft,
            answer=answer,
            summary=summary,
            key_findings=await self._verify_lines(draft.key_findings),
            recommendations=tuple(line for line in draft.recommendations if self._is_grounded(line)),
            risks=await self._verify_lines(draft.risks),
            open_questions=tuple(dict.fromkeys(questions)),
        )

    # -- checking ------------------------------------------------------------------------------------------------------

    async def check_claims(self, text: str) -> list[ClaimVerdict]:
        """Return the verdicts on the claims of a text, which stays as it is."""
        return [await self._check_claim(claim) for claim in extract_claims(text, skip_asides=False)]

    async def _check_claim(self, claim: ClaimText) -> ClaimVerdict:
        """Return the cached verdict, unless it found no support and there is new evidence."""
        key, size = (strip_claim_markup(claim.text), claim.handles), len(self._run.evidence)
        checked_size, verdict = self._verdict_cache.get(key, (-1, None))
        if verdict is None or (checked_size != size and not verdict.supporting and verdict.support != "unknown"):
            cited = [passage for handle in claim.handles if (passage := self._run.evidence.find_passage(handle))]
            verdict = await judge_claim(claim, cited, self._rank_passages(claim), self._checker)
            self._verdict_cache[key] = size, verdict
        return replace(verdict, claim=claim)

    def _rank_passages(self, claim: ClaimText) -> list[Passage]:
        """Return the passages that share most words with the claim."""
        stems = content_stems(strip_claim_markup(claim.text))
        shared = ((len(stems & content_stems(f"{item.title} {item.text}")), item) for item in self._run.evidence)
        best = heapq.nlargest(
            PASSAGES_PER_CLAIM, ((count, -i, item) for i, (count, item) in enumerate(shared) if count)
        )
        return [passage for _, _, passage in best]

    async def _search_unsupported(self, verdicts: Iterable[ClaimVerdict]) -> bool:
        """Search for the unsupported claims, each once, and return whether that found new evidence."""
        unsupported = [
            verdict.plain_text
            for verdict in verdicts
            if _lacks_near_source(verdict) and verdict.uncited_support is None
        ]
        new = [claim for claim in dict.fromkeys(unsupported) if claim not in self._searched_claims][:MAX_CLAIM_QUERIES]
        queries = self._run.filter_new_queries([Query(claim, "support for a claim") for claim in new])
        if not queries or self._is_lexical_only or self._run.is_degraded or self._run.budget.seconds_left == 0:
            return False
        self._searched_claims.update(new)
        size = len(self._run.evidence)
        hits = await asyncio.gather(*map(self._search_query, queries))
        found = {passage.id: passage for each in hits for passage in each.passages}
        self._run.record_searches(Round(len(self._run.records), tuple(hits), tuple(found.values()), ()))
        for passage in found.values():
            self._run.evidence.add(passage)
        return len(self._run.evidence) > size

    async def _search_query(self, query: Query) -> Hits:
        try:
            async with self._run.budget.time_limit():
                return Hits(query, tuple(await self._search(query, PASSAGES_PER_CLAIM)))
        except TimeoutError:
            return Hits(query, failure=SEARCH_TIMED_OUT)
        except SearchError as error:
            return Hits(query, failure=to_failure(error))

    # -- what the fixes leave ------------------------------------------------------------------------------------------

    def _describe_removed(self, verdict: ClaimVerdict) -> str:
        return f"{_LEFT_OUT_PREFIX}{strip_citations(verdict.plain_text)}{self._quote_instead(verdict)}"

    def _quote_instead(self, verdict: ClaimVerdict) -> str:
        """Return what a source says instead of a removed claim; empty if no source says anything near it."""
        quote = next(iter(verdict.contradicting), verdict.nearest)
        if quote is None:
            return ""
        said = shorten(strip_citations(" ".join(quote.text.split())), _MAX_QUOTED_CHARS, placeholder=" …")
        return f" (a source says: “{said}” {self._run.evidence.get_handle(quote.passage)})"

    def _is_grounded(self, advice: str) -> bool:
        """Whether the names and numbers of a recommendation are in the sources it cites. Advice itself cannot be checked."""
        for claim in extract_claims(advice, skip_asides=False):
            passages = (self._run.evidence.find_passage(handle) for handle in claim.handles)
            cited = "\n".join(f"{passage.title}\n{passage.text}" for passage in passages if passage is not None)
            if find_missing_figure(strip_claim_markup(claim.text), [cited]):
                return False
        return True

    async def _verify_lines(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Return findings or risks with their citations fixed, without the unsupported ones unless the run is lenient."""
        return tuple(filter(None, [(await self._verify_line(line))[0] for line in lines]))

    async def _verify_line(self, line: str) -> tuple[str, tuple[ClaimVerdict, ...]]:
        """Return a line with its citations fixed, empty without a supported claim, and what was removed from it."""
        fixed, removed = self._apply_fixes(line, await self.check_claims(line))
        return fixed.strip() if any(map(str.isalnum, fixed)) else "", removed

    def _apply_fixes(self, text: str, verdicts: Iterable[ClaimVerdict]) -> tuple[str, tuple[ClaimVerdict, ...]]:
        pairs = list(zip(extract_claims(text, skip_asides=False), verdicts, strict=True))
        fixed = apply_fixes(text, pairs, self._run.evidence.get_handle, strict=self._strict)
        return fixed.text, fixed.removed


def list_left_out(verified: SynthesisResponse) -> tuple[str, ...]:
    """Return the lines that say which claims were left out of a draft."""
    return tuple(line for line in verified.open_questions if line.startswith(_LEFT_OUT_PREFIX))


def has_lost_all_claims(verified: SynthesisResponse) -> bool:
    """Whether the draft made claims and none of them was supported."""
    return not has_citation(verified.answer) and bool(list_left_out(verified))


def _lacks_near_source(verdict: ClaimVerdict) -> bool:
    return verdict.support == "unsupported"


def _is_open_question(line: str) -> bool:
    """Whether a line asks something or names something missing. A line with a citation or a number is a statement."""
    return bool(_OPEN_QUESTION.search(line)) or not (has_citation(line) or any(map(str.isdigit, line)))
