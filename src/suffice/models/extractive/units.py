"""The smallest parts of the notes that may answer a question (sentences, items, rows, lines), and how well each fits it.

The score is a weighted sum of a handful of features; ``weights.json`` holds the weights and says where they come from.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import TYPE_CHECKING

from suffice.models.extractive.conversation import asks_indirectly, find_questions, find_words
from suffice.models.extractive.form import (
    QuestionForm,
    analyze_form,
    find_agents,
    find_default,
    find_holders,
    find_maker_entry,
    find_scope,
    measure_form,
)
from suffice.models.reading import AnswerSpan, PassageReader
from suffice.text.answer_spans import find_spans
from suffice.text.blocks import MAX_ITEM_CHARS, TextBlock, split_blocks
from suffice.text.date_events import select_dates
from suffice.text.entities import content_stems, extract_facets, extract_names, strip_parenthetical
from suffice.text.languages import ENGLISH, detect_language, get_language
from suffice.text.question import Question, asks_release, strip_comparing
from suffice.text.sentences import Offsets
from suffice.text.tokens import expand_identifiers, expand_numbers, normalize_phrase, tokenize
from suffice.types import Embed, Note

if TYPE_CHECKING:
    import numpy

# "Long" in "how long" says what is asked for; the answer does not have the word.
_MEASURE = re.compile(
    r"\bhow (?:long|many|much|often|far|tall|high|old|big|large|fast|deep|wide|heavy)\b", re.IGNORECASE
)
_TYPED_KINDS = frozenset({"when", "version", "amount", "default"})
_RELEASE = re.compile(
    r"\d\.\d|\bversion\b", re.IGNORECASE
)  # Sections of a changelog mention each other; that is no step.
_DEFAULT_WORD = re.compile(
    r"\bdefault|\bstandardmäßig|\bpar défaut|\bpor (?:defecto|omisión)|\bpredeterminad", re.IGNORECASE
)
# "1.2. Overview", "A.1. Overview" or a question. "1. The budget is approved." is an item of an ordered list.
_CONTENTS_ITEM = re.compile(r"\W*(?:[A-Z]|\d+)\.\d+[\d.]*\s|.*\?\W*$", re.DOTALL)
_SECTION_NUMBER = re.compile(r"(?:^|(?<=> ))[\s#]*\d+(?:\.\d+)*\. +(?=[^\W\d])")  # "4.1. Overview" is no version.
_LITERAL = re.compile(r"[`'\"]*(?:[-+]?\d|True\b|False\b|None\b|null\b|['\"\[({])")
_MAX_CANDIDATES = 120  # Units looked at closely; they are selected by words.
# The reader knows single steps: it is trusted where one passage has nearly all words of the question, and hardly where the
# question must be answered over several passages. Links between passages are the other way round.
_TRUST_POWER = 4
_FILE_YEAR = re.compile(r"(?<![\d.])(?:19|20)\d{2}(?!\d)")
_AFTER_REPLY = 0.01
HEADING_SPANS = frozenset({"date", "year", "version"})  # What the heading of a release may answer.
_MAX_ROW_CHARS = 1500
# A sentence that begins so is about the subject of the sentence before it.
PRONOUN = re.compile(
    r"(?:It|He|She|They|This|That|These|Those|Its|His|Her|Their|Es|Er|Sie|Dies\w*|Il|Elle|Este|Esta)\b"
)
_SUBJECT = re.compile(r"(?:\S+\s+){1,5}")  # No verb is recognised: the first words will do.
UNIT_FEATURES = (
    *("own", "topic", "note", "note_cosine", "span", "belief", "rank", "named", "code", "names", "short"),
    *("link", "reader", "reader_note"),
)


@cache
def load_weights() -> dict[str, dict[str, float]]:
    """Return the weights of ``weights.json`` by part (``unit``, ``sufficiency``, ``chain``, ``thresholds``) and feature."""
    text = files("suffice.models.extractive").joinpath("weights.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, float]] = json.loads(text)
    return loaded


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, item, row or line of a note, its features and its score."""

    note: int
    block: TextBlock
    start: int
    end: int
    text: str
    """In one line."""
    stems: frozenset[str]
    subject: frozenset[str] = frozenset()
    """Stems of what a pronoun at its beginning refers to."""
    spans: tuple[Offsets, ...] = ()
    """Spans of the type that the question asks for, in the note's text."""
    features: tuple[float, ...] = ()
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The stems of a question with weights that add up to one: the rarer a stem is among the notes, the higher."""

    weights: dict[str, float]

    def coverage(self, stems: frozenset[str]) -> float:
        """Return the weight of the question's stems that are among ``stems``."""
        return sum(weight for stem, weight in self.weights.items() if stem in stems)


