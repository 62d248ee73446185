"""Revise a draft so that the reviewer's issues are resolved.

The whole draft goes back at once: in sections, all the evidence would be shown again for each. This module does not know about
scores. Its result still has to pass the claim check.
"""

from collections.abc import Sequence
from dataclasses import replace

from suffice.answers import Draft, SectionHeading
from suffice.prompts.writing import Revise
from suffice.report.draft import (
    choose_instruction,
    get_lists,
    limit_output,
    name_lists,
    read_response,
    render_with_lists,
    select_writer_notes,
)
from suffice.state.run import RunState
from suffice.text.sections import ReportSection
from suffice.text.tokens import estimate_tokens
from suffice.types import Note

_ROOM = 300  # Tokens that a revision may have more than the draft, if that is longer than usual.


def list_sections(draft: Draft) -> tuple[str, ...]:
    """Return the titles of the sections below the title, of all levels, and of the lists below the text."""
    headings = (part.text for part in draft.parts if isinstance(part, SectionHeading) and part.level > 1)
    return (*headings, *get_lists(draft))


async def revise_draft(run: RunState, draft: Draft, issues: Sequence[str]) -> Draft | None:
    """Return the revised draft, which may be as long as the draft; ``None`` if the model wrote nothing."""
    text = render_with_lists(run, draft)
    answer = await run.try_ask(
        Revise(
            run.task,
            choose_instruction(run).text,
            tuple(issues),
            Note(text, ()),
            select_writer_notes(run),
            name_lists(run),
            max(limit_output(run), estimate_tokens(text) + _ROOM),
        )
    )
    if answer is None or not answer.answer.strip():
        return None
    revised = read_response(run, answer)
    written = {title.lower() for title in list_sections(revised)}
    # Lists that the revision left out stay, unless it wrote them as sections of its text.
    kept = {title: lines for title, lines in get_lists(draft).items() if title.lower() not in written}
    return replace(
        revised,
        findings=revised.findings or kept.get(ReportSection.FINDINGS, ()),
        recommendations=revised.recommendations or kept.get(ReportSection.RECOMMENDATIONS, ()),
        risks=revised.risks or kept.get(ReportSection.RISKS, ()),
        open_questions=revised.open_questions or draft.open_questions,
        short_answer=revised.short_answer or draft.short_answer,
    )
