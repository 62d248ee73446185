"""Rank passages by how likely each answers the question: by the search, by words, by the nearest stretch, and by the reader.

The score is a weighted sum of the four. ``weights.json`` holds the weights; ``python -m training.extractive.fit`` fits them on
questions that are not measured on.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import attrgetter

from suffice.measure.stretches import compare_stretches
from suffice.models.embeddings.static import embed_static
from suffice.models.reading import AnswerSpan, PassageReader
from suffice.text.blocks import TextBlock, split_blocks
from suffice.text.dates import write_dates_like
from suffice.text.entities import content_stems, strip_instruction
from suffice.text.languages import ENGLISH
from suffice.text.question import Question
from suffice.text.sentences import Offsets
from suffice.text.tokens import expand_identifiers, expand_numbers
from suffice.types import Embed, Note, Passage

Source = Note | Passage
"""What is read: both have a text and a title."""
PASSAGE_FEATURES = ("rank", "words", "cosine", "reader")
MAX_READ = 20  # Passages for the reader: thirty find no more (bench/answers.md).
_MAX_REREAD = 4  # Passages that it reads again; so many are shown.
_LOGIT_MARGIN = 0.001  # A probability is never surer than this.


@cache
def load_weights() -> dict[str, dict[str, float]]:
    """Return the weights of ``weights.json`` by model (``passage``, ``chain``, ``sufficiency`` …) and feature."""
    text = files("suffice.models.extractive").joinpath("weights.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, float]] = json.loads(text)
    return loaded


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, item, row or line of a passage, in its block, with its stems.

    ``coverage`` is the weight of the question's words that it has together with the heading above it.
    """

    span: Offsets
    block: TextBlock
    stems: frozenset[str]
    coverage: float


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage with its place in the search, its stems, its units, what the reader found in it, and its score."""

    passage: Passage
    place: int
    stems: frozenset[str]
    units: tuple[Unit, ...]
    cosine: float
    answer: AnswerSpan | None
    features: tuple[float, ...]
    score: float

    @property
    def probability(self) -> float:
        """How probable it is by the reader that the passage answers the question; 0 if it was not read."""
        return self.answer.probability if self.answer is not None else 0.0


class QuestionWords:
    """The stems of a question with weights that add up to one: the rarer a stem is among the passages, the higher."""

    def __init__(self, question: Question, held: Sequence[frozenset[str]]) -> None:
        stems = find_stems(strip_instruction(question.text), question.language)
        counts = Counter(stem for own in held for stem in stems & own)
        raw = {stem: math.log(1 + (len(held) + 1) / (counts[stem] + 0.5)) for stem in sorted(stems)}
        total = sum(raw.values()) or 1.0
        self.weights = {stem: weight / total for stem, weight in raw.items()}

    def coverage(self, stems: frozenset[str]) -> float:
        """Return the weight of the question's stems that are among ``stems``."""
        return sum(weight for stem, weight in self.weights.items() if stem in stems)


def find_stems(text: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the stems of the words that carry meaning, also those of whole versions and dates and of parts of identifiers."""
    return content_stems(expand_identifiers(expand_numbers(text)), language)


def source_stems(source: Source, language: str = ENGLISH) -> frozenset[str]:
    """Return the stems of a passage with its title."""
    return find_stems(f"{source.title}\n{source.text}", language)


def rank_passages(
    question: Question, passages: Sequence[Passage], embed: Embed | None, reader: PassageReader | None
) -> list[RankedPassage]:
    """Return the passages as candidates, best first."""
    held = [source_stems(passage, question.language) for passage in passages]
    words = QuestionWords(question, held)
    rough = embed_static if question.language == ENGLISH else None
    texts = [(passage.title, passage.text) for passage in passages]
    cosines = [0.0] * len(texts) if embed is None else compare_stretches(question.text, texts, embed, rough)
    units = [_list_units(passage, words, question.language) for passage in passages]
    rows = [[-math.log(1 + place), words.coverage(held[place]), cosines[place], 0.0] for place in range(len(passages))]
    answers = read_passages(question, passages, reader, rows)
    model = "passage" if any(answers) else "unread"
    found = [
        RankedPassage(
            passage, place, held[place], units[place], cosines[place], answers[place], tuple(row), weigh(row, model)
        )
        for place, (passage, row) in enumerate(zip(passages, rows, strict=True))
    ]
    return sorted(found, key=lambda candidate: -candidate.score)


def weigh(row: Sequence[float], model: str) -> float:
    """Return the score of a row of ``PASSAGE_FEATURES``."""
    weights = load_weights()[model]
    return sum(weights.get(name, 0.0) * value for name, value in zip(PASSAGE_FEATURES, row, strict=True))


def read_passages(
    question: Question, passages: Sequence[Passage], reader: PassageReader | None, rows: Sequence[list[float]]
) -> list[AnswerSpan | None]:
    """Return what the reader finds in the passages with the best rows, and put it into them. It reads English.

    Those that lead then are read again with more care, until it has read the first ones so. The careful look is believed.
    """
    found: list[AnswerSpan | None] = [None] * len(passages)
    if reader is None or question.language != ENGLISH:
        return found

    def read(chosen: Sequence[int], look: Callable[[str, Sequence[str]], list[AnswerSpan]]) -> None:
        """Take the likeliest span of the question and its parts: one span does not answer two questions."""
        texts = [f"{passages[i].title}\n{passages[i].text}" for i in chosen]
        answers = []
        for wording in (question.text, *question.parts):
            asked = [write_dates_like(wording, text) for text in texts]
            alike = {one: [text for text, own in zip(texts, asked, strict=True) if own == one] for one in set(asked)}
            spans = {one: iter(look(one, own)) for one, own in alike.items()}
            answers.append([next(spans[one]) for one in asked])
        for i, own in zip(chosen, zip(*answers, strict=True), strict=True):
            best, shift = max(own, key=attrgetter("probability")), len(passages[i].title) + 1
            span = (best.start - shift, best.end - shift) if best.start >= shift else (0, 0)  # Not of the title.
            found[i] = AnswerSpan(best.probability, *span)
            rows[i][-1] = logit(best.probability)

    def rank(places: Sequence[int], model: str) -> list[int]:
        return sorted(places, key=lambda i: -weigh(rows[i], model))

    for row in rows:
        row[-1] = logit(0.0)
    chosen = rank(range(len(passages)), "unread")[:MAX_READ]
    read(chosen, reader.read)
    known = set[int]()
    while new := [i for i in rank(chosen, "passage")[:_MAX_REREAD] if i not in known]:
        read(new, reader.reread)
        known.update(new)
    return found


def logit(probability: float) -> float:
    """Return the log-odds of a probability, within bounds."""
    bounded = min(max(probability, _LOGIT_MARGIN), 1 - _LOGIT_MARGIN)
    return math.log(bounded / (1 - bounded))


def _list_units(passage: Passage, words: QuestionWords, language: str) -> tuple[Unit, ...]:
    found: list[Unit] = []
    topic = frozenset[str]()
    for block in split_blocks(passage.text, passage.kind):
        if block.is_heading:
            topic = find_stems(passage.text[block.start : block.end], language)
            continue
        for start, end in block.units:
            stems = find_stems(passage.text[start:end], language)
            found.append(Unit((start, end), block, stems, words.coverage(stems | topic)))
    return tuple(found)
