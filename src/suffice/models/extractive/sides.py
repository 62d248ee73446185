"""Choose what to show of the two things that a question compares: a passage that contrasts them, or one about each."""

import re
from collections.abc import Sequence

from suffice.models.extractive.form import find_scope, find_terms, is_named
from suffice.models.extractive.units import Unit, find_follower
from suffice.text.entities import content_stems
from suffice.text.question import Question, strip_comparing
from suffice.types import Note

_CONTRAST = re.compile(
    r"\b(?:whereas|while|unlike|instead|rather than|differ\w*|in contrast|compared|opposed|however|but|than|identical|except"
    r"|während|hingegen"
    r"|dagegen|anders als|im gegensatz|sondern|alors que|tandis que|contrairement|mientras|en cambio"
    r"|a diferencia|al igual que)\b",
    re.IGNORECASE,
)
_FIRST_BONUS = 0.4  # The first sentence below a name says what it is.
_MAX_CONTRAST_CHARS = 400
_MAX_CONTRAST_RANK = 10  # Further down, both things are only mentioned.
_MAX_TERM_CHARS = 60


def choose_sides(question: Question, notes: Sequence[Note], units: Sequence[Unit]) -> list[Unit]:
    """Return a unit that contrasts the things, else the best unit for each; empty unless all are there."""
    stems = [content_stems(side) for side in question.sides]
    if not all(stems):
        return []
    both = frozenset[str]().union(*stems)
    contrasting = [
        unit
        for unit in (units[:_MAX_CONTRAST_RANK] if question.span == "none" else ())
        if both <= unit.stems and len(unit.text) <= _MAX_CONTRAST_CHARS and _CONTRAST.search(unit.text)
    ]
    for unit in contrasting:  # "A and B are identical except for:" with a list says it all.
        if find_follower(notes[unit.note], unit, ("list", "table")) is not None:
            return [unit]
    asked = content_stems(strip_comparing(question.text)) - both
    bonus = _FIRST_BONUS if question.span == "none" else 0.0

    def choose(side: str, among: Sequence[Unit]) -> Unit | None:
        if question.span == "none" and asked:
            return _choose_asked(side, asked, notes, among)
        return _choose_side(side, notes, among, bonus)

    found = [choose(side, units) for side in question.sides]
    if len(found) == 2 and found[0] == found[1] and not contrasting:  # It is about one of them, and names the other.
        for number, other in ((1, 0), (0, 1)):
            own = stems[other] - stems[number]
            apart = choose(question.sides[number], [unit for unit in units if not own <= unit.stems]) if own else None
            if apart is not None:
                found[number] = apart
                break
    about = [unit for unit in found if unit is not None]
    if len(about) == len(stems) and all(
        _is_below(unit, notes[unit.note], side) for unit, side in zip(about, question.sides, strict=True)
    ):
        return list(dict.fromkeys(about))
    if contrasting:
        return contrasting[:1]
    return list(dict.fromkeys(about)) if len(about) == len(stems) else []


def _choose_asked(side: str, asked: frozenset[str], notes: Sequence[Note], units: Sequence[Unit]) -> Unit | None:
    """Return the best unit below a name or in a document of that title, where the question asks for one thing of it."""
    stems = content_stems(side)
    own = (u for u in units if _is_below(u, notes[u.note], side) or stems <= content_stems(notes[u.note].title))
    # The words of the name are in the title already; in a sentence they say nothing about what is asked.
    return max(own, key=lambda unit: (len(asked & unit.stems), unit.score), default=None) or _choose_side(
        side, notes, units, 0.0
    )


def _choose_side(side: str, notes: Sequence[Note], units: Sequence[Unit], first_bonus: float) -> Unit | None:
    """Return the best unit that stands below a name; else whose title, else whose text has its words."""
    stems = content_stems(side)
    below = [unit for unit in units if _is_below(unit, notes[unit.note], side)]
    if below:
        opening: dict[tuple[int, tuple[str, ...]], int] = {}
        for unit in below:
            key = (unit.note, find_scope(notes[unit.note], unit.start))
            if unit.block.format == "prose" and (key not in opening or unit.start < opening[key]):
                opening[key] = unit.start
        firsts = {(key[0], start) for key, start in opening.items()}
        return max(below, key=lambda unit: unit.score + first_bonus * ((unit.note, unit.start) in firsts))
    last = ((unit, content_stems(notes[unit.note].title.rpartition(" > ")[2])) for unit in units)
    in_title = next((unit for unit, title in last if stems <= title), None)
    if in_title is not None:
        return in_title
    return next((u for u in units if stems <= content_stems(notes[u.note].title) | u.stems), None)


def _is_below(unit: Unit, note: Note, side: str) -> bool:
    """Whether a unit stands below the name of a side, or is the item or the row about it."""
    wanted = frozenset({side.lower(), side.lower().rpartition(".")[2], side.lower().removesuffix("s")})
    scope = tuple(name.removesuffix("s") for name in find_scope(note, unit.start))
    if is_named(scope, wanted) or is_named(find_scope(note, unit.start), wanted):
        return True
    if note.kind == "csv":
        return content_stems(side) <= unit.stems
    if unit.block.format == "prose":
        return False
    term = unit.text.partition(": ")[0]
    is_explained = len(term) < min(_MAX_TERM_CHARS, len(unit.text)) and content_stems(side) <= content_stems(term)
    return is_explained or not wanted.isdisjoint(find_terms(unit.text))