def weigh_question(task: str, notes: Sequence[Note]) -> QuestionWords:
    """Weigh the question's stems by their rarity among the notes."""
    task = strip_comparing(_MEASURE.sub("how", task))
    stems = frozenset[str]().union(*(facet.stems for facet in extract_facets(task, limit=20)))
    own = content_stems(expand_numbers(task))
    stems |= {stem for stem in own if stem not in content_stems(task)} or (frozenset() if stems else own)
    counts = Counter(stem for note in notes for stem in stems & note_stems(note))
    raw = {stem: math.log(1 + (len(notes) + 1) / (counts[stem] + 0.5)) for stem in stems}
    total = sum(raw.values()) or 1.0
    return QuestionWords({stem: weight / total for stem, weight in raw.items()})


def read_notes(question: Question, notes: Sequence[Note], reader: PassageReader | None) -> list[AnswerSpan]:
    """Return what the reader finds in each note, as offsets in its text; empty without a reader for the language."""
    if (
        reader is None
        or not notes
        or get_language() != ENGLISH
        or (detect_language(question.text) or ENGLISH) != ENGLISH
    ):
        return []
    found = reader.read(question.text, [f"{note.title}\n{note.text}" for note in notes])
    shifts = [len(note.title) + 1 for note in notes]
    return [
        AnswerSpan(answer.probability, answer.start - shift, answer.end - shift)
        for answer, shift in zip(found, shifts, strict=True)
    ]


def find_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning, also those of whole versions and dates and of parts of identifiers."""
    return content_stems(expand_identifiers(expand_numbers(text)))


def note_stems(note: Note) -> frozenset[str]:
    """Return the stems of a note with its title."""
    return title_stems(note) | find_stems(note.text)


def title_stems(note: Note) -> frozenset[str]:
    """Return the stems of a note's title, and the year in the name of its file: ``policy-2022.md`` is of 2022."""
    years = _FILE_YEAR.findall(PurePath(note.place.path).name) if note.place is not None else []
    return find_stems(note.title).union(years)


