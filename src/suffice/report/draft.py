"""Which writing instruction (S4) a task calls for. The texts are versioned files under ``prompts/writing``.

A list of things is written as a list: ``count``. Everything else is looked at in order, trading → technical → research → prose,
by the words that stand at the head of each file; ``prose`` has none and takes the rest.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from suffice.errors import ModelError
from suffice.models.base import is_language_model
from suffice.prompts import Draft, SynthesisResponse
from suffice.prompts.base import load_template
from suffice.state.outline import TopicOutline, normalize_topics
from suffice.state.run import RunState
from suffice.text.citations import has_citation
from suffice.text.markdown import (
    Section,
    drop_empty_headings,
    escape_markdown,
    find_headings,
    find_open_fence,
    find_sections,
    unwrap_fence,
)
from suffice.text.task_type import TaskType, classify_task, mentions_number, parse_item_count
from suffice.types import Note

VARIANT_ORDER = ("trading", "technical", "research", "prose")


@dataclass(frozen=True, slots=True)
class WritingInstruction:
    """How to write. ``count`` is how many sections a list must have; 0 when nobody said."""

    variant: str
    version: str
    text: str
    count: int = 0


def choose_instruction(run: RunState) -> WritingInstruction:
    """The instruction for a run's task, by its wording and its plan."""
    if get_task_type(run) == "enumerated":
        count, file = _expected_count(run), load_template("writing/count")
        return WritingInstruction("count", file.version, file.body.substitute(count=count or "separate"), count)
    variant = next(name for name in VARIANT_ORDER if _matches_variant(name, run.task))
    file = load_template(f"writing/{variant}")
    return WritingInstruction(variant, file.version, file.body.template)


def get_task_type(run: RunState) -> TaskType:
    """What kind of task it is: a number of things in its wording decides, then the plan, then the rest of the wording."""
    if run.current_plan is None or parse_item_count(run.task) is not None:
        return classify_task(run.task)
    return run.current_plan.task_type


def _expected_count(run: RunState) -> int:
    """How many things the task asks for. A plan's number counts only when the task says it too: a model likes to guess one."""
    number = parse_item_count(run.task)
    if number is None and run.current_plan is not None and run.current_plan.expected_sections is not None:
        number = (
            run.current_plan.expected_sections
            if mentions_number(run.task, run.current_plan.expected_sections)
            else None
        )
    return number or 0


def _matches_variant(variant: str, task: str) -> bool:
    """Whether the task holds one of the variant's words, whole; a variant without words suits every task."""
    words = load_template(f"writing/{variant}").keywords
    return not words or any(re.search(rf"\b{re.escape(word)}\b", task, re.IGNORECASE) for word in words)


_STRUCTURAL_HEADINGS = frozenset(
    (
        *("introduction", "conclusion", "conclusions", "summary", "overview", "background", "references", "sources"),
        *("appendix", "notes", "open questions", "key findings", "key takeaways", "recommendations", "risks"),
        "portfolio summary",
    )
)
_LEADING_NUMBER = re.compile(r"^\W*\d+[.):]?\s*")


def find_list_sections(markdown: str) -> list[Section]:
    """The sections that are items of the list."""
    return [
        part
        for part in find_sections(markdown, 2)
        if _LEADING_NUMBER.sub("", part.title).lower().strip(" :.") not in _STRUCTURAL_HEADINGS
    ]


def trim_list_sections(markdown: str, limit: int) -> str:
    """The text without the items after the first ``most``; structural sections stay."""
    text = markdown
    for part in reversed(find_list_sections(markdown)[limit:]):
        text = text[: part.start] + text[part.end :]
    return text.rstrip() if text != markdown else markdown


def unwrap_response(written: SynthesisResponse) -> SynthesisResponse:
    return replace(written, answer=unwrap_markdown(written.answer))


def unwrap_markdown(markdown: str) -> str:
    """The text without its wrapping. What stands before a title is kept when it cites something: then it is no greeting."""
    text = markdown.strip()
    inside = unwrap_fence(text, ("", "markdown", "md"))
    if inside is not None and find_headings(inside):
        text = inside.strip()
    titles = [heading.start for heading in find_headings(text) if heading.level == 1]
    if titles and not has_citation(text[: titles[0]]):
        text = text[titles[0] :].strip()
    fence = find_open_fence(text)
    return f"{text}\n{fence}" if fence else text


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
        lines = [line for line in block.splitlines() if line not in said or not has_citation(line)]
        if lines:
            kept.append("\n".join(lines))
        said.update(lines)
    return drop_empty_headings("\n\n".join(kept)).strip()


def _deduplicate(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
