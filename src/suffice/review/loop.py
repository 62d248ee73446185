"""The review loop (S4): evaluate → pass? → revise → check the claims again → evaluate …, and keep the best version.

It ends in one of the named ways below. A revision that no evaluation has read is never kept, and nothing is kept that the
claim check did not let through.

    passed          the composite reached the pass mark
    failed          it did not within the rounds there are
    no_progress     two rounds scored the same, or a revision changed nothing
    empty_revision  the model had nothing to say, or nothing of it could be supported
    unreadable      the evaluation could not be read, twice
    budget          time, tokens or money were used up
    cancelled       somebody interrupted it
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any, TypeVar

from suffice.prompts import Evaluate, Evaluation, SynthesisResponse
from suffice.prompts.base import load_snippet
from suffice.report.build import select_writer_notes
from suffice.report.draft import choose_instruction, get_task_type
from suffice.review.revise import find_top_sections, revise_text
from suffice.review.rubric import composite_score, list_issues, median_scores, parse_scores
from suffice.settings import ReviewRules
from suffice.state.run import RunState
from suffice.text.markdown import find_headings
from suffice.text.sentences import split_sentences
from suffice.text.tokens import estimate_tokens
from suffice.types import Note, Review, ReviewRound

T = TypeVar("T")
VerifyClaims = Callable[[SynthesisResponse], Awaitable[SynthesisResponse]]

JUDGE_READER = "judge"
PANEL_READERS = ("practitioner", "critic", "newcomer")
_TOKEN_MARGIN = 200  # Tokens for the reader's own description and a reminder.
_REMINDER = "Your last evaluation could not be read. Give all six scores as numbers from 0 to 10."


class ReviewLoop:
    """The review of one run. ``best`` is the version to report, at every moment; ``told`` is what became of it."""

    def __init__(self, run: RunState, verify_claims: VerifyClaims, rules: ReviewRules | None) -> None:
        """Without rules nothing is reviewed."""
        self.best: SynthesisResponse | None = None
        self._run = run
        self._verify_claims = verify_claims
        self._rules = rules
        self._rounds: list[ReviewRound] = []
        self._best_round = 0
        self._ending: str | None = None

    async def run(self, written: SynthesisResponse | None) -> AsyncGenerator[ReviewRound, None]:
        """Review what was written, each evaluation as it is made."""
        self.best = written
        if self._rules is None or written is None or not written.answer.strip():
            return
        self._ending = "cancelled"  # Unless it ends in another way.
        text = written
        for number in range(1, self._rules.rounds + 1):
            judged = (
                None
                if self._run.budget.is_spent()
                else await self._run_within_deadline(self._evaluate(number, text, self._rules))
            )
            if judged is None:
                self._ending = "budget"
                return
            ending = self._record_round(text, judged, self._rules)
            self._ending = ending or self._ending
            yield judged
            if ending:
                return
            revision = (
                None
                if self._run.budget.is_spent()
                else await self._run_within_deadline(self._revise(text, judged.issues))
            )
            if revision is None or not revision.answer.strip() or revision.answer == text.answer:
                self._ending = "budget" if revision is None else _name_fruitless_ending(revision)
                return
            text = revision

    def to_metadata(self) -> dict[str, Any]:
        """What the report says of it: ``review``, when there was one."""
        told = self.summarize()
        return {} if told is None else {"review": asdict(told)}

    def summarize(self) -> Review | None:
        """How the review went; ``None`` when there was none."""
        if self._rules is None or self._ending is None:
            return None
        kept = self._rounds[self._best_round - 1] if self._best_round else None
        return Review(
            ending=self._ending,
            passed=None if kept is None else kept.passed,
            composite=None if kept is None else kept.composite,
            kept=self._best_round,
            pass_mark=self._rules.pass_mark,
            rounds=tuple(self._rounds),
        )

    def _record_round(self, text: SynthesisResponse, judged: ReviewRound, rules: ReviewRules) -> str:
        """Book a round: is it the best so far, and is it the last? The ending, or nothing."""
        before = self._rounds[-1].composite if self._rounds else None
        best = self._rounds[self._best_round - 1].composite if self._best_round else None
        self._rounds.append(judged)
        if judged.composite is None:
            return "unreadable"
        if best is None or judged.composite > best:
            self.best, self._best_round = text, judged.round
        if judged.passed:
            return "passed"
        if judged.composite == before:
            return "no_progress"
        return "failed" if judged.round == rules.rounds else ""

    async def _evaluate(self, number: int, text: SynthesisResponse, rules: ReviewRules) -> ReviewRound:
        readers = PANEL_READERS if rules.panel else (JUDGE_READER,)
        sections = tuple(part.title for part in find_top_sections(text.answer))
        prompt = Evaluate(
            task=self._run.task,
            reader="",
            criteria=load_snippet(f"criteria/{get_task_type(self._run)}"),
            sections=sections,
            sources=tuple(f"{' '.join(note.handles)} {note.title}" for note in select_writer_notes(self._run)),
            text=Note("", ()),
        )
        room = self._run.compute_prompt_budget(prompt.max_tokens)[0] - estimate_tokens(prompt.render()) - _TOKEN_MARGIN
        prompt = replace(prompt, text=Note(condense(text.answer, max(0, min(MAX_REVIEW_CHARS, 4 * room))), ()))
        asks = [replace(prompt, reader=load_snippet(f"readers/{reader}")) for reader in readers]
        read = [
            evaluation for evaluation in await asyncio.gather(*map(self._ask_reader, asks)) if evaluation is not None
        ]
        found = median_scores([own for own in map(parse_scores, read) if own is not None])
        if found is None:
            return ReviewRound(number, None, None, None)
        value = composite_score(found)
        named = list_issues(
            [issue for evaluation in read for issue in evaluation.issues], found, sections, rules.pass_mark
        )
        return ReviewRound(number, found, value, value >= rules.pass_mark, named)

    async def _ask_reader(self, prompt: Evaluate) -> Evaluation | None:
        """One reader's evaluation; asked once more when it cannot be read, ``None`` when that fails too."""
        for reminder in ("", _REMINDER):
            evaluation = await self._run.try_ask(replace(prompt, reminder=reminder))
            if evaluation is not None and parse_scores(evaluation) is not None:
                return evaluation
        return None

    async def _revise(self, text: SynthesisResponse, named: tuple[str, ...]) -> SynthesisResponse:
        """The next version, claims checked; empty when there is none."""
        how = choose_instruction(self._run).text
        revision = await revise_text(self._run, text, named, select_writer_notes(self._run), how)
        return SynthesisResponse("") if revision is None else await self._verify_claims(revision)

    async def _run_within_deadline(self, work: Awaitable[T]) -> T | None:
        """The work's result, or ``None`` when the run's time was up before it."""
        try:
            async with self._run.budget.time_limit():
                return await work
        except TimeoutError:
            return None


