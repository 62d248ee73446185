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
from suffice.models.base import speaks
from suffice.outline import Outline, distinct
from suffice.run import Run
from suffice.text.markup import CITATION, escape
from suffice.types import Note
from suffice.write.counting import counted
from suffice.write.instructions import instruction
from suffice.write.tidy import tidied

CHUNKS = 12  # Notes that a section is written from (S5).
_PARTS = 5  # Sections that a plan can ask for.
_FINDINGS = 5
_TOO_FEW = "Your last draft had {there} of {wanted} sections. Write {wanted}, if the sources hold as many things."


async def drafted(run: Run, notes: tuple[Note, ...], told: tuple[str, ...]) -> SynthesisResponse:
    """The draft of the whole answer; raises ``ModelError`` when nothing could be had."""
    how = instruction(run)
    ask = Draft(run.task, notes, run.gaps, told, "", how.text, how.count, _advice(run))
    outline = None if how.count else await asyncio.to_thread(_outline, run)
    if outline is None or len(outline.topics) < 2:
        return await _whole(run, ask)
    chosen = await asyncio.to_thread(_chosen, outline, notes)
    asks = [
        # What the reader must be told is told once, at the beginning.
        replace(ask, notes=own, caveats=() if number else told, section=topic)
        for number, (topic, own) in enumerate(zip(outline.topics, chosen, strict=True))
    ]
    answers = [answer and tidied(answer) for answer in await asyncio.gather(*map(run.attempt, asks))]
    if not any(answers):
        raise ModelError("No section of the answer could be written")
    joined = _joined(outline.topics, answers)
    # Topics that nothing was found about may leave a question that the evidence as a whole still answers.
    return joined if joined.answer else await _whole(run, ask)


async def _whole(run: Run, ask: Draft) -> SynthesisResponse:
    """The answer in one piece. A list that is too short is asked for once more; the fuller one is taken."""
    first = tidied(await run.ask(ask))
    there = len(counted(first.answer))
    if there >= ask.count or not first.answer or not speaks(run.model):
        return first
    again = await run.attempt(replace(ask, correction=_TOO_FEW.format(there=there, wanted=ask.count)))
    second = first if again is None else tidied(again)
    return second if len(counted(second.answer)) > there else first


def _advice(run: Run) -> tuple[str, ...]:
    """The planner's note and what it believed before the search."""
    if run.planned is None:
        return ()
    return tuple(line for line in (run.planned.notes, *run.planned.known_facts) if line.strip())


def _outline(run: Run) -> Outline | None:
    """The topics to write about one by one: the outline's, else the parts of a demanding task, whose answer would not fit
    into one reply."""
    if run.outline is not None or run.planned is None or run.planned.complexity != "deep":
        return run.outline
    outline = Outline(run.embed)
    topics = distinct(run.planned.subtasks, _PARTS)
    outline.add(topics, topics)
    return outline


def _chosen(outline: Outline, notes: tuple[Note, ...]) -> list[tuple[Note, ...]]:
    return [tuple(notes[i] for i in outline.best(number, notes, CHUNKS)) for number in range(len(outline.topics))]


def _joined(topics: Sequence[str], answers: Sequence[SynthesisResponse | None]) -> SynthesisResponse:
    said: set[str] = set()
    blocks: list[str] = []
    written: list[SynthesisResponse] = []
    for topic, answer in zip(topics, answers, strict=True):
        text = _unsaid(answer.answer, said) if answer is not None else ""
        if answer is not None and text:
            blocks.append(f"## {escape(topic)}\n\n{text}")
            written.append(answer)
    return SynthesisResponse(
        "\n\n".join(blocks),
        next((answer.summary for answer in written if answer.summary), ""),
        _once(answer.key_findings[0] for answer in written if answer.key_findings)[:_FINDINGS],
        *(
            _once(line for answer in written for line in getattr(answer, name))
            for name in ("recommendations", "risks", "open_questions")
        ),
    )


def _unsaid(text: str, said: set[str]) -> str:
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


def _once(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
