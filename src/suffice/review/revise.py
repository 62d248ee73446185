"""From issues to a better text. A short one is written again whole; of a long one only the sections that the issues name.

It knows nothing of scores. Whatever it returns still has to pass the claim check.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from suffice.prompts import Revise, SynthesisResponse
from suffice.review.rubric import find_issue_section
from suffice.state.run import RunState
from suffice.text.markdown import Section, find_headings, find_sections
from suffice.types import Note

MAX_WHOLE_CHARS = 6_000  # Characters. A longer text comes back from a model shortened or cut, so it is mended in parts.


def find_top_sections(text: str) -> list[Section]:
    """The sections that a reader would name: those of the highest level below a title."""
    levels = sorted({heading.level for heading in find_headings(text)} - {1})
    return find_sections(text, levels[0]) if levels else []


async def revise_text(
    run: RunState, written: SynthesisResponse, issues: Sequence[str], notes: tuple[Note, ...], instruction: str
) -> SynthesisResponse | None:
    """The text without the issues; ``None`` when the model had nothing to say."""
    named = _group_issues(written.answer, issues) if len(written.answer) > MAX_WHOLE_CHARS else {}
    if named:
        return await _revise_sections(run, written, named, notes, instruction)
    text = Note(written.answer, ())
    answer = await run.try_ask(Revise(run.task, instruction, "", tuple(issues), text, notes))
    if answer is None or not answer.answer.strip():
        return None
    return _fill_missing_fields(answer, written)


def _group_issues(text: str, issues: Sequence[str]) -> dict[Section, tuple[str, ...]]:
    """The issues by section. An issue about the whole goes to each section that is written again anyway."""
    every = find_top_sections(text)
    titles = [part.title for part in every]
    places = [find_issue_section(issue, titles) for issue in issues]
    return {
        part: tuple(issue for issue, place in zip(issues, places, strict=True) if place in (part.title, None))
        for part in every
        if part.title in places
    }


async def _revise_sections(
    run: RunState,
    written: SynthesisResponse,
    named: dict[Section, tuple[str, ...]],
    notes: tuple[Note, ...],
    instruction: str,
) -> SynthesisResponse | None:
    text = written.answer
    asks = [
        Revise(run.task, instruction, part.title, own, Note(text[part.start : part.end], ()), notes)
        for part, own in named.items()
    ]
    answers = await asyncio.gather(*map(run.try_ask, asks))
    for part, answer in reversed(list(zip(named, answers, strict=True))):
        if answer is not None and answer.answer.strip():
            text = (
                text[: part.start]
                + _restore_heading(text[part.start : part.body_start], answer.answer)
                + text[part.end :]
            )
    return replace(written, answer=text) if any(answers) else None


def _restore_heading(heading: str, text: str) -> str:
    """The section under its own heading, whatever heading the model gave it."""
    body = text.strip()
    first = find_headings(body)[:1]
    if first and first[0].start == 0:
        body = body[first[0].body_start :].strip()
    return f"{heading.rstrip()}\n\n{body}\n\n"


def _fill_missing_fields(answer: SynthesisResponse, earlier: SynthesisResponse) -> SynthesisResponse:
    """What the revision left empty stays as it was: it was asked for a better text, not for fewer findings."""
    kept = {
        name: getattr(answer, name) or getattr(earlier, name)
        for name in ("summary", "key_findings", "recommendations", "risks", "open_questions")
    }
    return replace(answer, **kept)