def _name_fruitless_ending(revision: SynthesisResponse) -> str:
    return "no_progress" if revision.answer.strip() else "empty_revision"


MAX_REVIEW_CHARS = 24_000  # Characters; about 6,000 tokens. What is shorter is read whole.
_TAIL_SHARE = 0.25  # Share of the room that the end of the text gets: conclusions stand there.
_ELLIPSIS = " […]"


def condense(text: str, max_chars: int = MAX_REVIEW_CHARS) -> str:
    """The text in about ``most`` characters; headings are never dropped, so many of them may need more."""
    if len(text) <= max_chars:
        return text
    end = len(text) - int(max_chars * _TAIL_SHARE)
    head, tail = (
        text[:end],
        text[end:],
    )  # A heading cut in two is whole again where they meet: nothing of a heading is dropped.
    parts = [(0, 0, 0), *((part.start, part.body_start, part.end) for part in find_headings(head))]
    parts[0] = (0, 0, parts[1][0] if len(parts) > 1 else len(head))
    room = max(0, max_chars - len(tail) - sum(body - start for start, body, _ in parts))
    shortened = []
    for left, (start, body, end) in zip(range(len(parts), 0, -1), parts, strict=True):
        kept = _truncate_to_sentences(head[body:end], room // left)
        room = max(0, room - len(kept))
        shortened.append(head[start:body] + kept)
    return "".join(shortened) + tail


def _truncate_to_sentences(text: str, most: int) -> str:
    """As many whole sentences as fit, or as many characters when not even one does."""
    if len(text) <= most or not text.strip():
        return text
    ends = [end for _, end in split_sentences(text) if end <= most]
    return text[: ends[-1] if ends else most].rstrip() + _ELLIPSIS + "\n\n"
