"""Decide questions about two things, each with a note of its own title, by a value that both notes state.

"Which is older, A or B?" by the years, "Which is higher?" by the figures, "Which is a comedy, A or B?" and "Are A and B both
comedies?" by the words of what each note says, "Are A and B in the same family?" by the names beside the word "family". Where
a value is missing on one side, or both are equal, nothing is decided. English only.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.models.extractive.units import find_stems, note_stems
from suffice.text.entities import content_stems, extract_entities, extract_names, strip_parenthetical
from suffice.text.languages import ENGLISH, get_language
from suffice.text.question import Question
from suffice.text.sentences import split_sentences
from suffice.text.tokens import normalize_phrase
from suffice.types import Note

_YES_NO = re.compile(r"(?:are|were|is|was|do|does|did|have|has|can)\b", re.IGNORECASE)
_BOTH = re.compile(r"\bboth\b", re.IGNORECASE)
_SAME = re.compile(r"\b(?:the same|a common|one) (?:\w+ )?(?P<noun>\w+)", re.IGNORECASE)
_SAME_HEAD = re.compile(r"\bthe same (?P<noun>\w+)", re.IGNORECASE)
_LIFE = re.compile(r"\blived? (?:to an? older|longer|a longer|the longest)|\blonger life|\bolder age", re.IGNORECASE)
_EARLY = re.compile(r"\b(?:first|earlier|earliest|older|oldest|before)\b", re.IGNORECASE)
_LATE = re.compile(
    r"\b(?:later|latest|younger|youngest|newer|newest|most recent(?:ly)?|more recent(?:ly)?)\b", re.IGNORECASE
)
_MORE = re.compile(r"\b(?:[Mm]ore|[Mm]ost)\s+(?P<noun>[a-z]\w*)")
_HIGH = re.compile(r"\b(?:higher|highest|taller|tallest)\b", re.IGNORECASE)
_BIRTH = re.compile(r"\bborn\b|\b(?:older|oldest|younger|youngest)\b|^\W*who\b", re.IGNORECASE)
_START = re.compile(
    r"\b(?:publi[sc]|found|establish|form|releas|launch|start|beg[au]n|open|creat|introduc|debut|premier|built|construct)\w*",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d.,-])(?:1\d{3}|20\d{2})(?![\d%]|[.,]\d)")
_HEIGHT = re.compile(r"(?P<number>\d[\d,]*(?:\.\d+)?)[\s-]?(?P<unit>m|metres?|meters?|ft|feet|foot)\b")
_NUMBER = r"(?P<number>\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_SPELLED = dict(zip("two three four five six seven eight nine ten eleven twelve".split(), range(2, 13), strict=True))
_DEFINITION = re.compile(r"\b(?:is|was|are|were)\s+(?:an?|the|one of)\s+(?P<rest>[^.;]+)")
_PLACE_NOUNS = frozenset({"country", "nationality", "nation"})
# One country, written in several ways.
_COUNTRIES = tuple(
    (re.compile(pattern), word)
    for pattern, word in (
        (r"\bU\.?S\.?(?:A\b\.?)?(?!\w)|\bUnited States(?: of America)?\b", "American"),
        (r"\bU\.?K\.?(?!\w)|\bUnited Kingdom\b|\bGreat Britain\b", "British"),
    )
)
_COUNTRY_STEMS = content_stems("American British")
# Nouns that notes use for the same kind of thing.
_ALIKE = dict.fromkeys(("band", "group"), r"(?:band|group|duo|trio)")
# "Produced by the same company"
_SAME_MAKER = re.compile(r"\b(?P<verb>\w+(?:ed|en|ade|uilt)) by the same (?P<noun>\w+)", re.IGNORECASE)
_PERSON_NOUNS = frozenset("person man woman director author writer composer artist architect".split())
_MAX_MAKERS_CHARS = 120
_MAKER_GENERIC = content_stems(
    "pictures productions studio studios company films records publishing press inc entertainment"
)
_GENERIC = frozenset(
    content_stems("both same which who what type types kind kinds person thing one found considered based")
)
_MIN_LIFE_GAP = 2  # Years of a life are known to within one.
_MIN_PROPERTY, _MIN_PROPERTY_MARGIN = 0.99, 0.34


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer and the numbers of the two notes that it comes from, the deciding one first."""

    text: str
    notes: tuple[int, int]


