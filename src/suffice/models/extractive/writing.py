"""Draft an answer: the sentences that answer the question, verbatim, each with its citation.

Sentences are ranked by relevance (similarity to the question, share of its rarer words, similarity of their passage) minus
redundancy with those already chosen, and shown by source in reading order. When no passage is about the question the answer
is empty.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from suffice.prompts import Draft, SynthesisResponse
from suffice.text.entities import content_stems, extract_facets, strip_parenthetical
from suffice.text.markdown import escape_markdown, skip_block_marker, to_inline_code
from suffice.text.sentences import code_lines, quotable_spans
from suffice.text.task_type import strip_count
from suffice.text.tokens import tokenize
from suffice.types import BELIEF_KIND, Embed, Note

if TYPE_CHECKING:
    import numpy

_BELIEF_BONUS = 0.5  # A sentence that the belief holds comes before one that only looks similar to the question.
_MAX_SENTENCES = 8  # Enough for a few hops, short enough to be read.
_MAX_EMBEDDED_SENTENCES = 60  # Candidates compared by meaning; they are selected by words.
_MIN_RELATIVE_RELEVANCE = 0.6  # A sentence with less than this share of the best relevance is left out.
_REDUNDANCY_WEIGHT = 0.5
# A passage is about the question when it holds this share of the question's weighted words, or when its vector is this
# close. Questions about their own corpus nearly all pass, questions about another one mostly do not (bench/evidence.py).
_MIN_WORD_SHARE = 0.5
_MIN_COSINE = 0.45
_CODE_FACTOR = 0.7  # A line of code answers less often than a sentence about it.
# A line of example code inside a docstring or a manual: a call, a definition, an assignment, a shell prompt.
_CODE_EXAMPLE = re.compile(
    r"(?:>>> |\$ |@\w|(?:async )?def \w+\(|class \w+[(:]|from [\w.]+ import |import [\w.]+$|await \w|[\w.\[\]]+ = "
    r"|[\w.]+\(\S*\)*;?$)"
)
_URL = re.compile(r"https?://\S+")
_MAX_SENTENCE_CHARS = 600  # A longer "sentence" is a table or a list without full stops.


@dataclass(frozen=True, slots=True)
class QuotableSentence:
    """A sentence that may be quoted, with the number of its note and where it starts there."""

    note: int
    start: int
    text: str
    stems: frozenset[str]
    is_code: bool


def draft_answer(prompt: Draft, embed: Embed | None) -> SynthesisResponse:
    """Return the answer as quotations; an empty one when no passage is about the question."""
    if prompt.section:
        prompt = replace(prompt, task=f"{prompt.section}: {prompt.task}", section="")
    if prompt.count:
        prompt = replace(prompt, task=strip_count(prompt.task) or prompt.task)
    believed = {note.text for note in prompt.notes if note.kind == BELIEF_KIND}
    prompt = replace(prompt, notes=tuple(note for note in prompt.notes if note.kind != BELIEF_KIND))
    weights = _stem_weights(prompt.task, prompt.notes)
    cosines = _cosine_to_task(prompt.task, [f"{note.title}. {note.text}" for note in prompt.notes], embed)
    about = [_weighted_coverage(content_stems(f"{note.title} {note.text}"), weights) for note in prompt.notes]
    if not _has_evidence(prompt, about, cosines):
        return SynthesisResponse("")
    candidates = [
        item for number, note in enumerate(prompt.notes) for item in _split_sentences(number, note, prompt.task)
    ]
    candidates.sort(
        key=lambda item: (item.text not in believed, -_weighted_coverage(item.stems, weights) - 0.3 * about[item.note])
    )
    candidates = candidates[:_MAX_EMBEDDED_SENTENCES]
    similarity = _cosine_to_task(prompt.task, [item.text for item in candidates], embed)
    relevance = [
        (_weighted_coverage(item.stems, weights) + 0.3 * about[item.note] + similarity[i] + 0.3 * cosines[item.note])
        * (_CODE_FACTOR if item.is_code else 1)
        + (_BELIEF_BONUS if item.text in believed else 0.0)
        for i, item in enumerate(candidates)
    ]
    vectors = embed([item.text for item in candidates]) if embed is not None and candidates else None
    chosen = _select_sentences(candidates, relevance, vectors, weights, prompt.count or _MAX_SENTENCES)
    return _compose_response(prompt, [candidates[i] for i in chosen]) if chosen else SynthesisResponse("")


def _stem_weights(task: str, notes: Sequence[Note]) -> dict[str, float]:
    """Return the question's stems with weights that add up to one: the rarer a stem is among the notes, the higher."""
    stems = frozenset[str]().union(*(facet.stems for facet in extract_facets(task, limit=20))) or content_stems(task)
    counts = Counter(stem for note in notes for stem in stems & content_stems(f"{note.title} {note.text}"))
    raw = {stem: math.log(1 + (len(notes) + 1) / (counts[stem] + 0.5)) for stem in stems}
    total = sum(raw.values()) or 1.0
    return {stem: weight / total for stem, weight in raw.items()}


def _weighted_coverage(stems: frozenset[str], weights: dict[str, float]) -> float:
    return sum(weight for stem, weight in weights.items() if stem in stems)


