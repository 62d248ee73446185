"""The review loop: evaluate, search for what is missing, revise, verify the claims again, and evaluate again; the best
version is reported.

A revision is reported only if it was evaluated and passed the claim check. The review has one of these endings:

    passed          the composite score reached the pass mark
    failed          the allowed rounds were used up before it did
    no_progress     two rounds scored the same, or a revision changed nothing
    empty_revision  the revision was empty, or none of it was supported by the sources
    unreadable      the evaluation could not be read, twice
    budget          the limit on time, tokens or cost was reached
    cancelled       the run was interrupted

The loop follows one of the source systems; see docs/sources.md.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from suffice.answers import Draft, Statement
from suffice.claims.reasons import explain_doubt
from suffice.claims.split import strip_claim_markup
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked
from suffice.events import Review, ReviewRound
from suffice.memory.evidence import drop_repeated_columns, drop_repeated_titles
from suffice.models.llm.parse import trim_to_sentence
from suffice.prompts.base import load_snippet
from suffice.prompts.judging import Evaluate, EvaluationIssue
from suffice.report.draft import get_task_type, render_with_lists
from suffice.review.revise import list_sections, revise_draft
from suffice.review.rubric import composite_score, list_issues, median_scores
from suffice.settings import ReviewRules
from suffice.state.run import RunState
from suffice.text.tokens import estimate_tokens
from suffice.types import Note, Reason

T = TypeVar("T")
VerifyClaims = Callable[[Draft], Awaitable[Checked]]
FindMore = Callable[[Iterable[str], str], Awaitable[bool]]

PANEL_READERS = ("practitioner", "critic", "newcomer")
_TEXT_CHARS = 3  # Of the answer for each token that is left: a quarter stays for its sources.
_TOKEN_MARGIN = 200  # Tokens for the description of the reader.


@dataclass
class ReviewLoop:
    """The review of one run; without rules nothing is reviewed. ``best`` is the version to report, also during the review."""

    _run: RunState
    _find_more: FindMore
    _verify_claims: VerifyClaims
    _rules: ReviewRules | None
    best: Checked | None = None
    _rounds: list[ReviewRound] = field(default_factory=list)
    _named: list[EvaluationIssue] = field(default_factory=list)
    _judged: frozenset[Statement] = frozenset()
    _best_round: ReviewRound = ReviewRound(0, None, None, None)
    _ending: str | None = None

    def disable(self) -> None:
        """Review nothing, unless a panel was asked for."""
        if self._rules is not None and not self._rules.panel:
            self._rules = None

    async def run(self, written: Checked) -> AsyncGenerator[ReviewRound, None]:
        """Review the written answer and yield each evaluation."""
        self.best = written
        if self._rules is None or not written.draft.statements:  # Quotations cannot be revised.
            return
        self._ending = "cancelled"  # The ending if the generator is closed early.
        text = written
        for number in range(1, self._rules.rounds + 1):
            judged = await self._run_within_budget(self._evaluate(number, text, self._rules))
            if judged is None:
                return
            ending = self._record_round(text, judged, self._rules)
            self._ending = ending or self._ending
            yield judged
            if ending:
                return
            revision = await self._run_within_budget(self._revise(text, judged.issues))
            if revision is None:
                return
            if revision.draft.is_empty or revision.draft.parts == text.draft.parts:
                self._ending = "empty_revision" if revision.draft.is_empty else "no_progress"
                return
            text = revision

    def summarize(self) -> Review | None:
        """Return how the review went; ``None`` if nothing was reviewed."""
        if self._rules is None or self._ending is None:
            return None
        best, mark = self._best_round, self._rules.pass_mark
        return Review(self._ending, best.passed, best.composite, best.round, mark, tuple(self._rounds))

    def _record_round(self, text: Checked, judged: ReviewRound, rules: ReviewRules) -> str:
        """Record a round, note whether it is the best, and return the ending, empty if the review continues."""
        before = self._rounds[-1].composite if self._rounds else None
        best = self._best_round.composite
        self._rounds.append(judged)
        if judged.composite is None:
            return "unreadable"
        if best is None or judged.composite > best:
            self.best, self._best_round = _mark_doubted(text, self._named), judged
        if judged.passed:
            return "passed"
        if judged.composite == before:
            return "no_progress"
        return "failed" if judged.round == rules.rounds else ""

    async def _evaluate(self, number: int, text: Checked, rules: ReviewRules) -> ReviewRound:
        readers = PANEL_READERS if rules.panel else ("judge",)
        sections = list_sections(text.draft)
        prompt = Evaluate(
            task=self._run.task,
            reader="",
            criteria=load_snippet(f"criteria/{get_task_type(self._run)}"),
            sections=sections,
            sources=(),
            text=Note("", ()),
            removed=tuple(map(explain_doubt, text.removed)),
            today=self._run.today,
            instruction=self._run.skill_instruction,
        )
        tokens_left = self._run.compute_prompt_budget(prompt.max_tokens)[0]
        tokens_left -= estimate_tokens(prompt.render()) + _TOKEN_MARGIN
        shown, limit = render_with_lists(self._run, text.draft), max(0, _TEXT_CHARS * tokens_left)
        shown = shown if len(shown) <= limit else f"{trim_to_sentence(shown[:limit])} […]"
        prompt = replace(prompt, text=Note(shown, ()), sources=self._list_cited(text.draft))
        prompts = [replace(prompt, reader=load_snippet(f"readers/{reader}")) for reader in readers]
        evaluations = [one for one in await asyncio.gather(*map(self._run.try_ask, prompts)) if one is not None]
        if not evaluations:
            return ReviewRound(number, None, None, None)
        scores = median_scores(evaluations)
        composite = composite_score(scores)
        self._named = [issue for evaluation in evaluations for issue in evaluation.issues]
        issues = list_issues(self._named, scores, sections, rules.pass_mark)
        return ReviewRound(number, scores, composite, composite >= rules.pass_mark, issues)

    def _list_cited(self, draft: Draft) -> tuple[Note, ...]:
        """Return the passages that the draft cites, or, if a version was judged before, those that its new sentences cite."""
        cited = {handle for one in draft.written if one not in self._judged for handle in one.handles}
        self._judged = frozenset(draft.written)
        notes = [
            self._run.evidence.make_note(one) for handle, one in self._run.evidence.by_handle.items() if handle in cited
        ]
        return tuple(map(drop_repeated_columns, drop_repeated_titles(notes)))

    async def _revise(self, text: Checked, issues: tuple[str, ...]) -> Checked:
        """Return the next version with its claims verified; empty if there is none."""
        known = self._run.evidence.by_handle
        await self._find_more((issue.query for issue in self._named if issue.query.strip()), "missing, by the review")
        revision = await revise_draft(self._run, text, issues, self._named, known)
        checked = Checked() if revision is None else await self._verify_claims(revision)
        shown = {verdict.plain_text for verdict in (*checked.verdicts, *checked.removed)}
        before = (verdict for verdict in text.removed if verdict.plain_text not in shown)
        return replace(checked, removed=(*before, *checked.removed))

    async def _run_within_budget(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return the result of the work; ``None``, as the ending, if the budget is spent before it or the time during it."""
        with suppress(TimeoutError):
            if not self._run.budget.is_spent():
                async with self._run.budget.time_limit():
                    return await work
        work.close()
        self._ending = "budget"
        return None


def _mark_doubted(text: Checked, issues: Sequence[EvaluationIssue]) -> Checked:
    """Return the text with the verdict unknown on conclusions and advice that a reviewer finds ungrounded."""
    doubts = {strip_claim_markup(issue.sentence): issue.problem for issue in issues if issue.dimension == "grounded"}

    def mark(verdict: ClaimVerdict) -> ClaimVerdict:
        problem = doubts.get(verdict.plain_text) if verdict.role in ("conclusion", "advice") else None
        return replace(verdict, support="unknown", reason=Reason("reviewed", note=problem)) if problem else verdict

    return replace(text, verdicts=tuple(map(mark, text.verdicts)))
