"""Find the short answer: a span of the right type in a sentence that matches the question well, or yes or no.

A wrong short answer is worse than none, so the sentence must hold most of the question's words by itself or with its title.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.models.extractive.comparison import decide
from suffice.models.extractive.conversation import find_questions, find_verdict
from suffice.models.extractive.excerpts import Stretch
from suffice.models.extractive.form import (
    analyze_form,
    find_agents,
    find_counted,
    find_holders,
    find_maker_entry,
    find_scope,
)
from suffice.models.extractive.units import QuestionWords, Unit, find_release, note_stems
from suffice.models.reading import AnswerSpan
from suffice.text.answer_spans import join_names
from suffice.text.entities import content_stems, extract_names
from suffice.text.question import Question, asks_release
from suffice.text.sentences import Offsets
from suffice.text.tokens import expand_numbers
from suffice.types import Note

_MIN_TOPIC_COVERAGE = 0.8  # Share of the question's weighted words in the sentence and its title.
_MIN_OWN_COVERAGE = 0.5  # And in the sentence alone.
_MIN_YES_NO_COVERAGE = 0.75
_MAX_YES_NO_CHARS = 300
# What the reader's span may answer where no pattern finds a span of the right type, and how sure it must be.
_READ_KINDS = frozenset({"who", "when", "where", "amount", "version"})
_MIN_READ_PROBABILITY = 0.8
_NEAR_CHARS = 40
_PLACE_BEFORE = re.compile(
    r"\b(?:in|at|near|on|from|to|into|within|of|im|am|bei|aus|nach|von|à|au|en|dans|de|du|a)\s+(?:(?:the|la|le|el)\s+)?$",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|neither|nor|cannot|without|unable|n['’]t|nicht|kein\w*|nie|niemals|ohne|weder|ne"
    r"|n['’]|pas|jamais|aucune?|sans"
    r"|nunca|ning[úu]n\w*|sin|tampoco)\b|n['’]t\b",
    re.IGNORECASE,
)
_RELEASE_STEMS = content_stems("version release")  # Named by the question, and seldom by the heading of a release.
_COLUMN = re.compile(r"(?:^|· )\s*(?P<name>[^:·]{1,60}): (?P<value>[^·]*[^·\s])")
_HEDGE = re.compile(
    r"\b(?:if|unless|whether|may|might|could|except|only|wenn|falls|außer|si|sauf|sólo|seulement)\b", re.IGNORECASE
)


# Yes and no in the language of the question, told by its first word.
_YES_NO = tuple(
    (re.compile(rf"(?:{openings})\b", re.IGNORECASE), words)
    for openings, words in (
        (
            "ist|sind|hat|haben|kann|können|darf|dürfen|muss|müssen|wird|werden|wurden?|soll|gibt|waren?|hatte",
            ("Ja", "Nein"),
        ),
        ("est-ce|est|sont|peut|faut-il|y a-t-il|doit-on", ("Oui", "Non")),
        ("es|son|está|están|puede|pueden|se puede|hay|tienen?|debe|existe|fue|era", ("Sí", "No")),
    )
)


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """A short answer: its text, its place in the text of a note, and whether it was counted or compared and not read."""

    text: str
    note: int
    span: Offsets
    is_counted: bool = False


def find_short_answer(
    question: Question,
    notes: Sequence[Note],
    stretches: Sequence[Stretch],
    words: QuestionWords,
    answers: Sequence[AnswerSpan] = (),
) -> FoundAnswer | None:
    """Return the short answer that stands in the first stretch; ``None`` if there is none of the right kind.

    ``answers`` is what a reader found in each note.
    """
    if not stretches or (question.kind == "compare" and question.span == "none"):
        return None
    if (decision := decide(question, notes)) is not None:
        return FoundAnswer(decision.text, decision.notes[0], (0, 0), is_counted=True)
    unit = stretches[0].unit
    note = notes[unit.note]
    if question.kind == "yes_no":
        return _decide_by_reply(question, notes, stretches[0], words) or _decide_yes_no(
            question, note, stretches[0], words
        )
    if note.kind == "csv":
        counted = find_counted(analyze_form(question, frozenset(words.weights)), note, note.text[unit.start : unit.end])
        if counted:
            return FoundAnswer(counted, unit.note, (unit.start, unit.end), is_counted=True)
        return None if question.kind == "count" else _find_column(note, unit, words)
    title = content_stems(note.title) | (_RELEASE_STEMS if asks_release(question) else frozenset())
    own = unit.stems | unit.subject
    if words.coverage(own | title) < _MIN_TOPIC_COVERAGE or words.coverage(own) < _MIN_OWN_COVERAGE:
        return _count_items(question, note, stretches[0], words)
    answer = answers[unit.note] if answers else None
    if asks_release(question) and (release := find_release(note, unit.block)) is not None:
        place = note.text.find(release, 0, unit.start)
        return FoundAnswer(release, unit.note, (place, place + len(release)) if place >= 0 else (unit.start, unit.end))
    if unit.spans:
        read = [span for span in unit.spans if answer and span[0] < answer.end and answer.start < span[1]]
        span = _nearest_span(note.text, unit, read or unit.spans, frozenset(words.weights))
        is_read = bool(read) and answer is not None and answer.probability >= _MIN_READ_PROBABILITY
        if question.span == "name" and not is_read and not _is_connected(question, note, unit, span):
            return None
        if question.kind == "who":
            span = join_names(note.text, span, unit.spans)
        return FoundAnswer(_clean(note.text[slice(*span)]), unit.note, span)
    if (
        answer is not None
        and question.kind in _READ_KINDS
        and answer.probability >= _MIN_READ_PROBABILITY
        and unit.start <= answer.start < answer.end <= unit.end
    ):
        return FoundAnswer(_clean(note.text[answer.start : answer.end]), unit.note, (answer.start, answer.end))
    return _count_items(question, note, stretches[0], words)


def _is_connected(question: Question, note: Note, unit: Unit, span: Offsets) -> bool:
    """Whether a name is more than mentioned: it does or is what the question says, or a place that something is in."""
    before, after = note.text[unit.start : span[0]], note.text[span[1] : unit.end]
    if question.kind != "who":
        return _PLACE_BEFORE.search(before) is not None
    form = analyze_form(question, unit.stems)
    text = note.text[unit.start : unit.end]
    named = [
        *find_holders(text, form.role),
        *find_agents(text),
        *find_maker_entry(form, find_scope(note, unit.start), text),
    ]
    if any(unit.start + start < span[1] and span[0] < unit.start + end for start, end in named):
        return True
    deeds = content_stems(" ".join(re.findall(r"\b[a-zà-ÿ]\w+", question.text)))
    is_other = after.startswith(("'s", "’s")) or (before.endswith("(") and after.startswith(")"))
    return not is_other and bool(deeds & content_stems(after[:_NEAR_CHARS]))


def _nearest_span(text: str, unit: Unit, spans: Sequence[Offsets], stems: frozenset[str]) -> Offsets:
    """Return the span with the most words of the question close to it."""
    matches = [
        match.start() + unit.start
        for match in re.finditer(r"\w[\w'’-]*", text[unit.start : unit.end])
        if content_stems(match.group()) & stems
    ]

    def closeness(span: Offsets) -> float:
        return sum(1 / (10 + min(abs(position - span[0]), abs(position - span[1]))) for position in matches)

    return max(spans, key=lambda span: (closeness(span), -span[0]))


def _find_column(note: Note, unit: Unit, words: QuestionWords) -> FoundAnswer | None:
    """Return the value of the column that the question names, in a row of ``column: value · column: value``."""
    row = note.text[unit.start : unit.end]
    for match in _COLUMN.finditer(row):
        stems = content_stems(match["name"])
        is_given = content_stems(expand_numbers(match["value"])) <= frozenset(words.weights)
        if (
            stems
            and not is_given
            and stems <= frozenset(words.weights)
            and words.coverage(unit.stems - stems) >= _MIN_OWN_COVERAGE / 2
        ):
            span = (unit.start + match.start("value"), unit.start + match.end("value"))
            return FoundAnswer(_clean(match["value"]), unit.note, span)
    return None


def _decide_yes_no(question: Question, note: Note, stretch: Stretch, words: QuestionWords) -> FoundAnswer | None:
    """Return yes or no if one plain sentence holds nearly all words of the question.

    A hedged sentence decides nothing, and neither does one beside which another sentence denies something.
    """
    unit = stretch.unit
    stems = unit.stems | content_stems(note.title)
    own = words.coverage(unit.stems)
    if words.coverage(stems) < _MIN_YES_NO_COVERAGE or own < _MIN_OWN_COVERAGE or len(unit.text) > _MAX_YES_NO_CHARS:
        return None
    missing_names = [name for name in extract_names(question.text) if not content_stems(name) <= stems]
    if missing_names or _HEDGE.search(unit.text) or unit.block.format == "code":
        return None
    is_denied = bool(_NEGATION.search(unit.text))
    if not is_denied and _NEGATION.search(note.text, stretch.start, stretch.end):
        return None
    is_no = is_denied != bool(_NEGATION.search(question.text))
    return FoundAnswer(_say(question, is_yes=not is_no), unit.note, (unit.start, unit.end))


def _decide_by_reply(
    question: Question, notes: Sequence[Note], stretch: Stretch, words: QuestionWords
) -> FoundAnswer | None:
    """Return the yes or no that a message of a conversation begins with, if the message before it asks the question."""
    number, unit = stretch.note, stretch.unit
    asked_in = find_questions(notes).get(number)
    verdict = find_verdict(notes[number])
    if asked_in is None or verdict is None or words.coverage(note_stems(notes[asked_in])) < _MIN_YES_NO_COVERAGE:
        return None
    if bool(_NEGATION.search(question.text)) != bool(_NEGATION.search(notes[asked_in].text)):
        return None
    return FoundAnswer(_say(question, is_yes=verdict), number, (unit.start, unit.end))


def _say(question: Question, *, is_yes: bool) -> str:
    """Return yes or no in the language of the question."""
    text = question.text.strip(" ¿¡\"'")
    yes, no = next((words for opening, words in _YES_NO if opening.match(text)), ("Yes", "No"))
    return yes if is_yes else no


def _count_items(question: Question, note: Note, stretch: Stretch, words: QuestionWords) -> FoundAnswer | None:
    """Return the number of items of a list whose lead-in or heading the question is about."""
    (start, end), block = stretch.parts[-1]
    is_whole = (start, end) == (block.start, block.end) and not block.is_part
    if question.kind != "count" or block.format not in ("list", "table") or not is_whole:
        return None
    heading = content_stems(note.title) | (content_stems(note.text[slice(*block.lead)]) if block.lead else frozenset())
    if words.coverage(heading) < _MIN_TOPIC_COVERAGE:
        return None
    what = "items of the list" if block.format == "list" else "rows of the table"
    return FoundAnswer(f"{len(block.units)} ({what} below)", stretch.note, (start, end), is_counted=True)


def _clean(text: str) -> str:
    return " ".join(text.split()).strip(" ,;:`\"'“”")
