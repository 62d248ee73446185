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

from suffice.asks import Support, SupportResponse, SynthesisResponse
from suffice.errors import SearchError
from suffice.events import Checking
from suffice.models.base import speaks
from suffice.run import LATE, Run
from suffice.search.base import Search
from suffice.spending import spent
from suffice.text.entities import content_stems
from suffice.text.markup import CITATION, escape
from suffice.types import Failure, Hits, Passage, Query, Round
from suffice.write.checkers import Checker, Lexical, Question
from suffice.write.checkers.lexical import lacks_a_name, lacks_a_number
from suffice.write.claims import CONTRADICTED, UNSUPPORTED, Statement, statements
from suffice.write.report import checked as checked_citations
from suffice.write.verdicts import Checked, Spoken, judge

PASSAGES = 6  # Passages beside the cited ones that a claim is held against.
QUERIES = 5  # Claims searched for once more, at most, each time something is settled.
_NEAR = 0.7  # A stretch that shares this much with a claim is what the evidence says to it.
_END = re.compile(r"[.!?…。！？][\"'”’)\]*_]*$")
_OPEN = re.compile(
    r"\?\s*$|^\W*(?:whether|how|what|why|who|when|where|which)\b|\b(?:not|no|missing|unknown|unclear|lacks?|lacking)\b",
    re.I,
)
_LEFT_OUT = "Left out, because no source supports it: "
_MARKS = re.compile(rf"\s*(?:{re.escape(UNSUPPORTED)}|{re.escape(CONTRADICTED)})")


def asking(run: Run) -> Question | None:
    """How a run's own model is asked about a claim: while the budget lasts. Without words of its own it is not asked."""
    if not speaks(run.model):
        return None

    async def ask(question: Support) -> SupportResponse | None:
        if spent(run):
            return None
        run.happenings.add(Checking(question.claim))
        return await run.attempt(question)

    return ask


