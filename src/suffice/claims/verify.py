"""Fail closed: what is written is settled before anybody reads it.

    each claim ─▶ supported by its citation ─▶ stays
                ─▶ supported by another source ─▶ is given that citation
                ─▶ neither ─▶ searched for once, if the budget allows
                ─▶ still neither ─▶ replaced by the sentence of the source that comes nearest, if one does
                ─▶ else removed, and listed under the open questions

A lenient run keeps the last two and marks them. Text that was settled before costs nothing when it is settled again: a
revision pays for its new sentences only.
"""

import asyncio
import heapq
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from suffice.claims.checkers import AskSupport, Checker, LexicalChecker
from suffice.claims.checkers.lexical import lacks_a_name, lacks_a_number
from suffice.claims.citations import check_citations as checked_citations
from suffice.claims.split import CONTRADICTED_MARK, UNSUPPORTED_MARK, ClaimText, extract_claims
from suffice.claims.verdict import ClaimVerdict, Quote, judge_claim
from suffice.errors import SearchError
from suffice.events import CheckingClaim
from suffice.models.base import is_language_model
from suffice.prompts import CheckSupport, SupportResponse, SynthesisResponse
from suffice.search.base import Search
from suffice.state.budget import is_budget_spent
from suffice.state.run import SEARCH_TIMED_OUT, RunState
from suffice.text.entities import content_stems
from suffice.text.markdown import CITATION, escape_markdown
from suffice.types import Failure, Hits, Passage, Query, Round

PASSAGES_PER_CLAIM = 6  # Passages beside the cited ones that a claim is held against.
MAX_CLAIM_QUERIES = 5  # Claims searched for once more, at most, each time something is settled.
_MIN_REPLACEMENT_OVERLAP = 0.7  # A stretch that shares this much with a claim is what the evidence says to it.
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]*_]*$")
_OPEN_QUESTION = re.compile(
    r"\?\s*$|^\W*(?:whether|how|what|why|who|when|where|which)\b|\b(?:not|no|missing|unknown|unclear|lacks?|lacking)\b",
    re.I,
)
_LEFT_OUT_PREFIX = "Left out, because no source supports it: "
_SUPPORT_MARKS = re.compile(rf"\s*(?:{re.escape(UNSUPPORTED_MARK)}|{re.escape(CONTRADICTED_MARK)})")


def make_ask_support(run: RunState) -> AskSupport | None:
    """How a run's own model is asked about a claim: while the budget lasts. Without words of its own it is not asked."""
    if not is_language_model(run.model):
        return None

    async def ask(question: CheckSupport) -> SupportResponse | None:
        if is_budget_spent(run):
            return None
        run.event_queue.add(CheckingClaim(question.claim))
        return await run.try_ask(question)

    return ask