def find_compared(question: Question, notes: Sequence[Note]) -> tuple[int, int] | None:
    """Return the notes of the two things that a question compares, by their titles; ``None`` unless both are there."""
    is_yes_no = question.kind == "yes_no" and (_BOTH.search(question.text) or _SAME.search(question.text))
    if not question.sides and not is_yes_no:
        return None
    names = question.sides or [
        side for entity in extract_entities(question.text) for side in re.split(r"\s+and\s+(?:the\s+)?", entity)
    ]
    found = _list_named(question.text, notes)
    for name in names:
        number = _find_titled(name, notes)
        if len(found) < 2 and number is not None and not any(_has_same_title(notes, number, other) for other in found):
            found.append(number)
    return (found[0], found[1]) if len(found) == 2 else None


def _list_named(text: str, notes: Sequence[Note]) -> list[int]:
    """Return the notes whose titles stand in a text, in its order; of titles that overlap the longest."""
    phrase = f" {normalize_phrase(text)} "
    places: dict[int, tuple[int, int]] = {}
    for number, note in enumerate(notes):
        title = normalize_phrase(strip_parenthetical(note.title)).strip()
        start = phrase.find(f" {title} ") if len(title) > 2 and find_stems(title) else -1
        if start >= 0:
            places[number] = (start, start + len(title) + 1)
    found: list[int] = []
    for number, (start, end) in sorted(places.items(), key=lambda item: (item[1][0], -item[1][1])):
        if all(end <= places[other][0] + 1 or start >= places[other][1] - 1 for other in found):
            found.append(number)
    return found if len(found) <= 2 else []


def _has_same_title(notes: Sequence[Note], one: int, other: int) -> bool:
    return strip_parenthetical(notes[one].title) == strip_parenthetical(notes[other].title)


def decide(question: Question, notes: Sequence[Note]) -> Decision | None:
    """Return the answer to a question about two things; ``None`` if no rule decides it."""
    compared = find_compared(question, notes) if get_language() == ENGLISH else None
    if compared is None:
        return None
    if question.kind == "yes_no":
        return _decide_all(question, notes, compared)
    winner = _choose_side(question, notes, compared)
    if winner is None:
        return None
    other = compared[1] if winner == compared[0] else compared[0]
    return Decision(strip_parenthetical(notes[winner].title), (winner, other))


def _find_titled(name: str, notes: Sequence[Note]) -> int | None:
    """Return the note whose title is the name, else the one whose title has its words and the fewest others."""
    stems = find_stems(name)
    if not stems:
        return None
    titles = [find_stems(strip_parenthetical(note.title)) for note in notes]
    fitting = [number for number, title in enumerate(titles) if stems <= title and len(title) <= len(stems) + 2]
    return min(fitting, key=lambda number: (len(titles[number]), number), default=None)


# -- A or B ------------------------------------------------------------------------------------------------------------


def _choose_side(question: Question, notes: Sequence[Note], compared: tuple[int, int]) -> int | None:
    text = question.text
    one, other = (notes[number].text for number in compared)
    values: tuple[float | None, float | None]
    wants_less = False
    if _LIFE.search(text):
        values = _measure_life(one), _measure_life(other)
        if None not in values and abs(float(values[0] or 0) - float(values[1] or 0)) < _MIN_LIFE_GAP:
            return None
    elif _EARLY.search(text) or _LATE.search(text):
        wants_less = _EARLY.search(text) is not None
        find = _find_first_year if _BIRTH.search(text) else _find_start_year
        values = find(one), find(other)
    elif _HIGH.search(text):
        values = _find_height(one), _find_height(other)
    elif more := _MORE.search(text):
        values = _find_count(one, more["noun"]), _find_count(other, more["noun"])
    else:
        return _choose_by_words(question, notes, compared)
    if values[0] is None or values[1] is None or values[0] == values[1]:
        return None
    return compared[0] if (values[0] < values[1]) == wants_less else compared[1]


