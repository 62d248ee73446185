"""Draft an answer without a language model: a short answer if there is one, then one to three verbatim excerpts.

    rank_units → choose_stretches → find_short_answer → judge → excerpts as Markdown

When the evidence does not answer the question, the answer is empty and the closest passages are named with what they lack.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from suffice.models.extractive.chains import measure_lead, needs_steps, rank_steps
from suffice.models.extractive.excerpts import (
    MAX_EXCERPTS,
    Stretch,
    build_excerpt,
    choose_stretches,
    lift_heading,
    render_excerpt,
    with_head,
)
from suffice.models.extractive.recency import add_time, prefer_newest
from suffice.models.extractive.short_answer import FoundAnswer, find_short_answer
from suffice.models.extractive.steps import NO_STEPS, read_steps
from suffice.models.extractive.sufficiency import (
    SUFFICIENCY_FEATURES,
    compute_features,
    estimate_answered,
    expects_one_passage,
    find_missing_words,
    judge,
    lacks_column,
    weigh_reader,
)
from suffice.models.extractive.units import (
    QuestionWords,
    Unit,
    compute_cosines,
    note_stems,
    rank_units,
    read_notes,
    weigh_question,
)
from suffice.models.reading import AnswerSpan, PassageReader
from suffice.prompts import Draft, SynthesisResponse
from suffice.text.entities import content_stems
from suffice.text.languages import get_language
from suffice.text.markdown import escape_markdown
from suffice.text.question import analyze_question, asks_in_steps, split_compound
from suffice.text.quoting import quote_markdown
from suffice.text.sentences import Offsets
from suffice.text.task_type import strip_count
from suffice.types import BELIEF_KIND, ClosestPassage, Embed, Excerpt, Note, Sufficiency

_MAX_CLOSEST = 3
_MIN_COSINE = 0.45  # A passage this near may answer in other words; the embedding model was trained on English.
# And the reader must find an answer in a passage, unless the question takes several, or the nearest passage stands out from the
# others: in a manual many are as near.
_MIN_READ_ELSE = 0.8
_MIN_APART = 0.3
_MIN_LEAD = 0.4  # Of steps: below this the first excerpt answers less often than not (bench/qa.md).
_ACRONYM = re.compile(r"[A-Z]{2,5}")
_MIN_COVERED = 3  # Words; fewer say too little without the acronym.
_FOLLOW_UP = re.compile(r" \(after: .*\)$", re.DOTALL)  # What ``api`` adds to a follow-up question.
SHORT_ANSWER_LABEL = "**Short answer:**"
COUNTED_LABEL = "### Short answer:"  # A heading: what was counted or compared is not a statement of a source.


def draft_answer(prompt: Draft, embed: Embed | None, reader: PassageReader | None = None) -> SynthesisResponse:
    """Return the answer as quotations; an empty one with the closest passages when nothing answers the question."""
    if prompt.section:
        prompt = replace(prompt, task=f"{prompt.section}: {prompt.task}", section="")
    if prompt.count:
        prompt = replace(prompt, task=strip_count(prompt.task) or prompt.task)
    task, context = _FOLLOW_UP.sub("", prompt.task), _FOLLOW_UP.search(prompt.task)
    if context and len(content_stems(task)) > 1:  # A follow-up that has words of its own is answered by them.
        prompt = replace(prompt, task=task)
    believed = frozenset(note.text for note in prompt.notes if note.kind == BELIEF_KIND)
    notes = tuple(note for note in prompt.notes if note.kind != BELIEF_KIND)
    question = analyze_question(prompt.task)
    words = weigh_question(prompt.task, notes)
    answers = read_notes(question, notes, reader)
    units = rank_units(question, notes, believed, words, embed, answers)
    sufficiency = _judge_evidence(prompt.task, notes, units, words, embed, answers)
    if sufficiency == "no" or not units:
        return SynthesisResponse("", closest=_list_closest(prompt.task, notes, units, words), sufficiency="no")
    units, times = prefer_newest(question, notes, units, words)
    taken = NO_STEPS
    steps: list[Unit] = []
    if needs_steps(question, notes, units):
        taken = read_steps(question, notes, reader)
        steps = rank_steps(question, notes, units, words, answers, taken)
    stretches = choose_stretches(question, notes, units, words, prompt.count or MAX_EXCERPTS, steps)
    is_chain = bool(steps) and stretches[0].unit is steps[0]  # Not where two things are compared.
    if sufficiency == "yes" and is_chain and measure_lead(steps) < _MIN_LEAD:
        sufficiency = "partly"
    short = find_short_answer(question, notes, stretches, words, answers)
    decisive = [_list_decisive(stretch, short, is_first=not i) for i, stretch in enumerate(stretches)]
    stretches = [
        lift_heading(notes[stretch.note], stretch, spans) for stretch, spans in zip(stretches, decisive, strict=True)
    ]
    excerpts = [
        build_excerpt(notes[stretch.note], stretch, spans) for stretch, spans in zip(stretches, decisive, strict=True)
    ]
    excerpts = [
        replace(excerpt, title=add_time(excerpt.title, times[stretch.note])) if stretch.note in times else excerpt
        for excerpt, stretch in zip(excerpts, stretches, strict=True)
    ]
    rendered = [
        render_excerpt(excerpt, notes[stretch.note], stretch, number if prompt.count else 0)
        for number, (excerpt, stretch) in enumerate(zip(excerpts, stretches, strict=True), 1)
    ]
    answer = "\n\n".join([*_render_short_answer(short, notes), *rendered])
    return SynthesisResponse(
        answer,
        summary=_summarize(notes, stretches[0]),
        open_questions=prompt.gaps,
        short_answer=short.text if short else "",
        excerpts=tuple(excerpts),
        sufficiency=sufficiency,
        restated=taken.restate(stretches[0].note) if is_chain else "",
    )


def _judge_evidence(
    task: str,
    notes: Sequence[Note],
    units: Sequence[Unit],
    words: QuestionWords,
    embed: Embed | None,
    answers: Sequence[AnswerSpan],
) -> Sufficiency:
    """Return whether the evidence answers the question; partly if it answers one of two questions, or in other words."""
    question = analyze_question(task)
    features = compute_features(question, notes, units, words)
    if lacks_column(question, notes, units):
        return "no"
    probability = estimate_answered(features)
    is_read = bool(answers) and expects_one_passage(question, notes, units)
    judged = judge(weigh_reader(probability, answers) if is_read else probability, is_read=is_read)
    is_named = features[SUFFICIENCY_FEATURES.index("names_missing")] == 0
    if judged == "yes" and not is_named and get_language() != "german":  # Every noun of German is written as a name is.
        return "partly"
    if judged != "no" or not notes:
        return judged
    if (rest := _drop_missing_acronym(task, notes)) and _covers_all(rest, notes, units):
        return "partly"
    for part in split_compound(task):
        part_words = weigh_question(part, notes)
        if judge(estimate_answered(compute_features(analyze_question(part), notes, units, part_words))) != "no":
            return "partly"
    if not is_named or not task.isascii():
        return "no"
    cosines = sorted(compute_cosines(task, [f"{note.title}. {note.text}" for note in notes], embed), reverse=True)
    is_sure = not answers or max(answer.probability for answer in answers) >= _MIN_READ_ELSE
    is_apart = cosines[0] - fmean(cosines[1:] or [0.0]) >= _MIN_APART
    return "partly" if cosines[0] >= _MIN_COSINE and (is_sure or is_apart or asks_in_steps(task)) else "no"


def _drop_missing_acronym(task: str, notes: Sequence[Note]) -> str:
    """Return a how-to question without the only word that no note has, where that is an acronym; else empty.

    How something is done "in CI" is told by how it is done. "The notice period of the IBM contract" is not told by another's.
    """
    if analyze_question(task).kind != "how_to":
        return ""
    held = frozenset[str]().union(*map(note_stems, notes))
    missing = find_missing_words(task, held)
    is_acronym = len(missing) == 1 and _ACRONYM.fullmatch(missing[0]) is not None
    return " ".join(re.sub(rf"\b{re.escape(missing[0])}\b", " ", task).split()) if is_acronym else ""


def _covers_all(task: str, notes: Sequence[Note], units: Sequence[Unit]) -> bool:
    """Whether one passage with its title has all words of a question."""
    words = weigh_question(task, notes)
    shown = {unit.note for unit in units}
    return len(words.weights) >= _MIN_COVERED and any(
        frozenset(words.weights) <= note_stems(notes[number]) for number in shown
    )


def _list_decisive(stretch: Stretch, short: FoundAnswer | None, *, is_first: bool) -> list[Offsets]:
    """Return what to highlight: the short answer, else spans of the right type, else the sentence that was chosen."""
    unit = stretch.unit
    if short is not None and is_first and not short.is_counted and short.note == stretch.note:
        return [short.span]
    if unit.spans:
        return list(unit.spans)
    has_more = stretch.end - stretch.start > unit.end - unit.start
    return [(unit.start, unit.end)] if has_more and unit.block.format == "prose" else []


def _render_short_answer(short: FoundAnswer | None, notes: Sequence[Note]) -> list[str]:
    if short is None:
        return []
    if short.is_counted:
        return [f"{COUNTED_LABEL} {escape_markdown(short.text)}"]
    return [f"{SHORT_ANSWER_LABEL} {quote_markdown(short.text, is_start=False)} {' '.join(notes[short.note].handles)}"]


def _summarize(notes: Sequence[Note], stretch: Stretch) -> str:
    note, unit = notes[stretch.note], stretch.unit
    text = unit.text
    if unit.block.format == "list":  # Without its bullet and the code in it.
        text = re.sub(r"^[-*+•]\s+", "", re.split(r"\s(?:`{3}|~{3})", text)[0])
    return f"{quote_markdown(text)} {' '.join(note.handles)}"


def _list_closest(
    task: str, notes: Sequence[Note], units: Sequence[Unit], words: QuestionWords
) -> tuple[ClosestPassage, ...]:
    """Return the nearest passages, each with the question's words that it lacks."""
    best: dict[int, Unit] = {}
    for unit in units:
        best.setdefault(unit.note, unit)
    ranked = sorted(best.values(), key=lambda unit: -unit.score)[:_MAX_CLOSEST]
    found = []
    for unit in ranked:
        note = notes[unit.note]
        stretch = Stretch(unit.note, tuple(with_head(unit.block, (unit.start, unit.end))), unit)
        excerpt: Excerpt = build_excerpt(note, stretch, ())
        missing = find_missing_words(task, note_stems(note))
        found.append(ClosestPassage(excerpt.text, excerpt.format, (), excerpt.title, excerpt.location, missing))
    return tuple(found)
