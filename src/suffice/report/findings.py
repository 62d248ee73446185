"""Find what sources say on a broad question, in their own words, and sort it by aspects.

    relevant passages ─▶ sentences and rows ─▶ the most salient of each file ─▶ the same fact once ─▶ aspects

A sentence is salient if it is near the question *and* tells what the question does not have: figures above all. Plain
nearness is the worst choice, because introductions repeat the question. The weights were set on six folders of DRBench
(bench/breadth.md).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path, PurePath

import numpy as np

from suffice.answers import Finding, Offsets, Quotation
from suffice.claims.figures import Figure, find_figures, share_name
from suffice.models.extractive.ranking import QuestionWords, source_stems
from suffice.text.blocks import ITEM_MARKER, split_blocks
from suffice.text.dates import find_dates
from suffice.text.entities import content_stems, extract_names, strip_instruction, strip_parenthetical
from suffice.text.question import read_question
from suffice.text.quotations import name_file
from suffice.text.sentences import ends_sentence, split_sentences
from suffice.text.tokens import jaccard
from suffice.types import Embed, ExcerptFormat, Passage

SENTENCES_PER_FILE = 4  # At least; more of a long file,
_PASSAGES_PER_SENTENCE = 5
_SENTENCES = 36  # and of few files: so many fill a report.
ROWS_PER_FILE = 2  # Of a table: the latest rows that are near the question.
MAX_ASPECTS = 6
OTHER_ASPECT = "Further findings"  # For what no label fits.
ONLY_ASPECT = "Findings"  # Where no label fits anything.
MIN_SALIENCE = 0.25  # Below it a sentence tells nothing on the question; the best one of a file is kept.
_MAX_CONTEXT_WORDS = 60
_MIN_WORDS, _LONG_WORDS = 6, 40
_REPEATED, _SAME_FACT, _SAME_MATTER = 0.7, 0.5, 0.6  # Shares of words that two sentences have in common.
_MIN_IN_ASPECT, _MIN_SHARE_IN_ASPECT = 2, 0.08
_MAX_PARTS = 4  # Of a question.

FILLER_WEIGHTS = Path(__file__).with_name("filler.json")  # Made by ``python -m training.findings.fit``.
_SENDER = re.compile(r"\[[^\]\n]{4,40}\]\s+[^\s:]+:\s+")  # Before a message, as the reader of chats writes it.
_REFERS_BACK = re.compile(r"(?:this|these|that|those|it|they|such)\b", re.IGNORECASE)
_OURS = re.compile(r"\b(?:we|our|us)\b", re.IGNORECASE)
_QUARTER = re.compile(r"\bQ([1-4])\b|\b(first|second|third|fourth) quarter", re.IGNORECASE)
DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:-(\d\d))?(?:-\d\d)?(?!\d)")
_TIME = re.compile(
    r"\b(?:Q[1-4]|H[12]|FY\d{2,4})\b|\b(?:19|20)\d\d(?:-\d\d){0,2}\b|\b\d\d?:\d\d(?::\d\d)?(?:\s?[ap]m)?\b|\b\d\d?\s?[ap]m\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:st|nd|rd|th)?\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[\w'’-]+|[^\w\s]")
# Verbs of a task, not things that it is about.
_TASK_WORDS = frozenset(
    """leverage leveraging enhance enhancing improve improving implement implementing adopt adopting use using utilize utilise
    drive driving ensure ensuring minimize maximise maximize reduce increase achieve remain make help key main new current
    effective influence influencing considering strategies strategy ways way action say says tell mention know
    knows known""".split()
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence or a record that may be quoted. ``start`` is where the quotation begins if it needs the sentence before."""

    passage: Passage
    span: Offsets
    start: int
    format: ExcerptFormat
    text: str
    stems: frozenset[str]
    quantities: tuple[Figure, ...]
    period: float | None
    lead: Offsets | None = None
    """What stands above an item of a list or a row and is quoted with it."""

    @property
    def is_record(self) -> bool:
        return self.format == "table"


