"""Revise a draft so that the reviewer's issues are resolved.

The whole draft goes back at once, with what the sentences cite that a reviewer named, and the passages nearest to the issues:
the rest was checked and stays as it is. This module does not know about scores. Its result still has to pass the claim check.
"""

from collections.abc import Container, Sequence
from dataclasses import replace

from suffice.answers import Draft, SectionHeading, Statement
from suffice.claims.reasons import explain_doubt
from suffice.claims.split import strip_claim_markup
from suffice.claims.verify import Checked
from suffice.claims.whole import add_nearest
from suffice.memory.evidence import drop_repeated_titles
from suffice.prompts.judging import EvaluationIssue
from suffice.prompts.writing import Revise
from suffice.report.draft import choose_instruction, limit_output, read_response, render_with_lists
from suffice.state.run import RunState
from suffice.text.citations import list_handles
from suffice.text.sections import WRITTEN_SECTIONS
from suffice.text.tokens import estimate_tokens
from suffice.types import Note

_ROOM = 300  # Tokens that a revision may have more than the draft, if that is longer than usual.
_NEAREST = 6  # Passages that are shown for an issue,
SOURCE_TOKENS = 2_000  # if they fit; the nearest first.
_OF_THE_TEXT = ("structure", "relevance")  # Issues that no source helps with.


def list_sections(draft: Draft) -> tuple[str, ...]:
    """Return the titles of the sections below the title, of all levels, and of the lists below the text."""
    headings = (part.text for part in draft.parts if isinstance(part, SectionHeading) and part.level > 1)
    return (*headings, *draft.lists)


async def revise_draft(
    run: RunState, last: Checked, issues: Sequence[str], named: Sequence[EvaluationIssue] = (), old: Container[str] = ()
) -> Draft | None:
    """Return the revised draft, which may be as long as the draft; ``None`` if the model wrote nothing.

    The writer is told the ``issues`` and what the check removed; for issues ``named`` by reviewers the nearest passages are
    shown, those not ``old`` first.
    """
    draft, text = last.draft, render_with_lists(run, last.draft)
    answer_tokens = max(limit_output(run), estimate_tokens(text) + _ROOM)
    texts = {strip_claim_markup(issue.sentence) for issue in named}
    # An issue in another language than the sources has none of their words, so all that is cited is shown.
    about = (one for one in draft.written if run.scope_languages or strip_claim_markup(one.text) in texts)
    cited = {handle for one in about for handle in one.handles}.union(list_handles(*(one.problem for one in named)))
    max_tokens = min(SOURCE_TOKENS, run.compute_prompt_budget(answer_tokens)[0] - estimate_tokens(text))
    missing = [f"{one.problem} {one.query} {one.sentence}" for one in named if one.dimension not in _OF_THE_TEXT]
    wanted, passages = [Statement(one) for one in missing or [run.task]], run.evidence.by_handle
    new = {handle: one for handle, one in passages.items() if handle not in old or handle in cited}
    near = add_nearest(wanted, add_nearest(wanted, cited, new, max_tokens, _NEAREST), passages, max_tokens, _NEAREST)
    notes = drop_repeated_titles([*map(run.evidence.make_note, near.values())])
    how = choose_instruction(run).text
    removed = tuple(map(explain_doubt, last.removed))
    answer = await run.try_ask(Revise(run.task, how, tuple(issues), Note(text, ()), notes, removed, answer_tokens))
    if answer is None or not answer.answer.strip():
        return None
    revised = read_response(run, answer)
    written = {title.lower() for title in list_sections(revised)}
    # Lists that the revision left out stay, unless it wrote them as sections of its text.
    kept = {title: lines for title, lines in draft.lists.items() if title.lower() not in written}
    return replace(
        revised,
        lists={name: lines for name in WRITTEN_SECTIONS if (lines := revised.lists.get(name) or kept.get(name))},
        open_questions=revised.open_questions or draft.open_questions,
        short_answer=revised.short_answer or draft.short_answer,
    )