class ClaimVerifier:
    """Settles every text of one run; keeps what it has found out about a claim."""

    def __init__(self, run: RunState, search: Search, checker: Checker, *, strict: bool = True) -> None:
        self._run = run
        self._search = search
        self._checker = checker
        self._strict = strict
        self._is_lexical_only = False
        self._verdict_cache: dict[tuple[str, tuple[str, ...]], tuple[int, ClaimVerdict]] = {}
        self._searched_claims: set[str] = set()
        self._verified: dict[str, tuple[ClaimVerdict, ...]] = {}

    async def __call__(self, written: SynthesisResponse) -> SynthesisResponse:
        """The text with no claim in it that the evidence does not hold, unless lenient: then such claims are marked."""
        try:
            async with asyncio.timeout(self._run.seconds_left):
                return await self._verify(written)
        except TimeoutError:
            return await self.verify_lexically(written)

    async def _verify(self, written: SynthesisResponse) -> SynthesisResponse:
        written = checked_citations(self._run, written)
        answer = _SUPPORT_MARKS.sub("", written.answer)
        checked = await self._check_claims(answer)
        if await self._search_unsupported(checked):
            checked = await self._check_claims(answer)
        answer, lost = self.apply_fixes(answer, checked)
        checked = await self._check_claims(answer)
        if self._strict:  # What was put in its place is held to the same measure.
            answer, more = self.apply_fixes(answer, checked, allow_replacement=False)
            lost = (*lost, *more)
            checked = await self._check_claims(answer)
        self._verified[answer] = tuple(checked)
        asked = (line for line in written.open_questions if _is_open_question(line))
        questions = (*asked, *(f"{_LEFT_OUT_PREFIX}{claim}" for claim in lost))
        return SynthesisResponse(
            answer,
            summary=" ".join(await self._verify_lines([_SUPPORT_MARKS.sub("", written.summary)])),
            key_findings=await self._verify_lines(written.key_findings),
            recommendations=tuple(line for line in written.recommendations if self._is_grounded(line)),
            risks=await self._verify_lines(written.risks),
            open_questions=tuple(dict.fromkeys(questions)),
        )

    async def verify_lexically(self, written: SynthesisResponse) -> SynthesisResponse:
        """The same for somebody who will not wait: by words and figures alone, without a search or a model."""
        self._checker, self._is_lexical_only = LexicalChecker(), True
        return await self._verify(written)

    def get_verdicts(self, written: SynthesisResponse | None) -> tuple[ClaimVerdict, ...]:
        """The verdicts on a text that was settled."""
        return self._verified.get("" if written is None else written.answer, ())

    # -- checking ------------------------------------------------------------------------------------------------------

    async def _check_claims(self, text: str) -> list[ClaimVerdict]:
        return [await self._check_claim(statement) for statement in extract_claims(text, skip_asides=False)]

    async def _check_claim(self, statement: ClaimText) -> ClaimVerdict:
        """The verdict; known ones are taken again only when they found no support and there is new evidence."""
        key, size = (statement.plain_text, statement.handles), len(self._run.evidence)
        seen, known = self._verdict_cache.get(key, (-1, None))
        if known is None or (seen != size and not known.supporting and not statement.skip_reason):
            cited = [passage for handle in statement.handles if (passage := self._run.evidence.find_passage(handle))]
            known = await judge_claim(statement, cited, self._rank_passages(statement), self._checker)
            self._verdict_cache[key] = size, known
        return replace(known, claim=statement)

    def _rank_passages(self, statement: ClaimText) -> list[Passage]:
        """The passages that share most words with the claim; one pass over the evidence, nothing kept."""
        wanted = content_stems(statement.plain_text)
        shares = ((len(wanted & content_stems(f"{own.title} {own.text}")), own) for own in self._run.evidence)
        best = heapq.nlargest(PASSAGES_PER_CLAIM, ((share, -i, own) for i, (share, own) in enumerate(shares) if share))
        return [passage for _, _, passage in best]

    async def _search_unsupported(self, checked: Iterable[ClaimVerdict]) -> bool:
        """Whether searching for unsupported claims brought new evidence. Each claim is searched for once."""
        lacking = [
            one.claim.plain_text for one in checked if one.support == "unsupported" and one.uncited_support is None
        ]
        fresh = [said for said in dict.fromkeys(lacking) if said not in self._searched_claims][:MAX_CLAIM_QUERIES]
        queries = self._run.filter_new_queries([Query(said, "support for a claim") for said in fresh])
        if not queries or self._is_lexical_only or self._run.is_degraded or self._run.seconds_left == 0:
            return False
        self._searched_claims.update(fresh)
        before = len(self._run.evidence)
        hits = await asyncio.gather(*map(self._search_query, queries))
        found = {hit.id: hit for each in hits for hit in each.passages}
        round = Round(len(self._run.records), tuple(hits), tuple(found.values()), ())
        self._run.record_searches(round)
        for passage in found.values():
            self._run.evidence.add(passage)
        return len(self._run.evidence) > before

    async def _search_query(self, query: Query) -> Hits:
        try:
            async with asyncio.timeout(self._run.seconds_left):
                return Hits(query, tuple(await self._search(query, PASSAGES_PER_CLAIM)))
        except TimeoutError:
            return Hits(query, failure=SEARCH_TIMED_OUT)
        except SearchError as error:
            return Hits(
                query, failure=Failure("search", type(error).__name__, str(error), error.retryable, error.attempt)
            )

    # -- mending -------------------------------------------------------------------------------------------------------

    def apply_fixes(
        self, text: str, checked: Sequence[ClaimVerdict], allow_replacement: bool = True
    ) -> tuple[str, tuple[str, ...]]:
        """The text with each claim mended or gone, and the claims that went. Sentences without fault are not touched."""
        lost: list[str] = []
        sentences = [(where, list(own)) for where, own in groupby(checked, key=lambda one: one.claim.sentence_span)]
        for (start, end), own in reversed(sentences):
            if all(self._is_acceptable(one) for one in own):
                continue
            pieces = [self._fix_claim(one, text, allow_replacement, lost) for one in own]
            text = _replace_span(text, start, end, " ".join(piece for piece in pieces if piece))
        return text, tuple(reversed(lost))

    def _is_acceptable(self, one: ClaimVerdict) -> bool:
        return one.support == "unknown" or (one.support == "supported" and bool(one.claim.handles))

    def _fix_claim(self, one: ClaimVerdict, text: str, replacing: bool, lost: list[str]) -> str:
        """What stands for a claim after mending, as a sentence of its own; empty when it goes."""
        statement = one.claim
        said = text[statement.full_span[0] : statement.full_span[1]].strip()
        if self._is_acceptable(one):
            return _to_sentence(said)
        support = one.uncited_support or next(iter(one.supporting), None)
        if support is not None:
            return f"{_to_sentence(statement.text)} {self._run.evidence.get_handle(support.passage)}"
        if not self._strict:
            return f"{_to_sentence(said)} {CONTRADICTED_MARK if one.support == 'contradicted' else UNSUPPORTED_MARK}"
        nearest = next(iter(one.contradicting), one.nearest)
        if replacing and nearest is not None and nearest.span.overlap >= _MIN_REPLACEMENT_OVERLAP:
            instead = self._format_quote(nearest)
            if instead not in text:
                return instead
        lost.append(statement.plain_text)
        return ""

    def _format_quote(self, spoken: Quote) -> str:
        return f"{escape_markdown(' '.join(spoken.text.split()))} {self._run.evidence.get_handle(spoken.passage)}"

    def _is_grounded(self, advice: str) -> bool:
        """Advice says what to do, which no source can bear out; what it names and counts must stand in the sources it cites."""
        for statement in extract_claims(advice, skip_asides=False):
            found = (self._run.evidence.find_passage(handle) for handle in statement.handles)
            cited = "\n".join(f"{passage.title}\n{passage.text}" for passage in found if passage is not None)
            if lacks_a_number(statement.plain_text, cited) or lacks_a_name(statement.plain_text, cited):
                return False
        return True

    async def _verify_lines(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Findings and risks: mended where another citation mends them, else gone (or kept, if lenient)."""
        kept = []
        for line in lines:
            mended, _ = self.apply_fixes(line, await self._check_claims(line), allow_replacement=False)
            if any(character.isalnum() for character in mended):
                kept.append(mended.strip())
        return tuple(kept)


def _is_open_question(line: str) -> bool:
    """It asks, or says that something is missing; a line that cites a source or gives a figure states something instead."""
    return bool(_OPEN_QUESTION.search(line)) or not (CITATION.search(line) or any(map(str.isdigit, line)))


def has_lost_all_claims(settled: SynthesisResponse) -> bool:
    """Whether something was claimed and nothing of it could be borne out."""
    return not CITATION.search(settled.answer) and any(
        line.startswith(_LEFT_OUT_PREFIX) for line in settled.open_questions
    )


def _to_sentence(text: str) -> str:
    """A clause as a sentence: a capital letter in front, a full stop at the end."""
    text = text.strip().rstrip(",;")
    cited = re.search(r"(?:\s*\[\d{1,4}\])+$", text)
    body = text[: cited.start()] if cited else text
    if not _SENTENCE_END.search(body):
        body += "."
    return body[:1].upper() + body[1:] + (cited.group() if cited else "")


def _replace_span(text: str, start: int, end: int, instead: str) -> str:
    """The text with a stretch replaced; a line that is left without a word goes as a whole."""
    if instead:
        return text[:start] + instead + text[end:]
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    last = len(text) if last < 0 else last
    rest = text[first:start] + text[end:last]
    if any(character.isalpha() for character in rest):
        return (
            text[:start].rstrip(" ")
            + (" " if text[end:last].strip() and start > first else "")
            + text[end:].lstrip(" ")
        )
    return _drop_empty_headings(text[:first] + text[last + 1 :])


def _drop_empty_headings(text: str) -> str:
    """No heading over nothing, no wide gap where something was."""
    blocks = [block for block in re.split(r"\n\s*\n", text) if block.strip()]
    kept: list[str] = []
    for number, block in enumerate(blocks):
        level = re.match(r"(#{1,6})\s", block)
        following = blocks[number + 1] if number + 1 < len(blocks) else "# end"
        next_level = re.match(r"(#{1,6})\s", following)
        if level and "\n" not in block.strip() and next_level and len(next_level[1]) <= len(level[1]):
            continue
        kept.append(block.strip("\n"))
    return "\n\n".join(kept)
