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

from suffice.asks import Draft, SynthesisResponse
from suffice.leads import Embed
from suffice.text.entities import bare, content_stems, facets
from suffice.text.kinds import uncounted
from suffice.text.markup import code, escape
from suffice.text.sentences import code_lines, units
from suffice.text.tokens import words
from suffice.types import BELIEF, Note

if TYPE_CHECKING:
    import numpy

_BELIEVED = 0.5  # A sentence that the belief holds was found to matter: it comes before one that only looks alike.
_MOST = 8  # Sentences in an answer: enough for a few hops, short enough to be read.
_COMPARED = 60  # Sentences that are compared by meaning; words choose them.
_FLOOR = 0.6  # A sentence this much less relevant than the best is left out.
_REDUNDANCY = 0.5
# A passage is about the question when it holds this share of the question's weight in words, or when its vector is this
# close: questions over their own corpus nearly all pass, questions over another one mostly do not (bench/evidence.py).
_ABOUT_WORDS = 0.5
_ABOUT_MEANING = 0.45
_CODE = 0.7  # A line of code answers less often than a sentence about it.
# A line of an example inside a docstring or a manual: a call, a definition, an assignment, a prompt.
_EXAMPLE = re.compile(
    r"(?:>>> |\$ |@\w|(?:async )?def \w+\(|class \w+[(:]|from [\w.]+ import |import [\w.]+$|await \w|[\w.\[\]]+ = "
    r"|[\w.]+\(\S*\)*;?$)"
)
_LINK = re.compile(r"https?://\S+")  # A sentence that is nothing but a link says nothing.
_MARKER = re.compile(r"(?:[-*+•>]|#{1,6}|\d{1,9}[.)])\s+")  # Begins a list item or heading; no part of what it says.
_LONGEST = 600  # A "sentence" longer than this is a table or a list without stops.


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence that may be quoted."""

    note: int
    start: int
    text: str
    stems: frozenset[str]
    is_code: bool


def draft(ask: Draft, embed: Embed | None) -> SynthesisResponse:
    if ask.section:  # A section answers its topic in the light of the question.
        ask = replace(ask, task=f"{ask.section}: {ask.task}", section="")
    if ask.count:
        ask = replace(ask, task=uncounted(ask.task) or ask.task)
    believed = {note.text for note in ask.notes if note.kind == BELIEF}
    ask = replace(ask, notes=tuple(note for note in ask.notes if note.kind != BELIEF))
    weights = _weights(ask.task, ask.notes)
    cosines = _cosines(ask.task, [f"{note.title}. {note.text}" for note in ask.notes], embed)
    about = [_share(content_stems(f"{note.title} {note.text}"), weights) for note in ask.notes]
    if not _is_evidence(ask, about, cosines):
        return SynthesisResponse("")
    every = [unit for number, note in enumerate(ask.notes) for unit in _units(number, note, ask.task)]
    every.sort(key=lambda unit: (unit.text not in believed, -_share(unit.stems, weights) - 0.3 * about[unit.note]))
    likely = every[:_COMPARED]
    nearness = _cosines(ask.task, [unit.text for unit in likely], embed)
    relevance = [
        (_share(unit.stems, weights) + 0.3 * about[unit.note] + nearness[i] + 0.3 * cosines[unit.note])
        * (_CODE if unit.is_code else 1)
        + (_BELIEVED if unit.text in believed else 0.0)
        for i, unit in enumerate(likely)
    ]
    vectors = _vectors([unit.text for unit in likely], embed)
    chosen = _choose(likely, relevance, vectors, weights, ask.count or _MOST)
    return _written(ask, [likely[i] for i in chosen]) if chosen else SynthesisResponse("")


def _weights(task: str, notes: Sequence[Note]) -> dict[str, float]:
    """The question's stems, weighted by how rare they are among the notes; the weights add up to one."""
    wanted = frozenset[str]().union(*(facet.stems for facet in facets(task, most=20))) or content_stems(task)
    seen = Counter(stem for note in notes for stem in wanted & content_stems(f"{note.title} {note.text}"))
    raw = {stem: math.log(1 + (len(notes) + 1) / (seen[stem] + 0.5)) for stem in wanted}
    total = sum(raw.values()) or 1.0
    return {stem: weight / total for stem, weight in raw.items()}


def _share(stems: frozenset[str], weights: dict[str, float]) -> float:
    return sum(weight for stem, weight in weights.items() if stem in stems)