def _has_evidence(prompt: Draft, about: Sequence[float], cosines: Sequence[float]) -> bool:
    """Return whether a passage is about the question and, if the question names things, a passage names one of them."""
    # The first word of the question is capitalised in any language, so alone it is not a name.
    opening = prompt.task.split()[0].strip("\"'“«¿¡(,;:")
    named = [facet for facet in extract_facets(prompt.task) if facet.is_named and facet.text != opening]
    stems = [content_stems(f"{note.title} {note.text}") for note in prompt.notes]
    if named and not any(facet.stems <= held for facet in named for held in stems):
        return False
    # The embedding model was trained on English: cosines of texts in other scripts mean nothing.
    latin = sum("a" <= character <= "z" for character in prompt.task.lower())
    is_latin = latin >= sum(character.isalpha() for character in prompt.task) / 2
    return any(
        share >= _MIN_WORD_SHARE or (is_latin and cosine >= _MIN_COSINE)
        for share, cosine in zip(about, cosines, strict=True)
    )


def _split_sentences(number: int, note: Note, task: str) -> list[QuotableSentence]:
    """Return the sentences of a note. If the question names the note's title, its words count for every sentence: a page
    about a thing rarely repeats its name."""
    title = strip_parenthetical(note.title)
    title_words = f" {' '.join(tokenize(title))} "
    is_named = bool(title_words.strip()) and title_words in f" {' '.join(tokenize(task))} "
    title_stems = content_stems(title) if is_named else frozenset()
    lines = set(code_lines(note.text)) if note.kind == "code" else set()
    found = []
    for start, end in quotable_spans(note.text, note.kind):
        start = start if (start, end) in lines else skip_block_marker(note.text, start, end)
        text = " ".join(note.text[start:end].split())
        stems = content_stems(text)
        # A sentence that is only a link is dropped.
        if len(content_stems(_URL.sub("", text))) >= 2 and len(text) <= _MAX_SENTENCE_CHARS:
            is_code = (start, end) in lines or _CODE_EXAMPLE.match(text) is not None
            found.append(QuotableSentence(number, start, text, stems if is_code else stems | title_stems, is_code))
    return found


def _select_sentences(
    sentences: Sequence[QuotableSentence],
    relevance: Sequence[float],
    vectors: "numpy.ndarray | None",
    weights: dict[str, float],
    limit: int,
) -> list[int]:
    """Choose greedily by relevance, minus what a sentence repeats, plus the words of the question that it adds."""
    chosen: list[int] = []
    covered: set[str] = set()
    best = max(relevance, default=0.0)
    remaining = [i for i in range(len(sentences)) if relevance[i] >= _MIN_RELATIVE_RELEVANCE * best]
    while remaining and len(chosen) < limit:
        scores = {}
        for i in remaining:
            repeated = max((_similarity(sentences, vectors, i, j) for j in chosen), default=0.0)
            added = sum(
                weight for stem, weight in weights.items() if stem in sentences[i].stems and stem not in covered
            )
            scores[i] = relevance[i] - _REDUNDANCY_WEIGHT * repeated + added
        pick = max(scores, key=lambda i: (scores[i], -i))
        remaining.remove(pick)
        if not any(_similarity(sentences, vectors, pick, j) > 0.9 for j in chosen):
            chosen.append(pick)
            covered |= sentences[pick].stems
    return chosen


def _similarity(sentences: Sequence[QuotableSentence], vectors: "numpy.ndarray | None", i: int, j: int) -> float:
    if vectors is not None:
        return float(vectors[i] @ vectors[j])
    return len(sentences[i].stems & sentences[j].stems) / len(sentences[i].stems | sentences[j].stems)


def _cosine_to_task(task: str, texts: Sequence[str], embed: Embed | None) -> list[float]:
    if embed is None or not texts:
        return [0.0] * len(texts)
    return [float(value) for value in embed(texts) @ embed([task])[0]]


def _compose_response(prompt: Draft, chosen: Sequence[QuotableSentence]) -> SynthesisResponse:
    lines = [f"{_format_sentence(item)} {' '.join(prompt.notes[item.note].handles)}" for item in chosen]
    blocks = _compose_list(prompt, chosen, lines) if prompt.count else _compose_by_source(prompt, chosen)
    return SynthesisResponse(
        "\n\n".join(blocks), summary=lines[0], key_findings=tuple(lines[:3]), open_questions=prompt.gaps
    )


def _compose_list(prompt: Draft, chosen: Sequence[QuotableSentence], lines: Sequence[str]) -> list[str]:
    """Return one section for each sentence, best first: a sentence is the nearest thing to a list item."""
    titles = [escape_markdown(_shorten_title(prompt.notes[item.note].title or item.text)) for item in chosen]
    return [
        f"## {number}. {title}\n\n{line}" for number, (title, line) in enumerate(zip(titles, lines, strict=True), 1)
    ]


def _compose_by_source(prompt: Draft, chosen: Sequence[QuotableSentence]) -> list[str]:
    """Return the sentences by source in reading order, under the title of each source if there are several."""
    order = list(dict.fromkeys(item.note for item in chosen))
    blocks: list[str] = []
    heading = ""
    for number in order:
        note = prompt.notes[number]
        if note.title and note.title != heading and len(order) > 1:
            heading = note.title
            blocks.append(f"### {escape_markdown(_shorten_title(heading))}")
        quoted = sorted((item for item in chosen if item.note == number), key=lambda item: item.start)
        blocks.append("\n".join(f"- {_format_sentence(item)} {' '.join(note.handles)}" for item in quoted))
    return blocks


def _format_sentence(item: QuotableSentence) -> str:
    return to_inline_code(item.text) if item.is_code else escape_markdown(item.text)


def _shorten_title(title: str) -> str:
    return title if len(title) <= 80 else title[:79].rstrip() + "…"
