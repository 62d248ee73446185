"""The draft of an answer: whole, or section by section in parallel (S5), each topic from the notes nearest to it.

Sections come from an outline, or from the parts that a plan found in a demanding task. They are joined under their headings in
that order. What an earlier section quotes is not quoted again; a topic that nothing was written about has no section. A list
of N things is always written whole.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace

from suffice.asks import Draft, SynthesisResponse
from suffice.errors import ModelError
from suffice.models.base import is_language_model
from suffice.outline import TopicOutline, normalize_topics
from suffice.run import RunState
from suffice.text.markup import CITATION, escape_markdown
from suffice.types import Note
from suffice.write.counting import find_list_sections
from suffice.write.instructions import choose_instruction
from suffice.write.tidy import unwrap_response

NOTES_PER_SECTION = 12  # Notes that a section is written from (S5).
_MAX_SECTIONS = 5  # Sections that a plan can ask for.
_MAX_FINDINGS = 5
_TOO_FEW_SECTIONS = (
    "Your last draft had {there} of {wanted} sections. Write {wanted}, if the sources hold as many things."
)


async def draft_answer(run: RunState, notes: tuple[Note, ...], caveats: tuple[str, ...]) -> SynthesisResponse:
    """The draft of the whole answer; raises ``ModelError`` when nothing could be had."""
    how = choose_instruction(run)
    prompt = Draft(run.task, notes, run.gaps, caveats, "", how.text, how.count, _planner_notes(run))
    outline = None if how.count else await asyncio.to_thread(_choose_outline, run)
    if outline is None or len(outline.topics) < 2:
        return await _draft_whole(run, prompt)
    chosen = await asyncio.to_thread(_assign_notes, outline, notes)
    asks = [
        # What the reader must be told is told once, at the beginning.
        replace(prompt, notes=own, caveats=() if number else caveats, section=topic)
        for number, (topic, own) in enumerate(zip(outline.topics, chosen, strict=True))
    ]
    answers = [answer and unwrap_response(answer) for answer in await asyncio.gather(*map(run.try_ask, asks))]
    if not any(answers):
        raise ModelError("No section of the answer could be written")
    joined = _join_sections(outline.topics, answers)
    # Topics that nothing was found about may leave a question that the evidence as a whole still answers.
    return joined if joined.answer else await _draft_whole(run, prompt)


async def _draft_whole(run: RunState, prompt: Draft) -> SynthesisResponse:
    """The answer in one piece. A list that is too short is asked for once more; the fuller one is taken."""
    first = unwrap_response(await run.ask(prompt))
    there = len(find_list_sections(first.answer))
    if there >= prompt.count or not first.answer or not is_language_model(run.model):
        return first
    again = await run.try_ask(replace(prompt, correction=_TOO_FEW_SECTIONS.format(there=there, wanted=prompt.count)))
    second = first if again is None else unwrap_response(again)
    return second if len(find_list_sections(second.answer)) > there else first


def _planner_notes(run: RunState) -> tuple[str, ...]:
    """The planner's note and what it believed before the search."""
    if run.current_plan is None:
        return ()
    return tuple(line for line in (run.current_plan.notes, *run.current_plan.known_facts) if line.strip())


def _choose_outline(run: RunState) -> TopicOutline | None:
    """The topics to write about one by one: the outline's, else the parts of a demanding task, whose answer would not fit
    into one reply."""
    if run.outline is not None or run.current_plan is None or run.current_plan.complexity != "deep":
        return run.outline
    outline = TopicOutline(run.embed)
    topics = normalize_topics(run.current_plan.subtasks, _MAX_SECTIONS)
    outline.add_topics(topics, topics)
    return outline


def _assign_notes(outline: TopicOutline, notes: tuple[Note, ...]) -> list[tuple[Note, ...]]:
    return [
        tuple(notes[i] for i in outline.select_notes(number, notes, NOTES_PER_SECTION))
        for number in range(len(outline.topics))
    ]


def _join_sections(topics: Sequence[str], answers: Sequence[SynthesisResponse | None]) -> SynthesisResponse:
    said: set[str] = set()
    blocks: list[str] = []
    written: list[SynthesisResponse] = []
    for topic, answer in zip(topics, answers, strict=True):
        text = _drop_repeated_lines(answer.answer, said) if answer is not None else ""
        if answer is not None and text:
            blocks.append(f"## {escape_markdown(topic)}\n\n{text}")
            written.append(answer)
    return SynthesisResponse(
        "\n\n".join(blocks),
        next((answer.summary for answer in written if answer.summary), ""),
        _deduplicate(answer.key_findings[0] for answer in written if answer.key_findings)[:_MAX_FINDINGS],
        *(
            _deduplicate(line for answer in written for line in getattr(answer, name))
            for name in ("recommendations", "risks", "open_questions")
        ),
    )


def _drop_repeated_lines(text: str, said: set[str]) -> str:
    """The text without cited lines that an earlier section has, nor headings that then stand over nothing."""
    kept: list[str] = []
    for block in text.strip().split("\n\n"):
        lines = [line for line in block.splitlines() if line not in said or not CITATION.search(line)]
        if lines:
            kept.append("\n".join(lines))
        said.update(lines)
    following = [*kept[1:], "#"]
    filled = [
        block
        for number, block in enumerate(kept)
        if not (block.startswith("#") and "\n" not in block and following[number].startswith("#"))
    ]
    return "\n\n".join(filled)


def _deduplicate(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
