"""Judge whether the best evidence answers the question: yes, partly or no.

Logistic over a handful of features. ``weights.json`` holds the weights and the thresholds and says where they come
from: questions with their answer in the corpus, and the same questions with it taken out
(``python -m training.extractive.fit``). Words say what a passage is about, and not whether it says what was asked, so the
reader has its say too.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from suffice.models.extractive.form import analyze_form, find_default, find_holders
from suffice.models.extractive.units import UNIT_FEATURES, QuestionWords, Unit, load_weights, note_stems, title_stems
from suffice.models.reading import AnswerSpan
from suffice.text.entities import Facet, content_stems, extract_facets
from suffice.text.languages import ENGLISH, get_language
from suffice.text.question import CHAINED_KINDS, Question, asks_in_steps, strip_comparing
from suffice.text.tokens import tokenize
from suffice.types import Note, Sufficiency

_ABBREVIATED = re.compile(r"\s\w+ \(([A-Z][\w.]*)\)")  # "Alaska (AK)": a source has one of them.
_PLURAL_NAME = re.compile(r"[A-Z][a-z]+s")  # Its stem may be another word.
_VERSIONED = re.compile(r"\b[A-Za-z]+/\d[\w.]*")  # "HTTP/3" is one name; a source about HTTP need not be about it.
# A question about a release is about that one; whether something runs on a version may be told without naming it.
_RELEASE_NUMBER = re.compile(r"(?<![\w./-])v?(\d+\.\d+(?:\.\d+)*)(?![\w%])")
_TRAILING_NUMBER = re.compile(r"\s+v?\d+(?:\.\d+)*$")
_RELEASE_KINDS = frozenset({"when", "who", "list", "lookup", "definition", "version"})
_VALUE_KINDS = frozenset({"lookup", "amount", "definition"})  # Who, when and where name no column.
_COLUMN_NAME = re.compile(r"(?:^|· )\s*([^:·]{1,60}): ")
_MIN_ABBREVIATION = 4
_LOGIT_MARGIN = 0.01  # A probability is never surer than this.
_UNREAD_KINDS = frozenset({"csv", "chat"})  # The reader was trained on prose.
SUFFICIENCY_FEATURES = ("found", "best_note", "best_unit", "best_topic", "names_missing", "span")


def compute_features(
    question: Question, notes: Sequence[Note], units: Sequence[Unit], words: QuestionWords
) -> tuple[float, ...]:
    """Return the features of a question and its evidence, in the order of ``SUFFICIENCY_FEATURES``.

    found          weight of the question's words that any note has
    best_note      … that one note has
    best_unit      … that one unit has
    best_topic     … that one unit has with its title
    names_missing  share of the question's names that no note has; 1 if a version of a name is among them
    span           whether a good unit holds a span of the right type, or the question asks for none

    Words only: with the cosine of the nearest note the figures were the same within two points, and it means little outside
    English.
    """
    held = frozenset[str]().union(*map(note_stems, notes))
    names = list_names(question.text)
    if question.kind not in _RELEASE_KINDS:
        names = [_drop_number(name) for name in names if not _RELEASE_NUMBER.fullmatch(name.text)]
    missing = [name for name in names if not is_held(name, held, notes)]
    best = max((words.coverage(unit.stems) for unit in units), default=0.0)
    good = units[:5]
    return (
        words.coverage(held),
        max((words.coverage(note_stems(note)) for note in notes), default=0.0),
        best,
        max((words.coverage(unit.stems | title_stems(notes[unit.note])) for unit in units), default=0.0),
        1.0 if _lacks_version(question, notes) else len(missing) / len(names) if names else 0.0,
        float(question.span in ("none", "choice") or any(unit.spans for unit in good)),
    )


def _lacks_version(question: Question, notes: Sequence[Note]) -> bool:
    """Whether no note mentions a version that the question is about."""
    versions = _VERSIONED.findall(question.text)
    if question.kind in _RELEASE_KINDS:
        versions += _RELEASE_NUMBER.findall(question.text)
    patterns = (re.compile(rf"(?<![\d.]){re.escape(version)}(?!\d)") for version in versions)
    return any(not any(pattern.search(f"{note.title}\n{note.text}") for note in notes) for pattern in patterns)


def list_names(task: str) -> list[Facet]:
    """Return the names in a question. Its first word has a capital letter in any case, so it is no name."""
    task = _ABBREVIATED.sub(r" \1", strip_comparing(task))
    opening = task.split()[0].strip("\"'“«¿¡(,;:") if task.split() else ""
    return [facet for facet in extract_facets(task, limit=20) if facet.is_named and facet.text != opening]


def _drop_number(name: Facet) -> Facet:
    """Return "Python" for "Python 3.13", which "Python 3.9 or newer" is about."""
    bare = _TRAILING_NUMBER.sub("", name.text)
    return replace(name, text=bare, stems=content_stems(bare)) if content_stems(bare) else name


def is_held(name: Facet, held: frozenset[str], notes: Sequence[Note]) -> bool:
    """Whether a note has a name: the stems of all its words, or a title its initials, as "la-riots" has "Los Angeles".

    A single word must be there as it is written: "Windows" is no window.
    """
    if not name.stems <= held:
        initials = "".join(word[0] for word in name.text.split() if word[0].isupper())
        return len(initials) > 1 and any(initials.lower() in tokenize(note.title) for note in notes)
    if get_language() != ENGLISH or not _PLURAL_NAME.fullmatch(name.text):
        return True
    pattern = re.compile(rf"\b{re.escape(name.text)}\b", re.IGNORECASE)
    return any(pattern.search(note.text) or pattern.search(note.title) for note in notes)


def estimate_answered(features: Sequence[float]) -> float:
    """Return the probability that the evidence answers the question."""
    weights = load_weights()["sufficiency"]
    value = weights["bias"] + sum(
        weights[name] * feature for name, feature in zip(SUFFICIENCY_FEATURES, features, strict=True)
    )
    return _sigmoid(value)


def judge(probability: float, *, is_read: bool = False) -> Sufficiency:
    """Return the judgement for a probability, by words or with the reader."""
    thresholds = load_weights()["thresholds"]
    if probability < thresholds["no_read" if is_read else "no"]:
        return "no"
    return "yes" if probability >= thresholds["yes"] else "partly"


def weigh_reader(probability: float, answers: Sequence[AnswerSpan]) -> float:
    """Return the probability by words together with the reader's best one."""
    weights = load_weights()["reader"]
    best = max(answer.probability for answer in answers)
    return _sigmoid(weights["bias"] + weights["words"] * _logit(probability) + weights["reader"] * _logit(best))


