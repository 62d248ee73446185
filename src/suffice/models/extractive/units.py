"""The smallest parts of the notes that may answer a question (sentences, items, rows, lines), and how well each fits it.

The score is a weighted sum of a handful of features; ``weights.json`` holds the weights and says where they come from.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.models.extractive.weights import load_weights
from suffice.models.reading import AnswerSpan, PassageReader
from suffice.text.answer_spans import find_assignment, find_spans
from suffice.text.blocks import TextBlock, split_blocks
from suffice.text.entities import content_stems, extract_facets, extract_names, strip_parenthetical
from suffice.text.languages import ENGLISH, detect_language, get_language
from suffice.text.question import Question
from suffice.text.sentences import Offsets
from suffice.text.tokens import normalize_phrase, tokenize
from suffice.types import Embed, Note

if TYPE_CHECKING:
    import numpy

_MAX_CANDIDATES = 60  # Units looked at closely; they are selected by words.
_MAX_UNIT_CHARS = 600  # A longer "sentence" is a table or a list without full stops.
UNIT_FEATURES = (
    *("own", "topic", "note", "note_cosine", "span", "belief", "rank", "named", "code", "names", "short"),
    *("link", "reader", "reader_note"),
)


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
    stems = frozenset[str]().union(*(facet.stems for facet in extract_facets(task, limit=20))) or content_stems(task)
    counts = Counter(stem for note in notes for stem in stems & note_stems(note))
    raw = {stem: math.log(1 + (len(notes) + 1) / (counts[stem] + 0.5)) for stem in stems}
    total = sum(raw.values()) or 1.0
    return QuestionWords({stem: weight / total for stem, weight in raw.items()})


def read_notes(question: Question, notes: Sequence[Note], reader: PassageReader | None) -> list[AnswerSpan]:
    """Return what the reader finds in each note, as offsets in its text; empty without a reader for the language."""
    if reader is None or not notes or get_language() != ENGLISH or (detect_language(question.text) or ENGLISH) != ENGLISH:
        return []
    found = reader.read(question.text, [f"{note.title}\n{note.text}" for note in notes])
    shifts = [len(note.title) + 1 for note in notes]
    return [
        AnswerSpan(answer.probability, answer.start - shift, answer.end - shift)
        for answer, shift in zip(found, shifts, strict=True)
    ]


def note_stems(note: Note) -> frozenset[str]:
    """Return the stems of a note with its title."""
    return content_stems(note.title) | content_stems(note.text)


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
    candidates = [unit for number, note in enumerate(notes) for unit in _list_units(number, note)]
    topics = [content_stems(note.title) for note in notes]
    candidates.sort(
        key=lambda unit: (
            unit.text not in believed,
            -words.coverage(unit.stems | topics[unit.note]) - 0.3 * about[unit.note] - 0.3 * cosines[unit.note],
        )
    )
    candidates = candidates[:_MAX_CANDIDATES]
    if not candidates:
        return []
    phrase = normalize_phrase(question.text)
    wanted = frozenset(tokenize(question.text))
    question_stems = frozenset(words.weights)
    links = _measure_links(question.text, notes, about)
    rows, found = [], []
    for unit in candidates:
        note = notes[unit.note]
        topic = topics[unit.note] | _lead_stems(note, unit.block)
        spans = _find_new_spans(question, note, unit, wanted, question_stems)
        title = normalize_phrase(strip_parenthetical(note.title))
        names_new = any(not content_stems(name) <= question_stems | topic for name in extract_names(unit.text))
        answer = answers[unit.note] if answers else None
        holds_answer = answer is not None and unit.start <= answer.start < unit.end
        rows.append(
            (
                words.coverage(unit.stems),
                words.coverage(unit.stems | topic),
                about[unit.note],
                cosines[unit.note],
                float(bool(spans)),
                float(unit.text in believed),
                1 / (1 + unit.note),
                float(bool(title.strip()) and title in phrase),
                float(unit.block.format == "code"),
                float(names_new),
                float(len(unit.text) < 40),
                links[unit.note],
                answer.probability if answer is not None and holds_answer else 0.0,
                answer.probability if answer is not None else 0.0,
            )
        )
        found.append((unit, spans))
    weights = load_weights()["unit"]
    values = np.array(rows) @ np.array([weights[name] for name in UNIT_FEATURES]) + weights["bias"]
    ranked = [
        Unit(unit.note, unit.block, unit.start, unit.end, unit.text, unit.stems, tuple(spans), row, float(value))
        for (unit, spans), row, value in zip(found, rows, values, strict=True)
    ]
    return sorted(ranked, key=lambda unit: -unit.score)


def _measure_links(task: str, notes: Sequence[Note], about: Sequence[float]) -> list[float]:
    """Return for each note how much the best other note that names its title is about the question: a step of a chain.

    The title must be written as there, so that a heading such as "Testing" is not taken for a name.
    """
    links = []
    for number, note in enumerate(notes):
        title = strip_parenthetical(note.title)
        pattern = re.compile(rf"(?<!\w){re.escape(title)}(?!\w)")
        is_name = len(title) > 3 and title[0].isupper() and not pattern.search(task)
        naming = (about[i] for i, other in enumerate(notes) if is_name and i != number and pattern.search(other.text))
        links.append(max(naming, default=0.0))
    return links


def compute_cosines(task: str, texts: Sequence[str], embed: Embed | None) -> list[float]:
    """Return the similarity of each text to the question; 0 without embeddings."""
    if embed is None or not texts:
        return [0.0] * len(texts)
    vectors: numpy.ndarray = embed([task, *texts])
    return [float(value) for value in vectors[1:] @ vectors[0]]


def _list_units(number: int, note: Note) -> list[Unit]:
    found = []
    for block in split_blocks(note.text, note.kind):
        for start, end in block.units:
            text = " ".join(note.text[start:end].split())
            stems = content_stems(text)
            is_statement = len(stems) >= (2 if block.format == "prose" else 1) and not text.rstrip("*_`\"')”").endswith(
                "?"
            )
            if is_statement and len(text) <= _MAX_UNIT_CHARS and block.lead != (start, end):
                found.append(Unit(number, block, start, end, text, stems))
    return found


def _lead_stems(note: Note, block: TextBlock) -> frozenset[str]:
    stems = content_stems(note.text[slice(*block.lead)]) if block.lead else frozenset[str]()
    return stems | content_stems(note.text[slice(*block.head)]) if block.head else stems


def _find_new_spans(
    question: Question, note: Note, unit: Unit, wanted: frozenset[str], stems: frozenset[str]
) -> list[Offsets]:
    """Return the spans of the wanted type whose words the question does not have."""
    text = note.text[unit.start : unit.end]
    spans = find_spans(text, question.span)
    if question.kind == "default" and (assigned := find_assignment(text, wanted)):
        spans = [assigned, *spans]
    if question.span == "name":  # A name of the question's own words is no answer.
        spans = [(start, end) for start, end in spans if not content_stems(text[start:end]) <= stems]
    else:
        spans = [(start, end) for start, end in spans if not set(tokenize(text[start:end])) <= wanted]
    return [(unit.start + start, unit.start + end) for start, end in spans]
