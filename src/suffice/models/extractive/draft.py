"""Draft without a language model: the sentences that answer the question, verbatim, each with its citation.

Sentences compete by relevance (likeness to the question, share of its rarer words, likeness of their passage) and against
redundancy with what was chosen already; they are shown by source, in reading order. When no passage is about the question
there is nothing to quote, and the answer stays empty.
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

_BELIEF_BONUS = 0.5  # A sentence that the belief holds was found to matter: it comes before one that only looks alike.
_MAX_SENTENCES = 8  # Sentences in an answer: enough for a few hops, short enough to be read.
_MAX_EMBEDDED_SENTENCES = 60  # Sentences that are compared by meaning; words choose them.
_MIN_RELATIVE_RELEVANCE = 0.6  # A sentence this much less relevant than the best is left out.
_REDUNDANCY_WEIGHT = 0.5
# A passage is about the question when it holds this share of the question's weight in words, or when its vector is this
# close: questions over their own corpus nearly all pass, questions over another one mostly do not (bench/evidence.py).
_MIN_WORD_SHARE = 0.5
_MIN_COSINE = 0.45
_CODE_FACTOR = 0.7  # A line of code answers less often than a sentence about it.
# A line of an example inside a docstring or a manual: a call, a definition, an assignment, a prompt.
_CODE_EXAMPLE = re.compile(
    r"(?:>>> |\$ |@\w|(?:async )?def \w+\(|class \w+[(:]|from [\w.]+ import |import [\w.]+$|await \w|[\w.\[\]]+ = "
    r"|[\w.]+\(\S*\)*;?$)"
)
_URL = re.compile(r"https?://\S+")  # A sentence that is nothing but a link says nothing.
_MAX_SENTENCE_CHARS = 600  # A "sentence" longer than this is a table or a list without stops.


@dataclass(frozen=True, slots=True)
class QuotableSentence:
    """A sentence that may be quoted."""

    note: int
    start: int
    text: str
    stems: frozenset[str]
    is_code: bool


def draft_answer(prompt: Draft, embed: Embed | None) -> SynthesisResponse:
    if prompt.section:  # A section answers its topic in the light of the question.
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
    every = [unit for number, note in enumerate(prompt.notes) for unit in _split_sentences(number, note, prompt.task)]
    every.sort(
        key=lambda unit: (unit.text not in believed, -_weighted_coverage(unit.stems, weights) - 0.3 * about[unit.note])
    )
    likely = every[:_MAX_EMBEDDED_SENTENCES]
    nearness = _cosine_to_task(prompt.task, [unit.text for unit in likely], embed)
    relevance = [
        (_weighted_coverage(unit.stems, weights) + 0.3 * about[unit.note] + nearness[i] + 0.3 * cosines[unit.note])
        * (_CODE_FACTOR if unit.is_code else 1)
        + (_BELIEF_BONUS if unit.text in believed else 0.0)
        for i, unit in enumerate(likely)
    ]
    vectors = _embed_texts([unit.text for unit in likely], embed)
    chosen = _select_sentences(likely, relevance, vectors, weights, prompt.count or _MAX_SENTENCES)
    return _compose_response(prompt, [likely[i] for i in chosen]) if chosen else SynthesisResponse("")


def _stem_weights(task: str, notes: Sequence[Note]) -> dict[str, float]:
    """The question's stems, weighted by how rare they are among the notes; the weights add up to one."""
    wanted = frozenset[str]().union(*(facet.stems for facet in extract_facets(task, limit=20))) or content_stems(task)
    seen = Counter(stem for note in notes for stem in wanted & content_stems(f"{note.title} {note.text}"))
    raw = {stem: math.log(1 + (len(notes) + 1) / (seen[stem] + 0.5)) for stem in wanted}
    total = sum(raw.values()) or 1.0
    return {stem: weight / total for stem, weight in raw.items()}


def _weighted_coverage(stems: frozenset[str], weights: dict[str, float]) -> float:
    return sum(weight for stem, weight in weights.items() if stem in stems)


def _has_evidence(prompt: Draft, about: Sequence[float], cosines: Sequence[float]) -> bool:
    """Some passage is about the question, and if the question names things, some passage names one of them."""
    # A single word that opens the question may be capitalised for standing there, in any language.
    opening = prompt.task.split()[0].strip("\"'“«¿¡(,;:")
    named = [facet for facet in extract_facets(prompt.task) if facet.is_named and facet.text != opening]
    held = [content_stems(f"{note.title} {note.text}") for note in prompt.notes]
    if named and not any(facet.stems <= own for facet in named for own in held):
        return False
    # The embedding model reads English: between texts in other scripts its cosine says nothing.
    latin = sum("a" <= character <= "z" for character in prompt.task.lower())
    readable = latin >= sum(character.isalpha() for character in prompt.task) / 2
    near = [readable and cosine >= _MIN_COSINE for cosine in cosines]
    return any(share >= _MIN_WORD_SHARE or close for share, close in zip(about, near, strict=True))


