"""Verify a draft before it is shown: every statement in it is supported by a source, or marked, or removed.

    each statement ─▶ supported by its citation ─▶ stays
                   ─▶ supported by another source ─▶ gets that citation
                   ─▶ neither ─▶ is searched for once, if the budget allows
                   ─▶ still neither ─▶ goes back to a strong writer, once; repeated, if only a figure is doubted, it is unknown
                   ─▶ still neither ─▶ is removed and listed with the reason, or marked in a lenient run

Quotations are their own evidence: other passages are only searched for disagreement. Verdicts are cached, so verifying a
revision costs only its new sentences.
"""

import asyncio
import heapq
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from suffice.answers import Draft, Finding, Quotation, Statement
from suffice.claims.checker import Checker
from suffice.claims.figures import find_missing_figure, list_claim_figures
from suffice.claims.split import CONTRADICTED_MARK, UNSUPPORTED_MARK
from suffice.claims.verdict import ClaimVerdict, Quote, find_contradicting, judge_claim
from suffice.errors import SearchError
from suffice.search.base import Search
from suffice.search.resilience import to_failure
from suffice.state.run import RunState
from suffice.state.search_log import SEARCH_TIMED_OUT
from suffice.text.entities import content_stems
from suffice.text.parts import cite
from suffice.text.sentences import Offsets, quotable_spans
from suffice.types import ROW_KINDS, Hits, Passage, Query, Reason, Round

PASSAGES_PER_CLAIM = 6  # Passages besides the cited ones that a claim is judged by.
MAX_CLAIM_QUERIES = 5  # Claims that are searched for each time a draft is verified, or issues each time it is reviewed.
_MAX_DISAGREEING = 3  # Passages that are read for disagreement with a quotation.
_MIN_OTHER_ANSWER = 0.5  # Probability from which on a quotation that answers the question differently disagrees.
_MIN_SHARED = 0.6  # Share of a quoted sentence's content words that a passage must have to be read for disagreement.
_PRONOUN = re.compile(r"(?:he|she|it|they|this|these|its|their|his|her)\b", re.IGNORECASE)

JudgeDraft = Callable[[Sequence[Statement], Draft], Awaitable[Sequence[ClaimVerdict | None]]]
"""Judges statements of a draft at once, as a language model does; ``None`` where it gave no verdict."""
MendStatements = Callable[[Sequence[ClaimVerdict], Draft], Awaitable[Mapping[Statement, tuple[Statement, ...]]]]
"""Lets the writer mend doubtful statements of a draft; each becomes one or more others, or none."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A verified draft: what is left of it, the verdicts on its statements and quotations, and on what was removed."""

    draft: Draft = Draft()
    verdicts: tuple[ClaimVerdict, ...] = ()
    removed: tuple[ClaimVerdict, ...] = ()
    has_lost_opening: bool = False
    """Whether nothing is left of its first sentence."""