def _is_evidence(ask: Draft, about: Sequence[float], cosines: Sequence[float]) -> bool:
    """Some passage is about the question, and if the question names things, some passage names one of them."""
    # A single word that opens the question may be capitalised for standing there, in any language.
    opening = ask.task.split()[0].strip("\"'“«¿¡(,;:")
    named = [facet for facet in facets(ask.task) if facet.named and facet.text != opening]
    held = [content_stems(f"{note.title} {note.text}") for note in ask.notes]
    if named and not any(facet.stems <= own for facet in named for own in held):
        return False
    # The embedding model reads English: between texts in other scripts its cosine says nothing.
    latin = sum("a" <= character <= "z" for character in ask.task.lower())
    readable = latin >= sum(character.isalpha() for character in ask.task) / 2
    near = [readable and cosine >= _ABOUT_MEANING for cosine in cosines]
    return any(share >= _ABOUT_WORDS or close for share, close in zip(about, near, strict=True))


def _units(number: int, note: Note, task: str) -> list[Unit]:
    """The sentences of a note. Where the question names the note's title, its sentences are about that without saying so."""
    named = f" {' '.join(words(bare(note.title)))} "
    about = content_stems(bare(note.title)) if named.strip() and named in f" {' '.join(words(task))} " else frozenset()
    lines = set(code_lines(note.text)) if note.kind == "code" else set()
    found = []
    for start, end in units(note.text, note.kind):
        marker = None if (start, end) in lines else _MARKER.match(note.text, start, end)
        start = start if marker is None else marker.end()
        text = " ".join(note.text[start:end].split())
        stems = content_stems(text)
        if len(content_stems(_LINK.sub("", text))) >= 2 and len(text) <= _LONGEST:
            is_code = (start, end) in lines or _EXAMPLE.match(text) is not None
            found.append(Unit(number, start, text, stems if is_code else stems | about, is_code))
    return found


def _choose(
    units: Sequence[Unit],
    relevance: Sequence[float],
    vectors: "numpy.ndarray | None",
    weights: dict[str, float],
    most: int,
) -> list[int]:
    """Greedy: the most relevant first, less what it repeats, plus what it adds of the question."""
    chosen: list[int] = []
    covered: set[str] = set()
    best = max(relevance, default=0.0)
    open_units = [i for i in range(len(units)) if relevance[i] >= _FLOOR * best]
    while open_units and len(chosen) < most:
        scores = {}
        for i in open_units:
            repeated = max((_alike(units, vectors, i, j) for j in chosen), default=0.0)
            added = sum(weight for stem, weight in weights.items() if stem in units[i].stems and stem not in covered)
            scores[i] = relevance[i] - _REDUNDANCY * repeated + added
        pick = max(scores, key=lambda i: (scores[i], -i))
        open_units.remove(pick)
        if not any(_alike(units, vectors, pick, j) > 0.9 for j in chosen):
            chosen.append(pick)
            covered |= units[pick].stems
    return chosen


def _alike(units: Sequence[Unit], vectors: "numpy.ndarray | None", i: int, j: int) -> float:
    if vectors is not None:
        return float(vectors[i] @ vectors[j])
    return len(units[i].stems & units[j].stems) / len(units[i].stems | units[j].stems)


def _vectors(texts: Sequence[str], embed: Embed | None) -> "numpy.ndarray | None":
    return embed(texts) if embed is not None and texts else None


def _cosines(task: str, texts: Sequence[str], embed: Embed | None) -> list[float]:
    if embed is None or not texts:
        return [0.0] * len(texts)
    return [float(value) for value in embed(texts) @ embed([task])[0]]


def _written(ask: Draft, chosen: Sequence[Unit]) -> SynthesisResponse:
    lines = [f"{_shown(unit)} {' '.join(ask.notes[unit.note].handles)}" for unit in chosen]
    blocks = _listed(ask, chosen, lines) if ask.count else _by_source(ask, chosen)
    return SynthesisResponse(
        "\n\n".join(blocks), summary=lines[0], key_findings=tuple(lines[:3]), open_questions=ask.gaps
    )


def _listed(ask: Draft, chosen: Sequence[Unit], lines: Sequence[str]) -> list[str]:
    """A section a sentence, best first: without a language model a sentence is what comes nearest to an item."""
    titles = [escape(_short(ask.notes[unit.note].title or unit.text)) for unit in chosen]
    return [
        f"## {number}. {title}\n\n{line}" for number, (title, line) in enumerate(zip(titles, lines, strict=True), 1)
    ]


def _by_source(ask: Draft, chosen: Sequence[Unit]) -> list[str]:
    order = list(dict.fromkeys(unit.note for unit in chosen))
    blocks: list[str] = []
    heading = ""
    for number in order:
        note = ask.notes[number]
        if note.title and note.title != heading and len(order) > 1:
            heading = note.title
            blocks.append(f"### {escape(_short(heading))}")
        own = sorted((unit for unit in chosen if unit.note == number), key=lambda unit: unit.start)
        blocks.append("\n".join(f"- {_shown(unit)} {' '.join(note.handles)}" for unit in own))
    return blocks


def _shown(unit: Unit) -> str:
    return code(unit.text) if unit.is_code else escape(unit.text)


def _short(title: str) -> str:
    return title if len(title) <= 80 else title[:79].rstrip() + "…"