def _split_sentences(number: int, note: Note, task: str) -> list[QuotableSentence]:
    """The sentences of a note. Where the question names the note's title, its sentences are about that without saying so."""
    named = f" {' '.join(tokenize(strip_parenthetical(note.title)))} "
    about = (
        content_stems(strip_parenthetical(note.title))
        if named.strip() and named in f" {' '.join(tokenize(task))} "
        else frozenset()
    )
    lines = set(code_lines(note.text)) if note.kind == "code" else set()
    found = []
    for start, end in quotable_spans(note.text, note.kind):
        start = start if (start, end) in lines else skip_block_marker(note.text, start, end)
        text = " ".join(note.text[start:end].split())
        stems = content_stems(text)
        if len(content_stems(_URL.sub("", text))) >= 2 and len(text) <= _MAX_SENTENCE_CHARS:
            is_code = (start, end) in lines or _CODE_EXAMPLE.match(text) is not None
            found.append(QuotableSentence(number, start, text, stems if is_code else stems | about, is_code))
    return found


def _select_sentences(
    units: Sequence[QuotableSentence],
    relevance: Sequence[float],
    vectors: "numpy.ndarray | None",
    weights: dict[str, float],
    most: int,
) -> list[int]:
    """Greedy: the most relevant first, less what it repeats, plus what it adds of the question."""
    chosen: list[int] = []
    covered: set[str] = set()
    best = max(relevance, default=0.0)
    open_units = [i for i in range(len(units)) if relevance[i] >= _MIN_RELATIVE_RELEVANCE * best]
    while open_units and len(chosen) < most:
        scores = {}
        for i in open_units:
            repeated = max((_similarity(units, vectors, i, j) for j in chosen), default=0.0)
            added = sum(weight for stem, weight in weights.items() if stem in units[i].stems and stem not in covered)
            scores[i] = relevance[i] - _REDUNDANCY_WEIGHT * repeated + added
        pick = max(scores, key=lambda i: (scores[i], -i))
        open_units.remove(pick)
        if not any(_similarity(units, vectors, pick, j) > 0.9 for j in chosen):
            chosen.append(pick)
            covered |= units[pick].stems
    return chosen


def _similarity(units: Sequence[QuotableSentence], vectors: "numpy.ndarray | None", i: int, j: int) -> float:
    if vectors is not None:
        return float(vectors[i] @ vectors[j])
    return len(units[i].stems & units[j].stems) / len(units[i].stems | units[j].stems)


def _embed_texts(texts: Sequence[str], embed: Embed | None) -> "numpy.ndarray | None":
    return embed(texts) if embed is not None and texts else None


def _cosine_to_task(task: str, texts: Sequence[str], embed: Embed | None) -> list[float]:
    if embed is None or not texts:
        return [0.0] * len(texts)
    return [float(value) for value in embed(texts) @ embed([task])[0]]


def _compose_response(prompt: Draft, chosen: Sequence[QuotableSentence]) -> SynthesisResponse:
    lines = [f"{_format_sentence(unit)} {' '.join(prompt.notes[unit.note].handles)}" for unit in chosen]
    blocks = _compose_list(prompt, chosen, lines) if prompt.count else _compose_by_source(prompt, chosen)
    return SynthesisResponse(
        "\n\n".join(blocks), summary=lines[0], key_findings=tuple(lines[:3]), open_questions=prompt.gaps
    )


def _compose_list(prompt: Draft, chosen: Sequence[QuotableSentence], lines: Sequence[str]) -> list[str]:
    """A section a sentence, best first: without a language model a sentence is what comes nearest to an item."""
    titles = [escape_markdown(_shorten_title(prompt.notes[unit.note].title or unit.text)) for unit in chosen]
    return [
        f"## {number}. {title}\n\n{line}" for number, (title, line) in enumerate(zip(titles, lines, strict=True), 1)
    ]


def _compose_by_source(prompt: Draft, chosen: Sequence[QuotableSentence]) -> list[str]:
    order = list(dict.fromkeys(unit.note for unit in chosen))
    blocks: list[str] = []
    heading = ""
    for number in order:
        note = prompt.notes[number]
        if note.title and note.title != heading and len(order) > 1:
            heading = note.title
            blocks.append(f"### {escape_markdown(_shorten_title(heading))}")
        own = sorted((unit for unit in chosen if unit.note == number), key=lambda unit: unit.start)
        blocks.append("\n".join(f"- {_format_sentence(unit)} {' '.join(note.handles)}" for unit in own))
    return blocks


def _format_sentence(unit: QuotableSentence) -> str:
    return to_inline_code(unit.text) if unit.is_code else escape_markdown(unit.text)


def _shorten_title(title: str) -> str:
    return title if len(title) <= 80 else title[:79].rstrip() + "…"
