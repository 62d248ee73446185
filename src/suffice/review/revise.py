"""Revise a text so that the reviewer's issues are resolved.

A short text is rewritten whole; of a long text only the sections that the issues name. This module does not know about
scores. Its result still has to pass the claim check.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from suffice.prompts import Revise, SynthesisResponse
from suffice.review.rubric import find_issue_section
from suffice.state.run import RunState
from suffice.text.markdown import Section, find_headings, find_sections
from suffice.types import Note

# Characters. Models return a longer text shortened or cut off, so it is revised in sections.
MAX_WHOLE_CHARS = 6_000


def find_top_sections(text: str) -> list[Section]:
    """Return the sections of the highest level below the title."""
    levels = sorted({heading.level for heading in find_headings(text)} - {1})
    return find_sections(text, levels[0]) if levels else []


async def revise_text(
    run: RunState, written: SynthesisResponse, issues: Sequence[str], notes: tuple[Note, ...], instruction: str
) -> SynthesisResponse | None:
    """Return the revised text; ``None`` if the model wrote nothing."""
    by_section = _group_issues(written.answer, issues) if len(written.answer) > MAX_WHOLE_CHARS else {}
    if by_section:
        return await _revise_sections(run, written, by_section, notes, instruction)
    text = Note(written.answer, ())
    answer = await run.try_ask(Revise(run.task, instruction, "", tuple(issues), text, notes))
    if answer is None or not answer.answer.strip():
        return None
    return _fill_missing_fields(answer, written)


def _group_issues(text: str, issues: Sequence[str]) -> dict[Section, tuple[str, ...]]:
    """Return the issues of each section that an issue names; an issue about the whole text goes to all of them."""
    sections = find_top_sections(text)
    titles = [section.title for section in sections]
    named = [find_issue_section(issue, titles) for issue in issues]
    return {
        section: tuple(issue for issue, title in zip(issues, named, strict=True) if title in (section.title, None))
        for section in sections
        if section.title in named
    }


async def _revise_sections(
    run: RunState,
    written: SynthesisResponse,
    by_section: dict[Section, tuple[str, ...]],
    notes: tuple[Note, ...],
    instruction: str,
) -> SynthesisResponse | None:
    text = written.answer
    prompts = [
        Revise(run.task, instruction, section.title, issues, Note(text[section.start : section.end], ()), notes)
        for section, issues in by_section.items()
    ]
    answers = await asyncio.gather(*map(run.try_ask, prompts))
    for section, answer in reversed(list(zip(by_section, answers, strict=True))):
        if answer is not None and answer.answer.strip():
            revised = _restore_heading(text[section.start : section.body_start], answer.answer)
            text = text[: section.start] + revised + text[section.end :]
    return replace(written, answer=text) if any(answers) else None


def _restore_heading(heading: str, text: str) -> str:
    """Return the section under its original heading, whatever heading the model wrote."""
    body = text.strip()
    first = find_headings(body)[:1]
    if first and first[0].start == 0:
        body = body[first[0].body_start :].strip()
    return f"{heading.rstrip()}\n\n{body}\n\n"


def _fill_missing_fields(answer: SynthesisResponse, earlier: SynthesisResponse) -> SynthesisResponse:
    """Fill fields that the revision left empty from the earlier text, because only the answer was to be improved."""
    fields = {
        name: getattr(answer, name) or getattr(earlier, name)
        for name in ("summary", "key_findings", "recommendations", "risks", "open_questions")
    }
    return replace(answer, **fields)
