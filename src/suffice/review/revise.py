"""Revise a draft so that the reviewer's issues are resolved.

A short draft is rewritten whole; of a long one only the sections that the issues name. This module does not know about
scores. Its result still has to pass the claim check.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from suffice.answers import Draft, Part, SectionHeading
from suffice.prompts.writing import Revise
from suffice.report.draft import (
    choose_instruction,
    limit_output,
    name_lists,
    read_response,
    render_draft,
    render_with_lists,
    select_writer_notes,
)
from suffice.review.rubric import find_issue_section
from suffice.state.run import RunState
from suffice.types import Note

# Characters. Models return a longer text shortened or cut off, so it is revised in sections.
MAX_WHOLE_CHARS = 6_000


@dataclass(frozen=True, slots=True)
class DraftSection:
    """A section of a draft: ``parts[start:end]``, its heading first."""

    title: str
    start: int
    end: int


def find_top_sections(parts: Sequence[Part]) -> list[DraftSection]:
    """Return the sections of the highest level below the title."""
    levels = sorted({part.level for part in parts if isinstance(part, SectionHeading)} - {1})
    starts = [i for i, part in enumerate(parts) if isinstance(part, SectionHeading) and part.level in levels[:1]]
    ends = [*starts[1:], len(parts)]
    return [
        DraftSection(heading.text, start, end)
        for start, end in zip(starts, ends, strict=False)
        if isinstance(heading := parts[start], SectionHeading)
    ]


async def revise_draft(run: RunState, draft: Draft, issues: Sequence[str]) -> Draft | None:
    """Return the revised draft; ``None`` if the model wrote nothing."""
    text = render_with_lists(run, draft)
    by_section = _group_issues(draft.parts, issues) if len(text) > MAX_WHOLE_CHARS else {}
    if by_section:
        return await _revise_sections(run, draft, by_section)
    answer = await run.try_ask(_build_prompt(run, "", issues, text))
    if answer is None or not answer.answer.strip():
        return None
    revised = read_response(run, answer)
    return replace(
        revised,  # Only the text was to be improved: lists that the revision left out stay.
        findings=revised.findings or draft.findings,
        recommendations=revised.recommendations or draft.recommendations,
        risks=revised.risks or draft.risks,
        open_questions=revised.open_questions or draft.open_questions,
        short_answer=revised.short_answer or draft.short_answer,
    )


def _build_prompt(run: RunState, section: str, issues: Sequence[str], text: str) -> Revise:
    instruction = choose_instruction(run).text
    notes = select_writer_notes(run)
    lists = "" if section else name_lists(run)
    return Revise(run.task, instruction, section, tuple(issues), Note(text, ()), notes, limit_output(run), lists)


def _group_issues(parts: Sequence[Part], issues: Sequence[str]) -> dict[DraftSection, tuple[str, ...]]:
    """Return the issues of each section that an issue names; an issue about the whole text goes to all of them."""
    sections = find_top_sections(parts)
    titles = [section.title for section in sections]
    named = [find_issue_section(issue, titles) for issue in issues]
    return {
        section: tuple(issue for issue, title in zip(issues, named, strict=True) if title in (section.title, None))
        for section in sections
        if section.title in named
    }


async def _revise_sections(
    run: RunState, draft: Draft, by_section: dict[DraftSection, tuple[str, ...]]
) -> Draft | None:
    """Return the draft with these sections revised, each below its own heading, whatever heading the model wrote."""
    prompts = [
        _build_prompt(
            run,
            section.title,
            issues,
            render_draft(run, replace(draft, parts=draft.parts[section.start : section.end])),
        )
        for section, issues in by_section.items()
    ]
    answers = await asyncio.gather(*map(run.try_ask, prompts))
    parts = list(draft.parts)
    for section, answer in reversed(list(zip(by_section, answers, strict=True))):
        if answer is not None and answer.answer.strip():
            revised = read_response(run, answer).parts
            body = revised[1:] if revised and isinstance(revised[0], SectionHeading) else revised
            parts[section.start + 1 : section.end] = body
    raw = "\n\n".join(answer.raw for answer in answers if answer is not None)
    return replace(draft, parts=tuple(parts), raw=raw or draft.raw) if any(answers) else None