def _choose_by_words(question: Question, notes: Sequence[Note], compared: tuple[int, int]) -> int | None:
    """Return the side whose note has the words of the question that the other lacks."""
    names = _name_stems(notes, compared).union(*(find_stems(side) for side in question.sides))
    wanted = find_stems(question.text) - names - _GENERIC
    if not wanted:
        return None
    shares = [len(wanted & note_stems(notes[number])) / len(wanted) for number in compared]
    best = 0 if shares[0] >= shares[1] else 1
    if shares[best] < _MIN_PROPERTY or shares[best] - shares[1 - best] < _MIN_PROPERTY_MARGIN:
        return None
    return compared[best]


def _name_stems(notes: Sequence[Note], numbers: Sequence[int]) -> frozenset[str]:
    return frozenset[str]().union(*(find_stems(strip_parenthetical(notes[number].title)) for number in numbers))


def _list_sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def _find_first_year(text: str) -> float | None:
    """Return the first year of the first sentence: in a biography the birth."""
    sentences = _list_sentences(text)
    years = _YEAR.findall(sentences[0]) if sentences else []
    return float(years[0]) if years else None


def _find_start_year(text: str) -> float | None:
    """Return the first year in a sentence that says that something began; else the first of the first sentence."""
    for sentence in _list_sentences(text):
        years = _YEAR.findall(sentence)
        if years and _START.search(sentence):
            return float(years[0])
    return _find_first_year(text)


def _measure_life(text: str) -> float | None:
    """Return the years from birth to death, if the first sentence begins with both."""
    sentences = _list_sentences(text)
    bracket = re.search(r"\(([^()]*)\)", sentences[0]) if sentences else None
    years = _YEAR.findall(bracket[1]) if bracket else []
    return float(years[-1]) - float(years[0]) if len(years) >= 2 else None


def _find_height(text: str) -> float | None:
    """Return the first height, in metres."""
    match = _HEIGHT.search(text)
    if match is None:
        return None
    value = float(match["number"].replace(",", ""))
    return value * 0.3048 if match["unit"].startswith("f") else value


def _find_count(text: str, noun: str) -> float | None:
    """Return the number in front of a noun: 118 of "about 118 accepted species"."""
    stems = content_stems(noun)
    for match in re.finditer(rf"\b{_NUMBER}\s+(?P<words>(?:[\w-]+\s+){{0,2}}[\w-]+)", text, re.IGNORECASE):
        if stems and stems <= content_stems(match["words"]):
            number = match["number"].lower()
            return float(_SPELLED.get(number) or number.replace(",", ""))
    return None


# -- Both, the same ----------------------------------------------------------------------------------------------------


def _decide_all(question: Question, notes: Sequence[Note], compared: tuple[int, int]) -> Decision | None:
    """Return the verdict of all pairs of notes with the two titles, which several things may have; ``None`` if they differ."""
    ones, others = (_list_namesakes(notes, number) for number in compared)
    verdicts = {
        (one, other): verdict
        for one in ones
        for other in others
        if (verdict := _decide_both(question, notes, (one, other))) is not None
    }
    if len(set(verdicts.values())) != 1:
        return None
    pair, verdict = next(iter(verdicts.items()))
    return Decision("Yes" if verdict else "No", pair)


def _list_namesakes(notes: Sequence[Note], number: int) -> list[int]:
    """Return the notes of a title that differ in what is in brackets; a title without brackets is the thing itself."""
    same = [other for other in range(len(notes)) if _has_same_title(notes, number, other)]
    plain = [other for other in same if notes[other].title == strip_parenthetical(notes[other].title)]
    return plain[:1] or same