def expects_one_passage(question: Question, notes: Sequence[Note], units: Sequence[Unit]) -> bool:
    """Whether the reader would find the answer in one passage of prose.

    It would not for two things, in rows and short messages, and where one passage leads to another. Nor does it know the
    forms of answers: "Ann Lee (treasurer)", or a value that a signature assigns.
    """
    if question.sides or asks_in_steps(question.text) or not units or notes[units[0].note].kind in _UNREAD_KINDS:
        return False
    if _has_form(question, notes[units[0].note], units[0]):
        return False
    link, named = (UNIT_FEATURES.index(name) for name in ("link", "named"))
    titles = {notes[unit.note].title for unit in units if unit.features[named]}
    is_linked = question.kind in CHAINED_KINDS and any(unit.features[link] for unit in units)
    return len(titles) <= 1 and not is_linked


def _has_form(question: Question, note: Note, unit: Unit) -> bool:
    form = analyze_form(question, content_stems(question.text))
    is_default = question.kind == "default" and find_default(form, note, unit.block, (unit.start, unit.end)) is not None
    return is_default or bool(find_holders(note.text[unit.start : unit.end], form.role))


def _logit(probability: float) -> float:
    bounded = min(max(probability, _LOGIT_MARGIN), 1 - _LOGIT_MARGIN)
    return math.log(bounded / (1 - bounded))


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def lacks_column(question: Question, notes: Sequence[Note], units: Sequence[Unit]) -> bool:
    """Whether the best evidence is a row of a table, and the question asks for a value that no column of it is called after.

    A column may abbreviate the word: ``temp_max`` is a temperature.
    """
    if question.kind not in _VALUE_KINDS or not units or notes[units[0].note].kind != "csv":
        return False
    held = frozenset[str]().union(*map(note_stems, notes))
    if not find_missing_words(question.text, held):
        return False
    columns = tokenize(" ".join(_COLUMN_NAME.findall(units[0].text)).replace("_", " "))
    wanted = [word for word in tokenize(question.text) if content_stems(word)]
    is_named = any(
        content_stems(column) & content_stems(word) or (len(column) >= _MIN_ABBREVIATION and word.startswith(column))
        for column in columns
        for word in wanted
    )
    return not is_named


def find_missing_words(task: str, held: frozenset[str]) -> tuple[str, ...]:
    """Return the question's content words that are not among the stems, as the question writes them."""
    missing = [
        word for word in re.findall(r"\w[\w'’.-]*\w|\w", task) if content_stems(word) and not content_stems(word) & held
    ]
    return tuple(dict.fromkeys(missing))
