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
from suffice.models.extractive.units import QuestionWords, Unit, find_heading, find_release, note_stems
from suffice.models.reading import AnswerSpan
from suffice.text.answer_spans import join_names
from suffice.text.blocks import split_blocks
from suffice.text.entities import content_stems, extract_names
from suffice.text.question import Question, asks_release, asks_yes_no
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
# "Based on A instead of B" denies B; "unwanted" denies "wanted".
_CONTRAST = re.compile(
    r"\b(?:instead of|rather than|anstatt|statt|au lieu de|plutôt que|en lugar de|en vez de)\s+", re.IGNORECASE
)
# Adjectives only: to uninstall or to import denies nothing.
_DENYING_PREFIX = re.compile(
    r"(?:un|in|im|ir)(?=\w{3,}(?:able|ible|ent|ant|ive|ary|ular)\b)|un(?=(?:safe|likely|clear|fit|true|limited|supported|wanted"
    r"|needed|changed|used|tested|maintained|finished|documented|encrypted|erwünscht|geeignet|möglich|zulässig|bekannt|nötig)\b)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,;:()]|\b(?:that|which|who|because|since|while|although|but|so|die|der|das|weil|dass|aber|qui|que)\b",
    re.IGNORECASE,
)
_MIN_DENIED_COVERAGE = 0.4  # Share of the question's weighted words in the clause that denies something.
_VERDICT = re.compile(r"[*_`\s]*(?:(?P<yes>yes|ja|oui|s[ií])|no|nein|non)\b[*_`]*\s*[,.;:!—–-]", re.IGNORECASE)
_HEADING_NUMBER = re.compile(r"[\s#]*\d+(?:\.\d+)*\.?\s+(?=\S)")
_MAX_OTHER_STEMS = 1  # Words of a heading that the question need not have.
# The origin of a name is no place; "Where can I report a problem?" asks for a page or an address.
_NO_PLACE = re.compile(
    r"\b(?:name|word|term|acronym|phrase)\b.*\b(?:com(?:e|es|ing) from|originat\w+|deriv\w+)\b"
    r"|\bwhere (?:to|(?:can|could|do|should|must|may|would) (?:i|we|you|one|users?))\b",
    re.IGNORECASE,
)
# Whose version is asked for: "Which Python version", "which version of Python".
_VERSION_OF = re.compile(
    r"\b(?:which|what|minimum|minimal|lowest|required) (?P<before>[\w.+-]+) versions?\b"
    r"|\bversions? of (?:the )?(?P<after>[\w.+-]+)",
    re.IGNORECASE,
)
_NO_OWNER = frozenset(
    """minimum minimal first last latest current new newest oldest stable major minor required lowest other exact is are
    was""".split()
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
    if asks_yes_no(question):
        verdict = (
            _decide_by_reply(question, notes, stretches[0], words)
            or _decide_by_section(question, notes, stretches, words)
            or _decide_yes_no(question, note, stretches[0], words)
        )
        if verdict is not None or question.kind == "yes_no":
            return verdict
    if question.kind == "where" and _NO_PLACE.search(question.text):
        return None
    if note.kind == "csv":
        counted = find_counted(analyze_form(question, frozenset(words.weights)), note, note.text[unit.start : unit.end])
        if counted:
            return FoundAnswer(counted, unit.note, (unit.start, unit.end), is_counted=True)
        return None if question.kind == "count" else _find_column(note, unit, words)
    title = content_stems(note.title) | (_RELEASE_STEMS if question.kind == "version" else frozenset())
    own = unit.stems | unit.subject
    if words.coverage(own | title) < _MIN_TOPIC_COVERAGE or words.coverage(own) < _MIN_OWN_COVERAGE:
        return _count_items(question, note, stretches[0], words)
    answer = answers[unit.note] if answers else None
    if asks_release(question) and (release := find_release(note, unit.block)) is not None:
        place = note.text.find(release, 0, unit.start)
        return FoundAnswer(release, unit.note, (place, place + len(release)) if place >= 0 else (unit.start, unit.end))
    spans = _select_versions(question, note, unit) if question.kind == "version" else unit.spans
    if unit.spans and not spans:
        return None
    if spans:
        read = [span for span in spans if answer and span[0] < answer.end and answer.start < span[1]]
        span = _nearest_span(note.text, unit, read or spans, frozenset(words.weights))
        is_read = bool(read) and answer is not None and answer.probability >= _MIN_READ_PROBABILITY
        if question.span == "name" and not is_read and not _is_connected(question, note, unit, span):
            return None
        if question.kind == "who":
            span = join_names(note.text, span, spans)
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


def _select_versions(question: Question, note: Note, unit: Unit) -> tuple[Offsets, ...]:
    """Return the versions of what the question asks about: "Python 3.12" for "Which Python version", and no other."""
    owner = _VERSION_OF.search(question.text)
    name = (owner["before"] or owner["after"]).lower() if owner else ""
    if not name or name in _NO_OWNER:
        return unit.spans
    pattern = re.compile(rf"\b{re.escape(name)}\b[^,;.]{{0,{_NEAR_CHARS // 2}}}$", re.IGNORECASE)
    return tuple(span for span in unit.spans if pattern.search(note.text[unit.start : span[0]]))


def _decide_yes_no(question: Question, note: Note, stretch: Stretch, words: QuestionWords) -> FoundAnswer | None:
    """Return yes or no if one plain sentence holds nearly all words of the question.

    A hedged sentence decides nothing, and neither does one beside which another sentence denies something.
    """
    unit = stretch.unit
    own = unit.stems | _find_denied_stems(unit.text, words)
    if unit.block.format == "code" or not _is_about(question, note, own, words) or len(unit.text) > _MAX_YES_NO_CHARS:
        return None
    if _HEDGE.search(unit.text):
        return None
    is_denied = _is_denied(unit.text, words)
    if is_denied is None or (not is_denied and _NEGATION.search(note.text, stretch.start, stretch.end)):
        return None
    is_no = is_denied != bool(_NEGATION.search(question.text))
    return FoundAnswer(_say(question, is_yes=not is_no), unit.note, (unit.start, unit.end))


def _is_about(question: Question, note: Note, own: frozenset[str], words: QuestionWords) -> bool:
    """Whether a sentence has most words of the question, and with its title nearly all and all names."""
    stems = own | content_stems(note.title)
    return (
        words.coverage(stems) >= _MIN_YES_NO_COVERAGE
        and words.coverage(own) >= _MIN_OWN_COVERAGE
        and all(content_stems(name) <= stems for name in extract_names(question.text))
    )


def _find_denied_stems(text: str, words: QuestionWords) -> frozenset[str]:
    """Return the stems of the question that a sentence has with a prefix that denies them, as in "incompatible"."""
    bare = (
        _DENYING_PREFIX.sub("", word, count=1) for word in re.findall(r"\w[\w-]+", text) if _DENYING_PREFIX.match(word)
    )
    return frozenset(stem for word in bare for stem in content_stems(word) if stem in words.weights)


def _is_denied(text: str, words: QuestionWords) -> bool | None:
    """Whether a sentence denies what the question asks; ``None`` if it denies something else."""
    contrast = _CONTRAST.search(text)
    if contrast and content_stems(" ".join(text[contrast.end() :].split()[:2])) & words.weights.keys():
        return True
    has_negation = _NEGATION.search(text) is not None
    if stems := _find_denied_stems(text, words) - content_stems(text):
        return None if has_negation else bool(stems)
    if not has_negation:
        return False
    clauses = [clause for clause in _CLAUSE.split(text) if _NEGATION.search(clause)]
    is_same = any(words.coverage(content_stems(clause)) >= _MIN_DENIED_COVERAGE for clause in clauses)
    return True if is_same else None


def _decide_by_section(
    question: Question, notes: Sequence[Note], stretches: Sequence[Stretch], words: QuestionWords
) -> FoundAnswer | None:
    """Return the yes or no with which a section begins whose heading asks the question."""
    for stretch in stretches:
        note = notes[stretch.note]
        heading = find_heading(note, stretch.unit.block)
        asked = note.text[heading.start : heading.end] if heading else ""
        stems = content_stems(_HEADING_NUMBER.sub("", asked))
        if heading is None or not asked.rstrip(" #*").endswith("?") or words.coverage(stems) < _MIN_YES_NO_COVERAGE:
            continue
        is_other = len(stems - words.weights.keys()) > _MAX_OTHER_STEMS
        if is_other or bool(_NEGATION.search(asked)) != bool(_NEGATION.search(question.text)):
            continue
        first = next((block for block in split_blocks(note.text, note.kind) if block.start >= heading.end), None)
        if first is not None and (verdict := _VERDICT.match(note.text, first.start, first.end)):
            said = _say(question, is_yes=verdict["yes"] is not None)
            return FoundAnswer(said, stretch.note, first.units[0] if first.units else (first.start, first.end))
    return None


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