@dataclass
class ClaimVerifier:
    """Verifies the drafts of one run and caches the verdicts on their statements."""

    run: RunState
    search: Search
    checker: Checker
    strict: bool = True
    judge_draft: JudgeDraft | None = None
    mend: MendStatements | None = None
    _is_offline: bool = False
    _cache: dict[Statement, tuple[int, ClaimVerdict]] = field(default_factory=dict)
    _by_model: dict[Statement, ClaimVerdict] = field(default_factory=dict)
    _stems: dict[str, frozenset[str]] = field(default_factory=dict)

    async def __call__(self, draft: Draft) -> Checked:
        """Return the draft with every unsupported statement mended or removed; a lenient run marks such statements."""
        try:
            async with self.run.budget.time_limit():
                return await self._verify(draft)
        except TimeoutError:
            return await self.verify_offline(draft)

    async def verify_offline(self, draft: Draft) -> Checked:
        """Verify without a search or a model, from now on: when the time is up and after an interruption."""
        self.checker, self._is_offline = Checker(), True
        return await self._verify(draft)

    @property
    def checker_name(self) -> str:
        return self.checker.name if self._is_offline or self.judge_draft is None else f"{self.checker.name}+model"

    async def _verify(self, draft: Draft) -> Checked:
        verdicts = await self._judge(draft.written, draft)
        unsupported = ((one, found) for one, found in verdicts.items() if found.support == "unsupported")
        lacking = {one: found.plain_text for one, found in unsupported if found.uncited_support is None}
        has_more = await self.find_more(lacking.values(), "support for a claim")
        if has_more and not self.run.is_strong:  # Else it mends first.
            verdicts |= await self._judge(list(lacking), draft)
        mended: Mapping[Statement, tuple[Statement, ...]] = {}
        doubtful = [one for one in verdicts.values() if not _is_acceptable(one) and one.uncited_support is None]
        if doubtful and self.mend is not None and not self._is_offline:
            mended = await self.mend(doubtful, draft)
            new = draft.replace_statements(lambda one: mended.get(one, (one,)))
            verdicts |= await self._judge([one for news in mended.values() for one in news], new)
        if has_more:
            verdicts |= await self._judge([one for one in lacking if one not in mended], draft)
        shown: dict[Statement, ClaimVerdict] = {}
        removed: dict[Statement, ClaimVerdict] = {}

        def settle(statement: Statement) -> tuple[Statement, ...]:
            kept: list[Statement] = []
            for new in mended.get(statement, (statement,)):
                if statement in mended and _is_confirmed(verdicts[new], verdicts[statement]):
                    verdicts[new] = replace(verdicts[new], support="unknown")
                settled = self._settle(verdicts[new])
                if settled is None:
                    removed[new] = verdicts[new]
                else:
                    kept.append(_get_statement(settled))
                    shown[kept[-1]] = settled
            if not mended.get(statement, (statement,)):  # The writer took it out.
                removed[statement] = verdicts[statement]
            return tuple(kept)

        left = draft.replace_statements(settle, self._name_subject)
        has_lost_opening = bool(draft.statements) and not settle(draft.statements[0])
        quoted = [await self._check_quotation(quotation, draft.quotations) for quotation in draft.quotations]
        quoted += [self._judge_finding(finding) for finding in draft.listed]
        checked = (*map(self._drop_other_matters, shown.values()), *quoted)
        return Checked(left, checked, tuple(removed.values()), has_lost_opening)

    # -- judging -------------------------------------------------------------------------------------------------------

    async def _judge(self, statements: Sequence[Statement], draft: Draft = Draft()) -> dict[Statement, ClaimVerdict]:
        """Return the verdict on each statement: cached ones, unless they found no support and there is new evidence."""
        size = len(self.run.evidence)
        verdicts: dict[Statement, ClaimVerdict] = {}
        new: list[Statement] = []
        for statement in dict.fromkeys(statements):
            checked_size, verdict = self._cache.get(statement, (-1, None))
            if verdict is None or (checked_size != size and not _is_acceptable(verdict)):
                new.append(statement)
            else:
                verdicts[statement] = verdict
        by_model: Sequence[ClaimVerdict | None] = [None] * len(new)
        if new and self.judge_draft is not None and not self._is_offline:
            by_model = await self.judge_draft(new, draft)
        for statement, given in zip(new, by_model, strict=True):
            if given := given or self._by_model.get(statement):  # The reader does not overrule the model.
                self._by_model[statement] = given
            verdicts[statement] = given or await self.judge_alone(statement)
            self._cache[statement] = size, verdicts[statement]
        return {statement: verdicts[statement] for statement in dict.fromkeys(statements)}

    async def judge_alone(self, statement: Statement) -> ClaimVerdict:
        """Let the reader judge one statement. What cites nothing and has no figure may be advice or a conclusion: it stays."""
        cited, near = self._find_cited(statement), self._rank_passages(statement.text)
        verdict = await judge_claim(statement, cited, near, self.checker)
        is_claim = bool(statement.handles or list_claim_figures(verdict.plain_text))
        return verdict if is_claim or verdict.support != "unsupported" else replace(verdict, support="unknown")

    def _find_cited(self, statement: Statement) -> list[Passage]:
        return [passage for handle in statement.handles if (passage := self.run.evidence.find_passage(handle))]

    def _rank_passages(self, text: str, limit: int = PASSAGES_PER_CLAIM) -> list[Passage]:
        """Return the passages that share most words with a text."""
        stems = content_stems(text)
        shared = ((len(stems & self._find_stems(item)), item) for item in self.run.evidence)
        best = heapq.nlargest(limit, ((count, -i, item) for i, (count, item) in enumerate(shared) if count))
        return [passage for _, _, passage in best]

    def _find_stems(self, passage: Passage) -> frozenset[str]:
        if passage.id not in self._stems:
            self._stems[passage.id] = content_stems(f"{passage.title} {passage.text}")
        return self._stems[passage.id]

    async def _check_quotation(self, quotation: Quotation, shown: Sequence[Quotation]) -> ClaimVerdict:
        """Return the verdict on the deciding sentence of a quotation: supported by itself; others may disagree."""
        passage, span = quotation.passage, _find_deciding_sentence(quotation)
        sentence = passage.text[slice(*span)] if span else quotation.text
        stems = content_stems(sentence)
        alike = await asyncio.to_thread(self._rank_passages, sentence, _MAX_DISAGREEING + 1)
        others = (one for one in alike if one.id != passage.id and one.kind != "code")  # The reader understands prose.
        near = [one for one in others if len(stems & content_stems(one.text)) >= _MIN_SHARED * len(stems)]
        text = " ".join(sentence.split())
        statement = Statement(text, (self.run.evidence.get_handle(passage),), "stated")
        judged = await judge_claim(statement, [passage], near[:_MAX_DISAGREEING], self.checker)
        verdict, answers = self._drop_other_matters(judged), [one for one in shown if _are_two_answers(quotation, one)]
        quotes = [Quote(other.passage, *at) for other in answers if (at := _find_deciding_sentence(other))]
        if verdict.contradicting or not quotes:
            return verdict
        against = await find_contradicting(text, quotes, _MIN_OTHER_ANSWER, self.checker)
        return self._drop_other_matters(replace(verdict, contradicting=against), are_answers=True)

    def _drop_other_matters(self, verdict: ClaimVerdict, are_answers: bool = False) -> ClaimVerdict:
        """Return the verdict without disagreement between passages of which only one has a thing that the question names.

        The reader takes another thing's value for a contradiction, and often only the title says whose value it is. Two
        answers to the question may name the same thing in other words: of them only the title counts.
        """
        wanted = content_stems(self.run.question)

        def is_same(one: Quote, other: Quote) -> bool:
            named = wanted & content_stems(one.passage.title if are_answers else f"{one.passage.title} {one.text}")
            return named <= content_stems(f"{other.passage.title} {other.passage.text}")

        pairs = ((own, one) for own in verdict.supporting[:1] for one in verdict.contradicting)
        against = tuple(one for own, one in pairs if is_same(own, one) and is_same(one, own))
        return replace(verdict, contradicting=against) if verdict.supporting else verdict

    def _judge_finding(self, finding: Finding) -> ClaimVerdict:
        """Return the verdict on a quoted finding: supported by its own words; who gives another value is known already."""
        quotes = [Quote(one.passage, *one.spans[0], checker="verbatim") for one in (finding.text, *finding.others)]
        against = [Quote(one.passage, *one.spans[0], checker="figures") for one in finding.against]
        handles = dict.fromkeys(self.run.evidence.get_handle(quote.passage) for quote in quotes)
        statement = Statement(" ".join(finding.text.text.split()), tuple(handles), "stated")
        return ClaimVerdict(statement, "supported", tuple(quotes), tuple(against))

    # -- searching for more --------------------------------------------------------------------------------------------

    async def find_more(self, wanted: Iterable[str], intent: str) -> bool:
        """Search for what is wanted, each once, and return whether that found new evidence."""
        if self.run.has_read_all:
            return False
        queries = self.run.filter_new_queries([Query(text, intent) for text in wanted])[:MAX_CLAIM_QUERIES]
        if not queries or self._is_offline or self.run.searches.is_degraded or self.run.budget.seconds_left == 0:
            return False
        size = len(self.run.evidence)
        hits = await asyncio.gather(*map(self._search_query, queries))
        found = {passage.id: passage for each in hits for passage in each.passages}
        searched = Round(len(self.run.records), tuple(hits), tuple(found.values()), ())
        self.run.record_searches(searched, is_planned=False)
        for passage in found.values():
            self.run.evidence.add(passage)
        return len(self.run.evidence) > size

    async def _search_query(self, query: Query) -> Hits:
        try:
            async with self.run.budget.time_limit():
                return Hits(query, tuple(await self.search(query, PASSAGES_PER_CLAIM)))
        except TimeoutError:
            return Hits(query, failure=SEARCH_TIMED_OUT)
        except SearchError as error:
            return Hits(query, failure=to_failure(error))

    # -- mending -------------------------------------------------------------------------------------------------------

    def _settle(self, verdict: ClaimVerdict) -> ClaimVerdict | None:
        """Return the verdict on a statement as it is shown, perhaps with other citations or a mark; ``None`` if it goes."""
        statement = _get_statement(verdict)
        is_unchecked = verdict.reason == Reason("too_long")  # Else a long sentence would pass for one that was checked.
        if _is_acceptable(verdict) and not is_unchecked:
            statement = replace(statement, role=verdict.role)
            known = [handle for handle in statement.handles if self.run.evidence.find_passage(handle)]
            is_fact = verdict.role in (None, "stated", "joined")
            if verdict.support == "supported" and is_fact:  # A source that decided is cited.
                known = list(dict.fromkeys([*known, *self._list_handles(verdict)]))
            if known != list(statement.handles):  # Invented ones go.
                statement = cite(statement, known)
            return verdict.about(statement)
        if verdict.uncited_support is not None:
            moved = verdict.moved_to_support()
            own = statement.handles if verdict.role == "joined" else ()  # Its other facts are in what it cites.
            known = [handle for handle in own if self.run.evidence.find_passage(handle)]
            return moved.about(cite(statement, [*known, *self._list_handles(moved)]))
        if self.strict:
            return None
        mark = CONTRADICTED_MARK if verdict.support == "contradicted" else UNSUPPORTED_MARK
        return verdict.about(replace(statement, mark=mark))

    def _list_handles(self, verdict: ClaimVerdict) -> list[str]:
        return list(dict.fromkeys(self.run.evidence.get_handle(quote.passage) for quote in verdict.supporting))

    def _name_subject(self, statement: Statement) -> Statement:
        """Return a statement that follows a removed one: if it opens with a pronoun, the title of its source goes before it."""
        cited = self._find_cited(statement)
        if not cited or not cited[0].title or not _PRONOUN.match(statement.text):
            return statement
        return replace(statement, text=f"{' '.join(cited[0].title.split())}: {statement.text}")