def find_findings(
    question: str, files: Sequence[Sequence[Passage]], nearness: "dict[str, float]", embed: Embed
) -> list[Finding]:
    """Return what the files say on a question, most salient first; the same fact of several files is one finding.

    ``nearness`` is the similarity of each passage to the question, by its id.
    """
    units = [[unit for passage in passages for unit in _list_units(passage)] for passages in files]
    everything = [unit for own in units for unit in own]
    if not everything:
        return []
    weights = _weigh(question, everything, nearness, embed)
    limits = [max(SENTENCES_PER_FILE, len(own) // _PASSAGES_PER_SENTENCE, _SENTENCES // len(files)) for own in files]
    chosen = [pair for own, limit in zip(units, limits, strict=True) for pair in _choose(own, weights, limit)]
    found: list[tuple[_Unit, Finding]] = []
    for unit, salience in sorted(chosen, key=lambda pair: -pair[1]):
        _add(found, unit, salience)
    return [finding for _, finding in found]


# -- sentences and records ---------------------------------------------------------------------------------------------


def _list_units(passage: Passage) -> list[_Unit]:
    """Return what can be quoted from a passage: its sentences, or each record of a table.

    A line that does not end is shown with what leads to it; without that, as a title or a greeting, only if no other line ends.
    """
    text = passage.text
    if passage.kind == "csv" and passage.place.lines is None:
        return []  # What was counted over all rows.
    if passage.kind in ("xlsx", "ods"):
        return [_make_unit(passage, (0, len(text)), 0, "table")]
    begin = sender.end() if (sender := _SENDER.match(text)) else 0
    heading: Offsets | None = None
    units: list[_Unit] = []
    for block in split_blocks(text, passage.kind):
        heading = block.units[0] if block.is_heading else heading
        if block.is_heading or block.format == "code":
            continue
        if block.format == "table":
            units += [_make_unit(passage, span, span[0], "table", block.head) for span in block.units]
            continue
        # Where a quotation begins that needs what stands before it, or follows a short sentence.
        opening: int | None = None
        is_short = False
        for start, end in block.units:
            mark = ITEM_MARKER.match(text, start, end) if block.format == "list" else None
            opening = None if mark else opening
            spans = split_sentences(text, max(begin, mark.end() if mark else start), end)
            for span in spans:
                said = text[slice(*span)]
                follows, is_short = is_short, len(said.split()) <= _MIN_WORDS
                needs_context = follows or is_short or _REFERS_BACK.match(said)
                first = opening if opening is not None and needs_context else span[0]
                first = span[0] if len(text[first : span[1]].split()) > _MAX_CONTEXT_WORDS else first
                opening = first if is_short else span[0]
                lead = None if block.format == "prose" or ends_sentence(said) else block.lead or heading
                if not is_short or span == spans[-1]:
                    units.append(_make_unit(passage, span, first, "prose", lead))
    return [unit for unit in units if unit.is_record or unit.lead or ends_sentence(unit.text)] or units


def _make_unit(
    passage: Passage, span: Offsets, start: int, format: ExcerptFormat, lead: Offsets | None = None
) -> _Unit:
    text = " ".join(passage.text[slice(*span)].split())
    quantities = find_figures(_TIME.sub(" ", _drop_number(text)))
    return _Unit(passage, span, start, format, text, content_stems(text), quantities, read_period(text), lead)


def _drop_number(text: str) -> str:
    """Return a note or a heading without its number, which is not a figure."""
    number, _, rest = text.partition(" ")
    return rest if number.replace(".", "").isdecimal() and rest[:2].istitle() else text


def read_period(text: str) -> float | None:
    """Return the latest year that a text names, with its month or quarter as a fraction."""
    years = [int(found[1]) + int(found[2] or 0) / 12 for found in DATE.finditer(text)]
    names = ("first", "second", "third", "fourth")
    quarters = [int(found[1] or 1 + names.index(found[2].lower())) for found in _QUARTER.finditer(text)]
    return max(years) + max(quarters, default=0) / 4 if years else None


def find_passage_date(passage: Passage) -> str:
    """Return the date in the title or the file name of a passage, year first; empty if there is none."""
    for date in find_dates(passage.title):
        return str(date)
    match = DATE.search(passage.title) or DATE.search(PurePath(passage.place.path).name)
    return match[0] if match else ""


def _weigh(question: str, units: Sequence[_Unit], nearness: "dict[str, float]", embed: Embed) -> dict[int, float]:
    """Return how much each sentence tells on the question, by its id."""
    vectors = embed([question, *(unit.text for unit in units)])
    passages = {unit.passage.id: source_stems(unit.passage) for unit in units}
    question_words = QuestionWords(read_question(question), list(passages.values()))
    coverage = {id: question_words.coverage(stems) for id, stems in passages.items()}
    names, known = extract_names(question), find_figures(question)
    weights: dict[int, float] = {}
    for unit, cosine, filler in zip(units, vectors[1:] @ vectors[0], estimate_filler(vectors[1:]), strict=True):
        words = len(unit.text.split())
        is_ours = bool(_OURS.search(unit.text)) or any(name in unit.text for name in names)
        figures = [one for one in unit.quantities if not any(other.matches(one) for other in known)]
        count = 0 if unit.is_record else min(3, len(figures))
        weights[id(unit)] = (
            0.6 * float(cosine)
            + 0.3 * bool(figures)
            + 0.2 * count / 3
            + 0.2 * nearness.get(unit.passage.id, 0.0)
            + 0.4 * coverage[unit.passage.id]
            + 0.1 * is_ours
            - 0.6 * (0.0 if unit.is_record else float(filler))
            - 0.01 * max(0, words - _LONG_WORDS)
            - 0.3 * (words < _MIN_WORDS)
            - 0.3 * unit.text.endswith("?")
        )
    return weights


def _choose(units: Sequence[_Unit], weights: dict[int, float], limit: int) -> list[tuple[_Unit, float]]:
    """Return the most salient units of a file that do not repeat each other; of records the latest weigh more."""
    periods = sorted({unit.period for unit in units if unit.period is not None and unit.is_record})
    recency = {period: 0.3 * (rank / max(1, len(periods) - 1) - 0.5) for rank, period in enumerate(periods)}
    weighed = [
        (unit, weights[id(unit)] + (recency.get(unit.period or 0.0, 0.0) if unit.is_record else 0.0)) for unit in units
    ]
    chosen: list[tuple[_Unit, float]] = []
    records = 0
    for unit, salience in sorted(weighed, key=lambda pair: -pair[1]):
        if len(chosen) == limit or (chosen and salience < MIN_SALIENCE):
            break
        if unit.is_record:
            records += 1
            if records > ROWS_PER_FILE:
                continue
        elif any(_repeats(unit, other) for other, _ in chosen):
            continue
        chosen.append((unit, salience))
    return chosen


def _repeats(unit: _Unit, other: _Unit) -> bool:
    """Whether a sentence is part of the other's quotation, or has most of its words."""
    if unit.passage.id == other.passage.id and unit.start < other.span[1] and other.start < unit.span[1]:
        return True
    return len(unit.stems & other.stems) > _REPEATED * max(1, min(len(unit.stems), len(other.stems)))


def _add(found: list[tuple[_Unit, Finding]], unit: _Unit, salience: float) -> None:
    """Add a unit as a finding, or to the finding that states the same fact or another value for it."""
    own = (unit.start, unit.span[1])
    quotation = Quotation(unit.passage, (unit.lead, own) if unit.lead else (own,), unit.format)
    for i, (other, finding) in enumerate(found):
        if unit.is_record or other.is_record or other.passage.place.path == unit.passage.place.path:
            continue
        shared = jaccard(unit.stems, other.stems)
        if shared < _SAME_FACT:
            continue
        if not unit.quantities or all(any(a.matches(b) for b in other.quantities) for a in unit.quantities):
            found[i] = other, replace(finding, others=(*finding.others, quotation))
            return
        kinds = {figure.kind for figure in unit.quantities} & {figure.kind for figure in other.quantities}
        words = ({stem for stem in one.stems if not stem[0].isdigit()} for one in (unit, other))
        is_same_matter = jaccard(*words) >= _SAME_MATTER and share_name(unit.text, other.text)
        if is_same_matter and unit.period == other.period and kinds:
            found[i] = other, replace(finding, against=(*finding.against, quotation))
            return
    found.append((unit, Finding(quotation, salience=salience)))


# -- aspects -----------------------------------------------------------------------------------------------------------


def list_parts(question: str) -> list[str]:
    """Return the things that a question is about, as it writes them.

    >>> list_parts("How can Kolbe Mills leverage solar power to enhance grain quality and customer trust?")
    ['solar power', 'grain quality', 'customer trust']
    """
    names = frozenset(word for name in extract_names(question) for word in content_stems(name))
    parts: list[str] = []
    run: list[str] = []
    for token in [*_TOKEN.findall(strip_instruction(question)), "."]:
        stems = content_stems(token)
        if stems and not stems <= names and token.lower() not in _TASK_WORDS:
            run.append(token)
            continue
        if len(run) > 1:
            parts.append(" ".join(run[-4:]))
        run = []
    return list(dict.fromkeys(parts))[:_MAX_PARTS]


def sort_by_aspect(question: str, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with their aspects: the parts of the question, then the headings that gather most files and findings.

    So an author's own words name an aspect. The words that findings have in common are often a cut phrase ("three months'").
    """
    headings = [list_headings(finding) for finding in findings]
    stems = [content_stems(" ".join([*own, _read_text(one)])) for own, one in zip(headings, findings, strict=True)]
    paths = [{one.passage.place.path for one in finding.quotations} for finding in findings]
    least = max(_MIN_IN_ASPECT, round(_MIN_SHARE_IN_ASPECT * len(findings)))
    aspects: dict[int, str] = {}
    for part in list_parts(question):
        own = [i for i, said in enumerate(stems) if i not in aspects and content_stems(part) <= said]
        if len(own) >= _MIN_IN_ASPECT:
            aspects |= dict.fromkeys(own, part)
    groups: dict[tuple[int, ...], str] = {}  # Findings below a heading, and those that have all its words.
    for heading in sorted(dict.fromkeys(chain(*headings)), key=len):
        words = content_stems(heading)
        if not content_stems(_TIME.sub(" ", heading)) <= content_stems(question):  # More than the question and a time.
            groups.setdefault(tuple(i for i, said in enumerate(stems) if words <= said), heading)
    files = {members: set[str]().union(*(paths[i] for i in members)) for members in groups}
    for members in sorted(groups, key=lambda members: (len(files[members]), len(members)), reverse=True):
        own = [i for i in members if i not in aspects]
        if len(own) >= least and len(set(aspects.values())) < MAX_ASPECTS:
            aspects |= dict.fromkeys(own, groups[members])
    rest = OTHER_ASPECT if aspects else ONLY_ASPECT
    return [replace(finding, aspect=aspects.get(i, rest)) for i, finding in enumerate(findings)]


def list_headings(finding: Finding) -> list[str]:
    """Return the headings above a finding; instead of a file's name and page, the words of the name."""
    passage = finding.text.passage
    title = passage.title.rpartition(", page ")[0] or passage.title if passage.kind == "pdf" else passage.title
    headings = [strip_parenthetical(heading) for heading in title.split(" > ")]
    if passage.kind == "chat" and headings == [passage.title]:
        return []  # Who wrote the message and when.
    name = PurePath(passage.place.path).name
    titles = [name_file(name) if heading.partition(", ")[0] == name else heading for heading in headings]
    return [*titles[:1], *map(_drop_number, titles[1:])]


def _read_text(finding: Finding) -> str:
    """Return the words of a finding; of a record with the name of its table."""
    if finding.text.format == "table":
        return f"{finding.text.passage.title} {finding.text.text}".replace("_", " ")
    return finding.text.text


def estimate_filler(vectors: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the probability of each English sentence that it is filler, such as a greeting or an announcement of what a text
    will do: a logistic regression over vectors of ``embed_static``."""
    weights = _load_filler_weights() if weights is None else weights
    return np.asarray(1 / (1 + np.exp(-weights[0] - vectors @ weights[1:])))


@cache
def _load_filler_weights() -> np.ndarray:
    return np.array(json.loads(FILLER_WEIGHTS.read_text(encoding="utf-8")))