class Settling:
    """Settles every text of one run; keeps what it has found out about a claim."""

    def __init__(self, run: Run, search: Search, checker: Checker, *, strict: bool = True) -> None:
        self._run = run
        self._search = search
        self._checker = checker
        self._strict = strict
        self._hurried = False
        self._known: dict[tuple[str, tuple[str, ...]], tuple[int, Checked]] = {}
        self._looked_for: set[str] = set()
        self._settled: dict[str, tuple[Checked, ...]] = {}

    async def __call__(self, written: SynthesisResponse) -> SynthesisResponse:
        """The text with no claim in it that the evidence does not hold, unless lenient: then such claims are marked."""
        try:
            async with asyncio.timeout(self._run.seconds_left):
                return await self._settle(written)
        except TimeoutError:
            return await self.at_once(written)

    async def _settle(self, written: SynthesisResponse) -> SynthesisResponse:
        written = checked_citations(self._run, written)
        answer = _MARKS.sub("", written.answer)
        checked = await self._judged(answer)
        if await self._searched_again(checked):
            checked = await self._judged(answer)
        answer, lost = self._mended(answer, checked)
        checked = await self._judged(answer)
        if self._strict:  # What was put in its place is held to the same measure.
            answer, more = self._mended(answer, checked, replacing=False)
            lost = (*lost, *more)
            checked = await self._judged(answer)
        self._settled[answer] = tuple(checked)
        asked = (line for line in written.open_questions if _is_open(line))
        questions = (*asked, *(f"{_LEFT_OUT}{claim}" for claim in lost))
        return SynthesisResponse(
            answer,
            summary=" ".join(await self._lines([_MARKS.sub("", written.summary)])),
            key_findings=await self._lines(written.key_findings),
            recommendations=tuple(line for line in written.recommendations if self._grounded(line)),
            risks=await self._lines(written.risks),
            open_questions=tuple(dict.fromkeys(questions)),
        )

    async def at_once(self, written: SynthesisResponse) -> SynthesisResponse:
        """The same for somebody who will not wait: by words and figures alone, without a search or a model."""
        self._checker, self._hurried = Lexical(), True
        return await self._settle(written)

    def claims(self, written: SynthesisResponse | None) -> tuple[Checked, ...]:
        """The verdicts on a text that was settled."""
        return self._settled.get("" if written is None else written.answer, ())

    # -- checking ------------------------------------------------------------------------------------------------------

    async def _judged(self, text: str) -> list[Checked]:
        return [await self._checked(statement) for statement in statements(text, asides=False)]

    async def _checked(self, statement: Statement) -> Checked:
        """The verdict; known ones are taken again only when they found no support and there is new evidence."""
        key, size = (statement.said, statement.handles), len(self._run.evidence)
        seen, known = self._known.get(key, (-1, None))
        if known is None or (seen != size and not known.supporting and not statement.idle):
            cited = [passage for handle in statement.handles if (passage := self._run.evidence.find(handle))]
            known = await judge(statement, cited, self._likely(statement), self._checker)
            self._known[key] = size, known
        return replace(known, statement=statement)

    def _likely(self, statement: Statement) -> list[Passage]:
        """The passages that share most words with the claim; one pass over the evidence, nothing kept."""
        wanted = content_stems(statement.said)
        shares = ((len(wanted & content_stems(f"{own.title} {own.text}")), own) for own in self._run.evidence)
        best = heapq.nlargest(PASSAGES, ((share, -i, own) for i, (share, own) in enumerate(shares) if share))
        return [passage for _, _, passage in best]

    async def _searched_again(self, checked: Iterable[Checked]) -> bool:
        """Whether searching for unsupported claims brought new evidence. Each claim is searched for once."""
        lacking = [one.statement.said for one in checked if one.support == "unsupported" and one.elsewhere is None]
        fresh = [said for said in dict.fromkeys(lacking) if said not in self._looked_for][:QUERIES]
        queries = self._run.fresh([Query(said, "support for a claim") for said in fresh])
        if not queries or self._hurried or self._run.degraded or self._run.seconds_left == 0:
            return False
        self._looked_for.update(fresh)
        before = len(self._run.evidence)
        hits = await asyncio.gather(*map(self._hits, queries))
        found = {hit.id: hit for each in hits for hit in each.passages}
        round = Round(len(self._run.records), tuple(hits), tuple(found.values()), ())
        self._run.searched(round)
        for passage in found.values():
            self._run.evidence.add(passage)
        return len(self._run.evidence) > before

    async def _hits(self, query: Query) -> Hits:
        try:
            async with asyncio.timeout(self._run.seconds_left):
                return Hits(query, tuple(await self._search(query, PASSAGES)))
        except TimeoutError:
            return Hits(query, failure=LATE)
        except SearchError as error:
            return Hits(
                query, failure=Failure("search", type(error).__name__, str(error), error.retryable, error.attempt)
            )

    # -- mending -------------------------------------------------------------------------------------------------------

    def _mended(self, text: str, checked: Sequence[Checked], replacing: bool = True) -> tuple[str, tuple[str, ...]]:
        """The text with each claim mended or gone, and the claims that went. Sentences without fault are not touched."""
        lost: list[str] = []
        sentences = [(where, list(own)) for where, own in groupby(checked, key=lambda one: one.statement.sentence)]
        for (start, end), own in reversed(sentences):
            if all(self._fine(one) for one in own):
                continue
            pieces = [self._piece(one, text, replacing, lost) for one in own]
            text = _put(text, start, end, " ".join(piece for piece in pieces if piece))
        return text, tuple(reversed(lost))

    def _fine(self, one: Checked) -> bool:
        return one.support == "unknown" or (one.support == "supported" and bool(one.statement.handles))

    def _piece(self, one: Checked, text: str, replacing: bool, lost: list[str]) -> str:
        """What stands for a claim after mending, as a sentence of its own; empty when it goes."""
        statement = one.statement
        said = text[statement.whole[0] : statement.whole[1]].strip()
        if self._fine(one):
            return _sentence(said)
        support = one.elsewhere or next(iter(one.supporting), None)
        if support is not None:
            return f"{_sentence(statement.text)} {self._run.evidence.handle(support.passage)}"
        if not self._strict:
            return f"{_sentence(said)} {CONTRADICTED if one.support == 'contradicted' else UNSUPPORTED}"
        nearest = next(iter(one.against), one.nearest)
        if replacing and nearest is not None and nearest.finding.near >= _NEAR:
            instead = self._quoted(nearest)
            if instead not in text:
                return instead
        lost.append(statement.said)
        return ""

    def _quoted(self, spoken: Spoken) -> str:
        return f"{escape(' '.join(spoken.quote.split()))} {self._run.evidence.handle(spoken.passage)}"

    def _grounded(self, advice: str) -> bool:
        """Advice says what to do, which no source can bear out; what it names and counts must stand in the sources it cites."""
        for statement in statements(advice, asides=False):
            found = (self._run.evidence.find(handle) for handle in statement.handles)
            cited = "\n".join(f"{passage.title}\n{passage.text}" for passage in found if passage is not None)
            if lacks_a_number(statement.said, cited) or lacks_a_name(statement.said, cited):
                return False
        return True

    async def _lines(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Findings and risks: mended where another citation mends them, else gone (or kept, if lenient)."""
        kept = []
        for line in lines:
            mended, _ = self._mended(line, await self._judged(line), replacing=False)
            if any(character.isalnum() for character in mended):
                kept.append(mended.strip())
        return tuple(kept)


def _is_open(line: str) -> bool:
    """It asks, or says that something is missing; a line that cites a source or gives a figure states something instead."""
    return bool(_OPEN.search(line)) or not (CITATION.search(line) or any(map(str.isdigit, line)))


def lost(settled: SynthesisResponse) -> bool:
    """Whether something was claimed and nothing of it could be borne out."""
    return not CITATION.search(settled.answer) and any(line.startswith(_LEFT_OUT) for line in settled.open_questions)


def _sentence(text: str) -> str:
    """A clause as a sentence: a capital letter in front, a full stop at the end."""
    text = text.strip().rstrip(",;")
    cited = re.search(r"(?:\s*\[\d{1,4}\])+$", text)
    body = text[: cited.start()] if cited else text
    if not _END.search(body):
        body += "."
    return body[:1].upper() + body[1:] + (cited.group() if cited else "")


def _put(text: str, start: int, end: int, instead: str) -> str:
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
    return _without_empty_headings(text[:first] + text[last + 1 :])


def _without_empty_headings(text: str) -> str:
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