def _find_deciding_sentence(quotation: Quotation) -> Offsets | None:
    passage, start = quotation.passage, (quotation.highlight or quotation.spans)[0][0]
    spans = quotable_spans(passage.text, passage.kind)
    return next((one for one in spans if one[0] <= start < one[1]), None)


def _are_two_answers(one: Quotation, other: Quotation) -> bool:
    """Whether the reader found different answers, less than a sentence each, in two files of prose."""
    are_words = all(each.highlight[:1] != (_find_deciding_sentence(each),) for each in (one, other))
    is_prose = {one.passage.kind, other.passage.kind}.isdisjoint({"code", *ROW_KINDS})
    return are_words and is_prose and one.passage.place.path != other.passage.place.path and _differ(one, other)


def _differ(one: Quotation, other: Quotation) -> bool:
    """Whether the deciding words of two quotations have no word in common; of two figures, whether neither states the other."""
    texts = [" ".join(each.passage.text[start:end] for start, end in each.highlight) for each in (one, other)]
    if all(map(list_claim_figures, texts)):
        return all(find_missing_figure(text, [given]) for text, given in (texts, texts[::-1]))
    words = list(map(content_stems, texts))
    return all(words) and words[0].isdisjoint(words[1])


def _get_statement(verdict: ClaimVerdict) -> Statement:
    assert isinstance(verdict.claim, Statement), "statements were judged"
    return verdict.claim


def _is_acceptable(verdict: ClaimVerdict) -> bool:
    return verdict.support in ("supported", "unknown")


def _is_confirmed(new: ClaimVerdict, old: ClaimVerdict) -> bool:
    """Whether the writer repeats a sentence that the model's check found true and that only lacks a figure in its sources."""
    is_figure = new.reason is not None and new.reason.kind == "figure"
    return is_figure and new.role is not None and new.plain_text == old.plain_text