def rank_units(
    question: Question,
    notes: Sequence[Note],
    believed: frozenset[str],
    words: QuestionWords,
    embed: Embed | None,
    answers: Sequence[AnswerSpan] = (),
) -> list[Unit]:
    """Return the units that may answer the question, best first. ``answers`` is what a reader found in each note."""
    import numpy as np

    about = [words.coverage(note_stems(note)) for note in notes]
    cosines = compute_cosines(question.text, [f"{note.title}. {note.text}" for note in notes], embed)
    candidates = [unit for number, note in enumerate(notes) for unit in _list_units(number, note, question)]
    blocks = {(unit.note, unit.block) for unit in candidates}
    topics = {(number, block): find_topic(notes[number], block) for number, block in blocks}
    candidates.sort(
        key=lambda unit: (
            unit.text not in believed,
            -words.coverage(unit.stems | unit.subject | topics[unit.note, unit.block])
            - 0.3 * about[unit.note]
            - 0.3 * cosines[unit.note],
        )
    )
    candidates = candidates[:_MAX_CANDIDATES]
    if not candidates:
        return []
    phrase = normalize_phrase(question.text)
    wanted = frozenset(tokenize(question.text))
    question_stems = frozenset(words.weights)
    links = _measure_links(question.text, notes, about)
    form = analyze_form(question, question_stems)
    asked_in = find_questions(notes)
    rows, found = [], []
    for unit in candidates:
        note = notes[unit.note]
        own = unit.stems | unit.subject
        topic = topics[unit.note, unit.block]
        if unit.note in asked_in:
            topic |= note_stems(notes[asked_in[unit.note]])
        spans = _find_new_spans(form, note, unit, wanted, question_stems)
        title = normalize_phrase(strip_parenthetical(note.title))
        names_new = any(not find_stems(name) <= question_stems | topic for name in extract_names(unit.text))
        answer = answers[unit.note] if answers else None
        follower = find_follower(note, unit)
        end = unit.end if follower is None else follower.end  # What a sentence introduces is read with it.
        holds_answer = answer is not None and unit.start <= answer.start < end
        trust = words.coverage(own | topic) ** _TRUST_POWER
        rows.append(
            (
                words.coverage(own),
                words.coverage(own | topic),
                about[unit.note],
                cosines[unit.note],
                float(bool(spans)),
                float(unit.text in believed),
                1 / (1 + unit.note),
                float(bool(title.strip()) and title in phrase),
                float(unit.block.format == "code"),
                float(names_new),
                float(len(unit.text) < 40 and follower is None),
                links[unit.note],
                answer.probability * trust if answer is not None and holds_answer else 0.0,
                answer.probability * trust if answer is not None else 0.0,
            )
        )
        found.append((unit, spans))
    weights = load_weights()["unit"]
    table = np.array(rows)
    # A step to another passage is needed only if no passage has all words of the question.
    table[:, UNIT_FEATURES.index("link")] *= 1 - table[:, UNIT_FEATURES.index("topic")].max() ** _TRUST_POWER
    values = table @ np.array([weights[name] for name in UNIT_FEATURES]) + weights["bias"]
    if question.kind in _TYPED_KINDS:  # "Default: 1000" or "Released 2021-05-11" has few words of the question.
        values += weights["typed_span"] * np.array([_has_typed_span(question, notes, *pair) for pair in found])
    values += np.array([measure_form(form, notes[unit.note], unit.block, (unit.start, unit.end)) for unit, _ in found])
    for reply, asked in asked_in.items():  # The message that reports a question comes after the one that answers it.
        best = max((value for value, (unit, _) in zip(values, found, strict=True) if unit.note == reply), default=None)
        for number, (unit, _) in enumerate(found):
            if best is not None and unit.note == asked and asks_indirectly(unit.text):
                values[number] = min(values[number], best - _AFTER_REPLY)
    ranked = [
        replace(unit, spans=tuple(spans), features=tuple(row), score=float(value))
        for (unit, spans), row, value in zip(found, table, values, strict=True)
    ]
    return sorted(ranked, key=lambda unit: -unit.score)


def _has_typed_span(question: Question, notes: Sequence[Note], unit: Unit, spans: Sequence[Offsets]) -> bool:
    """Whether a unit holds a value of the type that the question asks for; as a default counts only a literal value."""
    if asks_release(question):  # The version of a release stands in its heading.
        note = notes[unit.note]
        return bool(spans) or find_release(note, unit.block) is not None
    if question.kind != "default":  # The time of a message is when something was said.
        words = find_words(notes[unit.note])
        return any(start >= words for start, _ in spans)
    return any(_LITERAL.match(notes[unit.note].text, start) for start, _ in spans)


def _measure_links(task: str, notes: Sequence[Note], about: Sequence[float]) -> list[float]:
    """Return for each note how much the best other note that names its title is about the question: a step of a chain.

    The title must be written as there, so that a heading such as "Testing" is not taken for a name. A document that repeats its
    own title is no chain.
    """
    links = []
    for number, note in enumerate(notes):
        title = strip_parenthetical(note.title)
        pattern = re.compile(rf"(?<!\w){re.escape(title)}(?!\w)")
        is_release = _RELEASE.search(title) is not None
        is_name = len(title) > 3 and title[0].isupper() and not is_release and not pattern.search(task)
        naming = (
            about[i]
            for i, other in enumerate(notes)
            if is_name and i != number and not other.title.startswith(note.title) and pattern.search(other.text)
        )
        links.append(max(naming, default=0.0))
    return links


def compute_cosines(task: str, texts: Sequence[str], embed: Embed | None) -> list[float]:
    """Return the similarity of each text to the question; 0 without embeddings."""
    if embed is None or not texts:
        return [0.0] * len(texts)
    vectors: numpy.ndarray = embed([task, *texts])
    return [float(value) for value in vectors[1:] @ vectors[0]]