def _decide_both(question: Question, notes: Sequence[Note], compared: tuple[int, int]) -> bool | None:
    if (maker := _SAME_MAKER.search(question.text)) is not None:
        ones, others = (_find_makers(maker["verb"], notes[number]) for number in compared)
        if not ones or not others:
            return None
        if any(_is_same_maker(one, other) for one in ones for other in others):
            return True
        return False if maker["noun"].lower() in _PERSON_NOUNS else None  # A company, and one of its people
    same = _SAME_HEAD.search(question.text)
    if same is not None:
        values = [_find_values(same["noun"].lower(), notes[number]) for number in compared]
        return bool(values[0] & values[1]) if all(values) else None
    wanted = find_stems(_unify_countries(question.text)) - _name_stems(notes, compared) - _GENERIC
    wanted -= _find_other_names(question, notes, compared)
    if not wanted:
        return None
    lacking = [wanted - note_stems(notes[number]) - _find_countries(notes[number]) for number in compared]
    if not any(lacking):
        return True
    if all(lack & _COUNTRY_STEMS for lack in lacking):  # Neither note says of which country its subject is.
        return None
    # What a note calls its subject is another thing, and it never uses the words of the question.
    is_defined = all(
        _DEFINITION.search(sentence) for number in compared for sentence in _list_sentences(notes[number].text)[:1]
    )
    return False if is_defined and any(lack and _is_kind(lack, question) for lack in lacking) else None


def _unify_countries(text: str) -> str:
    for pattern, word in _COUNTRIES:
        text = pattern.sub(word, text)
    return text


def _find_countries(note: Note) -> frozenset[str]:
    """Return the countries in the first sentence, which says what its subject is; later ones mention others."""
    first = _list_sentences(note.text)[:1]
    return find_stems(_unify_countries(first[0])) & _COUNTRY_STEMS if first else frozenset()


def _find_other_names(question: Question, notes: Sequence[Note], compared: tuple[int, int]) -> frozenset[str]:
    """Return the stems of names that a note uses for its subject beside its title: "Tibouchina Aubl" for "Tibouchina"."""
    return frozenset[str]().union(
        *(
            find_stems(name)
            for name in extract_names(question.text)
            for note in (notes[number] for number in compared)
            if name in note.text and find_stems(strip_parenthetical(note.title)) <= find_stems(name)
        )
    )


def _find_makers(verb: str, note: Note) -> list[frozenset[str]]:
    """Return the stems of each name that a note gives after "produced by", without those of all firms."""
    found = re.finditer(rf"{verb} by (?P<makers>[^.;]{{1,{_MAX_MAKERS_CHARS}}})", note.text, re.IGNORECASE)
    names = (name for match in found for name in extract_names(re.split(r"\b[a-z]+ed\b", match["makers"])[0]))
    stems = (find_stems(name) - find_stems(note.title) - _MAKER_GENERIC for name in names)
    return [name for name in stems if name]


def _is_same_maker(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two names are one: "Walt Disney" is in "Walt Disney Pictures", and "John Ford" is no "John Huston"."""
    return one <= other or other <= one


def _is_kind(stems: frozenset[str], question: Question) -> bool:
    """Whether the words stand at the end of the question, as what both things are said to be."""
    tail = _unify_countries(question.text).rstrip(" ?").split()[-3:]
    return bool(stems & find_stems(" ".join(tail)))


def _find_values(noun: str, note: Note) -> frozenset[str]:
    """Return the names that a note gives for a noun: "Jiangsu" of "Jiangsu province", "Urticaceae" of "family Urticaceae".

    The country of something is told by the capitalised words of what it is called: "American" of "is an American singer".
    """
    text = note.text
    noun_pattern = _ALIKE.get(noun, noun)
    name = r"(?P<name>[A-ZÀ-Þ][\w'’.-]+(?:\s+[A-ZÀ-Þ][\w'’.-]+)*)"
    after = {match["name"] for match in re.finditer(rf"\b{noun_pattern}\s+(?:of\s+)?{name}", text)}
    before = {match["name"] for match in re.finditer(rf"{name}\s+{noun_pattern}\b", text)}
    # "The British band Lantern" is called Lantern.
    found = after or before if noun in _ALIKE else after | before
    if not found and noun in _PLACE_NOUNS and (match := _DEFINITION.search(text)):
        found = set(extract_names(match["rest"]))
    return frozenset(stem for value in found for stem in find_stems(value) - find_stems(note.title))
