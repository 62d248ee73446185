"""An answer with an outline is written section by section, in parallel (S5): each topic from the notes nearest to it.

The sections are joined under their headings in the outline's order. What an earlier section quotes is not quoted again; a
topic that nothing was written about has no section.
"""

import asyncio
from collections.abc import Iterable, Sequence

from suffice.asks import Draft, SynthesisResponse
from suffice.errors import ModelError
from suffice.outline import Outline
from suffice.run import Run
from suffice.text.markup import CITATION, escape
from suffice.types import Note

CHUNKS = 12  # Notes that a section is written from (S5).
_FINDINGS = 5


async def drafted(run: Run, notes: tuple[Note, ...], told: tuple[str, ...]) -> SynthesisResponse:
    """The draft of the whole answer; raises ``ModelError`` when nothing could be had."""
    if run.outline is None or len(run.outline.topics) < 2:
        return await run.ask(Draft(run.task, notes, run.gaps, told))
    chosen = await asyncio.to_thread(_chosen, run.outline, notes)
    asks = [
        # What the reader must be told is told once, at the beginning.
        Draft(run.task, own, run.gaps, () if number else told, topic)
        for number, (topic, own) in enumerate(zip(run.outline.topics, chosen, strict=True))
    ]
    answers = await asyncio.gather(*map(run.attempt, asks))
    if not any(answers):
        raise ModelError("No section of the answer could be written")
    joined = _joined(run.outline.topics, answers)
    # Topics that nothing was found about may leave a question that the evidence as a whole still answers.
    return joined if joined.answer else await run.ask(Draft(run.task, notes, run.gaps, told))


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