def _list_units(number: int, note: Note, question: Question) -> list[Unit]:
    found = []
    for block in split_blocks(note.text, note.kind):
        if _is_table_of_contents(note, block):
            continue
        if block.is_heading and not (
            question.span in HEADING_SPANS and find_spans(note.text[block.start : block.end], question.span)
        ):
            continue
        longest = (
            _MAX_ROW_CHARS if block.format == "table" else MAX_ITEM_CHARS
        )  # A longer "sentence" is a list without full stops.
        subject = frozenset[str]()
        for start, end in block.units:
            text = " ".join(note.text[start:end].split())
            stems = find_stems(text)
            refers = block.format == "prose" and PRONOUN.match(text) is not None
            if not refers and (opening := _SUBJECT.match(text)):
                subject = find_stems(opening[0])
            is_statement = len(stems) >= (2 if block.format == "prose" else 1) and not text.rstrip("*_`\"')”").endswith(
                "?"
            )
            if is_statement and len(text) <= longest and block.lead != (start, end):
                found.append(Unit(number, block, start, end, text, stems, subject if refers else frozenset()))
    return found


def _is_table_of_contents(note: Note, block: TextBlock) -> bool:
    """Whether most items of a list are numbered headings or questions, which say nothing themselves."""
    lines = note.text[block.start : block.end].split("\n") if block.format == "list" else []
    return len(lines) >= 3 and 2 * sum(bool(_CONTENTS_ITEM.match(line)) for line in lines) > len(lines)


def find_topic(note: Note, block: TextBlock) -> frozenset[str]:
    """Return the stems of what stands above a block: title, lead-in, the header of a table, the heading above it."""
    above = find_heading(note, block)
    spans = [span for span in (block.lead, block.head, (above.start, above.end) if above else None) if span]
    return title_stems(note).union(*(find_stems(note.text[slice(*span)]) for span in spans))


def find_heading(note: Note, block: TextBlock) -> TextBlock | None:
    """Return the heading in the note's text that a block stands under; ``None`` if there is none."""
    headings = (other for other in split_blocks(note.text, note.kind) if other.is_heading and other.end <= block.start)
    return max(headings, key=lambda heading: heading.start, default=None)


def find_follower(note: Note, unit: Unit, formats: Sequence[str] = ("code", "list", "table")) -> TextBlock | None:
    """Return the block that a unit introduces, such as the list after "The options are:"; ``None`` if there is none."""
    return next(
        (
            block
            for block in split_blocks(note.text, note.kind)
            if block.format in formats and block.lead == (unit.start, unit.end)
        ),
        None,
    )


def find_release(note: Note, block: TextBlock) -> str | None:
    """Return the version in the nearest heading above a block that has one, else in the note's title."""
    above = [other for other in split_blocks(note.text, note.kind) if other.is_heading and other.end <= block.start]
    for text in (*(note.text[other.start : other.end] for other in reversed(above)), note.title):
        text = _SECTION_NUMBER.sub("", text)
        if spans := find_spans(text, "version"):
            return text[slice(*spans[0])]
    return None


def _find_new_spans(
    form: QuestionForm, note: Note, unit: Unit, wanted: frozenset[str], stems: frozenset[str]
) -> list[Offsets]:
    """Return the spans of the wanted type whose words the question does not have."""
    text, question = note.text[unit.start : unit.end], form.question
    if question.kind == "default" and unit.block.format == "code" and note.kind != "code":
        return []  # An example in a manual; it shows another value than the default as often as not.
    if note.kind == "csv":  # Each row has values of every type; which of them answers is told by its column.
        return []
    spans = find_spans(text, question.span)
    if question.kind == "version" and not spans and not asks_release(question):  # "PostgreSQL 15 or newer"
        spans = find_spans(text, "number")
    if question.kind == "default" and form.asks_number and _DEFAULT_WORD.search(text):
        spans += find_spans(text, "number")
    if question.kind == "default" and (assigned := find_default(form, note, unit.block, (unit.start, unit.end))):
        spans = [(assigned[0][0] - unit.start, assigned[0][1] - unit.start), *spans]
    if question.kind == "default" and form.asks_number:  # "The default of None means" gives no number.
        spans = [(start, end) for start, end in spans if re.search(r"\d", text[start:end])]
    if form.event is not None:
        spans = select_dates(text, spans, form.event)
    if question.kind == "who" and question.span == "name":
        entry = find_maker_entry(form, find_scope(note, unit.start), text)
        spans = entry or find_holders(text, form.role) or find_agents(text) or spans
    if question.span == "name":  # A name of the question's own words is no answer.
        spans = [(start, end) for start, end in spans if not find_stems(text[start:end]) <= stems]
    elif question.kind != "default":  # A cookie may be called "session" by default.
        spans = [(start, end) for start, end in spans if not set(tokenize(text[start:end])) <= wanted]
    return [(unit.start + start, unit.start + end) for start, end in spans]
