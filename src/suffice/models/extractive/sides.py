"""Choose what to show of the two things that a question compares: a passage that contrasts them, or one about each.

A thing is told by the heading, the item or the row that explains it, an option of a program by exactly its letters.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.models.extractive.form import find_scope, find_terms, is_named
from suffice.models.extractive.units import Unit, find_follower, find_heading
from suffice.text.entities import content_stems
from suffice.text.question import Question, strip_comparing
from suffice.text.tokens import normalize_phrase, tokenize
from suffice.types import Note

_CONTRAST = re.compile(
    r"\b(?:whereas|while|unlike|instead|rather than|differ\w*|in contrast|compared|opposed|however|but|than|identical|except"
    r"|während|hingegen"
    r"|dagegen|anders als|im gegensatz|sondern|alors que|tandis que|contrairement|mientras|en cambio"
    r"|a diferencia|al igual que)\b",
    re.IGNORECASE,
)
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_PAGE_SECTION = re.compile(r"\(\w+\)$")  # Of a manual page, as in "git-add(1)".
_FIRST_BONUS = 0.4  # The first sentence below a name says what it is.
_MAX_CONTRAST_CHARS = 400
_MAX_CONTRAST_RANK = 10  # Further down, both things are only mentioned.
_MAX_FIRST_LINE = 30
_MAX_TERM_CHARS = 60


@dataclass(frozen=True, slots=True)
class _Side:
    """One of two things. ``option`` is the option of a program in its name, ``program`` are the stems of the rest."""

    name: str
    option: str = ""
    program: frozenset[str] = frozenset()

    @property
    def stems(self) -> frozenset[str]:
        return content_stems(self.name)

    def is_in(self, text: str) -> bool:
        """Whether a text names it: its words in their order, an option in exactly its letters."""
        if self.option:
            return re.search(rf"(?<![\w-]){re.escape(self.option)}(?![\w-])", text) is not None
        if not self.stems <= content_stems(text):
            return False
        words = [word for word in tokenize(self.name) if content_stems(word)]
        starts = [re.escape(min([word, *content_stems(word)], key=len)) for word in words]
        return re.search(r"\W+(?:\w+\W+)?".join(rf"{start}\w*" for start in starts), text, re.IGNORECASE) is not None


def _parse_sides(question: Question) -> list[_Side]:
    """Return the things that a question compares: of "git reset --soft and --hard", both are options of "git reset"."""
    found = [(side, option[0] if (option := _OPTION.search(side)) else "") for side in question.sides]
    programs = [content_stems(side.replace(option, "")) for side, option in found if option]
    shared = next(filter(None, programs), frozenset[str]())
    return [_Side(side, option, shared if option else frozenset()) for side, option in found]


def choose_sides(question: Question, notes: Sequence[Note], units: Sequence[Unit]) -> list[Unit]:
    """Return a unit that contrasts the things, else the best unit for each; empty unless all are there."""
    sides = _parse_sides(question)
    if not all(side.stems or side.option for side in sides):
        return []
    both = frozenset[str]().union(*(side.stems for side in sides))
    contrasting = [
        unit
        for unit in (units[:_MAX_CONTRAST_RANK] if question.span == "none" else ())
        if len(unit.text) <= _MAX_CONTRAST_CHARS
        and _CONTRAST.search(unit.text)
        and all(side.is_in(unit.text) for side in sides)
    ]
    for unit in contrasting:  # "A and B are identical except for:" with a list says it all.
        if find_follower(notes[unit.note], unit, ("list", "table")) is not None:
            return [unit]
    asked = content_stems(strip_comparing(question.text)) - both
    bonus = _FIRST_BONUS if question.span == "none" else 0.0

    def choose(side: _Side, among: Sequence[Unit]) -> Unit | None:
        if question.span == "none" and asked:
            return _choose_asked(side, asked, notes, among)
        return _choose_side(side, notes, among, bonus)

    found = [choose(side, units) for side in sides]
    if len(found) == 2 and found[0] == found[1] and not contrasting:  # It is about one of them, and names the other.
        for number, other in ((1, 0), (0, 1)):
            own = sides[other].stems - sides[number].stems
            apart = choose(sides[number], [unit for unit in units if not own <= unit.stems]) if own else None
            if apart is not None:
                found[number] = apart
                break
    about = [unit for unit in found if unit is not None]
    if len(about) == len(sides) and all(
        _is_below(unit, notes[unit.note], side) for unit, side in zip(about, sides, strict=True)
    ):
        return list(dict.fromkeys(about))
    if contrasting:
        return contrasting[:1]
    return list(dict.fromkeys(about)) if len(about) == len(sides) else []


def _choose_asked(side: _Side, asked: frozenset[str], notes: Sequence[Note], units: Sequence[Unit]) -> Unit | None:
    """Return the best unit below a name or in a document of that title, where the question asks for one thing of it."""
    own = (
        unit
        for unit in units
        if _is_below(unit, notes[unit.note], side)
        or (side.stems and not side.option and side.stems <= content_stems(notes[unit.note].title))
    )
    # The words of the name are in the title already; in a sentence they say nothing about what is asked.
    return max(own, key=lambda unit: (len(asked & unit.stems), unit.score), default=None) or _choose_side(
        side, notes, units, 0.0
    )


def _choose_side(side: _Side, notes: Sequence[Note], units: Sequence[Unit], first_bonus: float) -> Unit | None:
    """Return the best unit that stands below a name or on a page of that name; else whose title or text has its words."""
    below = [unit for unit in units if _is_below(unit, notes[unit.note], side)]
    below = [unit for unit in below if side.program <= content_stems(notes[unit.note].title)] or below
    # A heading may name both sides, and a table below it explain each.
    shared = [unit for unit in below if len(find_scope(notes[unit.note], unit.start)) > 1]
    if shared and any(_is_explained(unit, notes[unit.note], side) for unit in shared):
        below = [unit for unit in below if unit not in shared or _is_explained(unit, notes[unit.note], side)]
    if below:
        opening: dict[tuple[int, tuple[str, ...]], int] = {}
        for unit in below:
            key = (unit.note, find_scope(notes[unit.note], unit.start))
            if unit.block.format == "prose" and (key not in opening or unit.start < opening[key]):
                opening[key] = unit.start
        firsts = {(key[0], start) for key, start in opening.items()}
        return max(below, key=lambda unit: unit.score + first_bonus * ((unit.note, unit.start) in firsts))
    if side.option:
        return next((unit for unit in units if side.is_in(unit.text)), None)
    name = normalize_phrase(side.name)
    pages = [unit for unit in units if unit.block.format != "code" and _name_page(notes[unit.note]) == name]
    opening_of_page = (unit for unit in pages if first_bonus and _is_first_of_page(notes[unit.note]))
    last = (unit for unit in units if side.stems <= content_stems(notes[unit.note].title.rpartition(" > ")[2]))
    in_text = (unit for unit in units if side.stems <= content_stems(notes[unit.note].title) | unit.stems)
    return next((unit for found in (opening_of_page, pages, last, in_text) for unit in found), None)


def _is_first_of_page(note: Note) -> bool:
    """Whether a note begins its file, where a page says what it is about."""
    return note.place is not None and note.place.lines is not None and note.place.lines[0] <= _MAX_FIRST_LINE


def _name_page(note: Note) -> str:
    """Return the words of the outermost title, as in "git add" of "git-add(1) > OPTIONS"."""
    return normalize_phrase(_PAGE_SECTION.sub("", note.title.partition(" > ")[0]).replace("-", " "))


def _is_below(unit: Unit, note: Note, side: _Side) -> bool:
    """Whether a unit stands below the name of a side, or is the item or the row about it."""
    if side.option:
        above = find_heading(note, unit.block)
        heading = note.text[above.start : above.end] if above is not None else note.title.rpartition(" > ")[2]
        return _is_explained(unit, note, side) if _read_term(unit, note) else side.is_in(heading)
    wanted = _list_names(side)
    scope = tuple(part.removesuffix("s") for part in find_scope(note, unit.start))
    if is_named(scope, wanted) or is_named(find_scope(note, unit.start), wanted):
        return True
    if note.kind == "csv":
        return side.stems <= unit.stems
    return _is_explained(unit, note, side)


def _is_explained(unit: Unit, note: Note, side: _Side) -> bool:
    """Whether a unit is the item or the row about a side."""
    term = _read_term(unit, note)
    if side.option:
        return side.is_in(term)
    if unit.block.format == "prose":
        return False
    is_short = len(term) < min(_MAX_TERM_CHARS, len(unit.text))
    return (is_short and side.stems <= content_stems(term)) or not _list_names(side).isdisjoint(find_terms(unit.text))


def _list_names(side: _Side) -> frozenset[str]:
    name = side.name.lower()
    return frozenset({name, name.rpartition(".")[2], name.removesuffix("s")})


def _read_term(unit: Unit, note: Note) -> str:
    """Return what an item or a row is about: what stands before its colon, or its first value if all have that label."""
    if unit.block.format not in ("list", "table"):
        return ""
    first = note.text[unit.start : unit.end].partition("\n")[0].strip()
    if first.startswith("|"):
        return first.strip("| ").partition("|")[0].strip()
    label, colon, rest = first.partition(": ")
    starts = [note.text[start:end].lstrip() for start, end in unit.block.units]
    is_record = colon and len(starts) > 1 and all(start.startswith(label + colon) for start in starts)
    return rest.partition(" · ")[0] if is_record else label.removesuffix(":")
