"""Choose the stretches of the sources that answer a question, and lay each out as in its source.

A stretch grows around the best unit of a note: sentences with their neighbours, a list with its lead-in, a table with its
header, code with the sentence above it. Stretches of other notes follow while they add something. A question that takes
several steps gets single sentences from more notes.
"""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

from suffice.models.extractive.comparison import find_compared
from suffice.models.extractive.form import find_code_names, find_terms
from suffice.models.extractive.sides import choose_sides
from suffice.models.extractive.units import (
    HEADING_SPANS,
    PRONOUN,
    QuestionWords,
    Unit,
    find_follower,
    find_heading,
    find_topic,
)
from suffice.text.answer_spans import find_spans
from suffice.text.blocks import TextBlock, split_blocks
from suffice.text.entities import content_stems, strip_parenthetical
from suffice.text.plain import to_one_line
from suffice.text.question import Question
from suffice.text.quoting import BOLD, format_title, quote_block
from suffice.text.sentences import Offsets
from suffice.text.tokens import normalize_phrase
from suffice.types import Excerpt, ExcerptFormat, Note

MAX_EXCERPTS = 3
_FIRST_CHARS = 520  # An excerpt is read by its first 600 characters.
_OTHER_CHARS = 360
_SIDE_CHARS = 280  # Both sides of a comparison are seen at once.
_LIST_CHARS = 1500  # A question for a whole list gets the whole list up to here.
_WHOLE_LIST_CHARS = 800  # A list that is asked for from its start is not torn for less than this.
# Characters of an answer over several steps with its headings, and of its first stretch: on the odd questions of HotpotQA and
# MuSiQue this found most answers within the length of three longer stretches.
_CHAIN_CHARS, _CHAIN_FIRST_CHARS, _MAX_CHAIN = 1200, 420, 5
_HEADING_CHARS = 25  # Markup and citation of an excerpt, without title and location.
_MIN_RELATIVE_COVERAGE = 0.5  # A further stretch has this share of the question's words that the first has, or a link.
_LINK_BONUS = 0.4
_REDUNDANCY_WEIGHT = 0.4
_STRUCTURED_BONUS = 0.25
_NAMING_BONUS = 0.5  # Of a sentence that says what all things are that the question asks for.
_MIN_LIST_COVERAGE = 0.4  # Of the question's words, in what stands above a list.
# "red, green and blue": three things in a row.
_ENUMERATION = re.compile(r"(?:[^\s,.;:()][^,.;:()]{0,39}, ){1,}[^,.;:()]{1,40},? (?:and|or|und|oder|et|ou|y|o) \S")
# "Which shells are there?" asks for shells; "The built-in shells are `bash`, `zsh` and `fish`" names them.
_ASKED_THINGS = re.compile(
    r"^(?:\w+ )?(?:what|which|welche[nr]?|quel(?:le)?s|qué|cu[áa]les)"
    r"(?: (?:are|were|sont|son|sind)(?: all)?(?: the| les| los| las| die)?)? (?:[\w-]+ ){0,3}?(?P<things>[\w-]+)"
    r"(?= (?:is|are|were|was|do|does|did|can|have|has|exist|support|of|in|for|there|will|must|should)\b|\?)",
    re.IGNORECASE,
)
_NAMING = re.compile(
    r"[^,;:|]{0,60}?(?: (?:are|include|sind|sont|son)\b|:|\|)(?=[^,]*,[^,]*(?:,| and | or | und | et | y ))"
)
_INTRODUCTION = re.compile(r":[*_`]*\Z")
_SIGNATURE = re.compile(r"\b(?:def|class|func|function|fn)\s+\w")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a note: its parts in reading order, each with its block, and the unit that it was chosen for.

    ``title`` is the title of the note with the heading above the stretch, where that is another one.
    """

    note: int
    parts: tuple[tuple[Offsets, TextBlock], ...]
    unit: Unit
    title: str = ""

    @property
    def start(self) -> int:
        return self.parts[0][0][0]

    @property
    def end(self) -> int:
        return self.parts[-1][0][1]

    @property
    def format(self) -> ExcerptFormat:
        """The layout of what decides: the unit's own block, or the one that it introduces."""
        introduced = (block for _, block in self.parts if block.lead == (self.unit.start, self.unit.end))
        return next(introduced, self.unit.block).format


def choose_stretches(
    question: Question,
    notes: Sequence[Note],
    units: Sequence[Unit],
    words: QuestionWords,
    limit: int = MAX_EXCERPTS,
    steps: Sequence[Unit] = (),
) -> list[Stretch]:
    """Return up to ``limit`` stretches, best first. ``steps`` are the units ranked as steps of a chain, if it takes one."""
    ordered = _prefer_structure(question, notes, units, words)
    if question.sides and (sides := choose_sides(question, notes, ordered)):
        return _grow_sides(question, notes, sides)
    if (compared := find_compared(question, notes)) and (sides := _choose_units_of(compared, ordered)):
        return [_grow(question, notes[unit.note], unit, _SIDE_CHARS) for unit in sides]
    if limit == MAX_EXCERPTS and steps:
        return _choose_steps(question, notes, steps)
    chosen: list[Stretch] = []
    covered: frozenset[str] = frozenset()
    shown = ""
    topics = [content_stems(note.title) for note in notes]
    remaining = list(ordered)
    while remaining and len(chosen) < limit:
        if chosen:
            unit = max(remaining, key=lambda unit: _score_addition(unit, notes, chosen, words, covered, shown))
        else:
            unit = remaining[0]
        budget = (_LIST_CHARS if question.kind == "list" else _FIRST_CHARS) if not chosen else _OTHER_CHARS
        stretch = _grow(question, notes[unit.note], unit, budget)
        chosen.append(stretch)
        if question.kind == "list" and (rest := _continue_list(notes, stretch)) is not None:
            return [*chosen, rest]
        text = notes[unit.note].text[stretch.start : stretch.end]
        covered |= content_stems(text) | topics[unit.note]
        shown += normalize_phrase(text)
        if stretch.end - stretch.start > _FIRST_CHARS + 200:
            break  # A whole list is the answer.
        least = _MIN_RELATIVE_COVERAGE * words.coverage(chosen[0].unit.stems | topics[chosen[0].note])
        remaining = [
            other
            for other in remaining
            if other.note != unit.note
            and (words.coverage(other.stems | topics[other.note]) >= least or _is_linked(notes[other.note], shown))
            and not any(_overlap(other, picked.unit) > 0.8 for picked in chosen)
        ]
    return chosen


def _continue_list(notes: Sequence[Note], stretch: Stretch) -> Stretch | None:
    """Return the rest of a list that goes on in the next passage of the same file; ``None`` if there is none."""
    note, ((_, end), block) = notes[stretch.note], stretch.parts[-1]
    if block.format != "list" or end < len(note.text.rstrip()) or note.place is None or note.place.lines is None:
        return None
    for number, other in enumerate(notes):
        lines = other.place.lines if other.place is not None and other.place.path == note.place.path else None
        if lines is not None and 0 < lines[0] - note.place.lines[1] <= 2:  # A blank line may stand between them.
            rest = next(iter(split_blocks(other.text, other.kind)), None)
            if rest is not None and rest.format == "list":
                start, stop = rest.units[0]
                unit = Unit(number, rest, start, stop, other.text[start:stop], frozenset())
                return Stretch(number, ((_grow_units(other.text, rest.units, 0, _LIST_CHARS), rest),), unit)
    return None


def _choose_steps(question: Question, notes: Sequence[Note], units: Sequence[Unit]) -> list[Stretch]:
    """Return the best units of several notes, best first, until the answer is long enough.

    Units of one block become one stretch, with what stands between them.
    """
    first = _grow(question, notes[units[0].note], units[0], _CHAIN_FIRST_CHARS)
    chosen = {units[0].note: first}
    left = _CHAIN_CHARS - _count_chars(notes, first)
    for unit in units[1:]:
        stretch = _add_unit(chosen.get(unit.note), unit)
        if stretch is None or (unit.note not in chosen and len(chosen) == _MAX_CHAIN):
            continue
        cost = _count_chars(notes, stretch)
        if unit.note in chosen:
            cost -= _count_chars(notes, chosen[unit.note])
        if cost <= left:
            chosen[unit.note] = stretch
            left -= cost
    return list(chosen.values())


def _add_unit(stretch: Stretch | None, unit: Unit) -> Stretch | None:
    """Return the stretch with a unit added; ``None`` if it is there already or stands in another block."""
    if stretch is None:
        return Stretch(unit.note, tuple(with_head(unit.block, (unit.start, unit.end))), unit)
    (start, end), block = stretch.parts[-1]
    if len(stretch.parts) > 1 or block != unit.block or (start <= unit.start and unit.end <= end):
        return None
    return replace(stretch, parts=(((min(start, unit.start), max(end, unit.end)), block),))


def _count_chars(notes: Sequence[Note], stretch: Stretch) -> int:
    note = notes[stretch.note]
    return (
        sum(end - start for (start, end), _ in stretch.parts)
        + len(note.title)
        + len(_locate(note, stretch))
        + _HEADING_CHARS
    )


def _score_addition(
    unit: Unit,
    notes: Sequence[Note],
    chosen: Sequence[Stretch],
    words: QuestionWords,
    covered: frozenset[str],
    shown: str,
) -> float:
    """Return what a unit adds to the chosen stretches: its score, new words of the question, a link, less what it repeats."""
    return (
        unit.score
        + words.coverage(unit.stems - covered)
        + _LINK_BONUS * _is_linked(notes[unit.note], shown)
        - _REDUNDANCY_WEIGHT * max(_overlap(unit, other.unit) for other in chosen)
    )


def _is_linked(note: Note, shown: str) -> bool:
    """Whether the title of a note is named in what is shown already: the next step of a chain."""
    title = normalize_phrase(strip_parenthetical(note.title))
    return len(title) > 5 and title in shown


def _prefer_structure(
    question: Question, notes: Sequence[Note], units: Sequence[Unit], words: QuestionWords
) -> list[Unit]:
    """Return the units, best first, with a bonus for the layout that the question asks for."""
    wanted = {"list": ("list", "table"), "how_to": ("code", "list"), "default": ("code",)}.get(question.kind, ())
    if not wanted:
        return list(units)

    def is_wanted(unit: Unit) -> bool:
        note = notes[unit.note]
        if find_follower(note, unit, wanted) is not None:
            return True
        if question.kind != "list":
            return unit.block.format in wanted
        # One item of a list about something else is no list of what is asked for.
        is_list = unit.block.format in wanted and words.coverage(find_topic(note, unit.block)) >= _MIN_LIST_COVERAGE
        return is_list or (unit.block.format == "prose" and _ENUMERATION.search(unit.text) is not None)

    def measure(unit: Unit) -> float:
        if question.kind == "list" and _names_things(question, unit):
            return _NAMING_BONUS
        return _STRUCTURED_BONUS * is_wanted(unit)

    raised = [replace(unit, score=unit.score + measure(unit)) for unit in units]
    return sorted(raised, key=lambda unit: -unit.score)


def _names_things(question: Question, unit: Unit) -> bool:
    """Whether a unit begins with what the question asks for and goes on with several of them."""
    asked = _ASKED_THINGS.match(question.text)
    wanted = content_stems(asked["things"]) if asked else frozenset()
    if not wanted or unit.block.format == "code":
        return False
    words = re.finditer(r"[\w-]+", unit.text[:80])
    return any(content_stems(word[0]) == wanted and _NAMING.match(unit.text, word.end()) for word in words)


def _grow_sides(question: Question, notes: Sequence[Note], sides: Sequence[Unit]) -> list[Stretch]:
    """Return what to show of the things that a question compares. Of a long list or table, only the items about them."""
    block, is_long = sides[0].block, [unit.block.end - unit.block.start > _FIRST_CHARS for unit in sides]
    is_item = [unit.block.format in ("list", "table") for unit in sides]
    if len(sides) > 1 and len({(unit.note, unit.block) for unit in sides}) == 1 and is_item[0] and is_long[0]:
        lead = [(block.lead, _find_block(notes[sides[0].note], block.lead))] if block.lead else []
        head = [(block.head, block)] if block.head else []
        rows = [((unit.start, unit.end), block) for unit in sorted(sides, key=lambda unit: unit.start)]
        return [Stretch(sides[0].note, (*lead, *head, *rows), sides[0])]
    # A choice is read side by side: how old each is, where it lies.
    room = _OTHER_CHARS + 100 if question.span == "choice" else _FIRST_CHARS if len(sides) == 1 else _SIDE_CHARS
    stretches = []
    for unit, cuts in zip(sides, [a and b for a, b in zip(is_item, is_long, strict=True)], strict=True):
        size = unit.end - unit.start if cuts and len(sides) > 1 else room
        stretches.append(_grow(question, notes[unit.note], unit, size))
    return _join_sides(notes, stretches, can_join=question.span != "choice")


def _find_block(note: Note, span: Offsets) -> TextBlock:
    """Return the block that has a span among its units."""
    return next(block for block in split_blocks(note.text, note.kind) if span in block.units)


def _join_sides(notes: Sequence[Note], stretches: Sequence[Stretch], *, can_join: bool) -> list[Stretch]:
    """Return the stretches of both sides; as one if they overlap, or stand close together below one heading."""
    ordered = sorted(stretches, key=lambda stretch: (stretch.note, stretch.start))
    first, last = ordered[0], ordered[-1]
    if len(ordered) < 2 or first.note != last.note:
        return list(stretches)
    if last.start < first.end:  # One stretch holds both.
        longest = max(ordered, key=lambda stretch: stretch.end - stretch.start)
        return [longest] if longest.start == first.start and longest.end >= last.end else [first]
    size = sum(end - start for stretch in ordered for (start, end), _ in stretch.parts)
    headings = {find_heading(notes[stretch.note], stretch.unit.block) for stretch in ordered}
    if can_join and size <= _FIRST_CHARS and len(headings) == 1:
        return [replace(first, parts=(*first.parts, *last.parts))]
    return list(stretches)


def _choose_units_of(numbers: Sequence[int], units: Sequence[Unit]) -> list[Unit]:
    """Return the best unit of each note; empty unless all have one."""
    found = [next((unit for unit in units if unit.note == number), None) for number in numbers]
    return [unit for unit in found if unit is not None] if None not in found else []


def _overlap(one: Unit, other: Unit) -> float:
    union = one.stems | other.stems
    return len(one.stems & other.stems) / len(union) if union else 1.0


# -- growing -----------------------------------------------------------------------------------------------------------


def _grow(question: Question, note: Note, unit: Unit, budget: int) -> Stretch:
    """Return the stretch around a unit: as much of its block as fits, what introduces it, and whole blocks that follow."""
    blocks = split_blocks(note.text, note.kind)
    block = unit.block
    if block.is_heading:
        return _grow_section(unit, blocks, budget)
    if question.span in HEADING_SPANS and (heading := _find_dated_heading(question, note, block)) is not None:
        stretch = _grow(replace(question, span="none"), note, unit, budget)
        return replace(stretch, parts=(((heading.start, heading.end), heading), *stretch.parts))
    is_counted = note.place is not None and note.place.section is not None  # Over all rows, so the row says it all.
    if note.kind == "csv" and (question.kind not in ("list", "count") or is_counted):
        return Stretch(unit.note, tuple(_pick_rows(note, unit, budget)), unit)
    if _explains_named(question, unit):
        budget = unit.end - unit.start  # Other items say nothing about it.
    span = _fit_block(question, note, block, block.units.index((unit.start, unit.end)), budget)
    follower = find_follower(note, unit) if block.format == "prose" else None
    if follower is not None:  # The sentence is worth little without what it introduces.
        room = max(budget - 100, budget // 2)
        lead = (_first_start_within(block, unit, budget - room), unit.end)
        fitted = _fit_block(question, note, follower, 0, room)
        return Stretch(unit.note, ((lead, block), *with_head(follower, fitted)), unit)
    parts = with_head(block, span)
    if block.lead is not None:
        prose = next((other for other in blocks if other.format == "prose" and block.lead in other.units), block)
        parts.insert(0, (block.lead, prose))
    position = blocks.index(block)
    size = sum(end - start for (start, end), _ in parts)
    if span[1] == block.end:
        for following in blocks[position + 1 :]:
            size += following.end - following.start
            if size > budget or following.is_heading:
                break
            parts.append(((following.start, following.end), following))
        while (
            len(parts) > 1
            and parts[-1][1] not in (block, follower)
            and len(parts[-1][1].units) == 1
            and _INTRODUCTION.search(note.text, 0, parts[-1][0][1])
        ):
            parts.pop()  # What it introduces did not fit.
    if block.format == "prose" and span[0] == block.start and note.kind == "code" and position:
        above = blocks[position - 1]
        if above.format == "code" and _SIGNATURE.search(note.text, above.start, above.end):
            parts.insert(0, ((above.start, above.end), above))
    return Stretch(unit.note, tuple(parts), unit)


def _explains_named(question: Question, unit: Unit) -> bool:
    """Whether a unit is the item about an option or a name in the question; lists are asked for as a whole."""
    if unit.block.format != "list" or question.kind in ("list", "count") or question.sides:
        return False
    return not set(find_terms(unit.text)).isdisjoint(find_code_names(question.text))


def _find_dated_heading(question: Question, note: Note, block: TextBlock) -> TextBlock | None:
    """Return the nearest heading above a block that holds a date or a version, as the question asks; else the nearest one."""
    above = [other for other in split_blocks(note.text, note.kind) if other.is_heading and other.end <= block.start]
    dated = [other for other in above if find_spans(note.text[other.start : other.end], question.span)]
    return dated[-1] if dated else find_heading(note, block)


def _grow_section(unit: Unit, blocks: Sequence[TextBlock], budget: int) -> Stretch:
    """Return a heading and the blocks below it that fit."""
    parts = [((unit.start, unit.end), unit.block)]
    size = unit.end - unit.start
    for block in blocks[blocks.index(unit.block) + 1 :]:
        size += block.end - block.start
        if size > budget or block.is_heading:
            break
        parts.append(((block.start, block.end), block))
    return Stretch(unit.note, tuple(parts), unit)


def _pick_rows(note: Note, unit: Unit, budget: int) -> list[tuple[Offsets, TextBlock]]:
    """Return the row of a table and the header above it, if rows do not name their columns."""
    first = unit.block.units[0]
    is_bare = ": " not in note.text[slice(*first)]
    rows = [first] if is_bare and first != (unit.start, unit.end) and first[1] - first[0] < budget else []
    return [(row, unit.block) for row in (*rows, (unit.start, unit.end))]


def with_head(block: TextBlock, span: Offsets) -> list[tuple[Offsets, TextBlock]]:
    """Return a part of a block; a part of a table comes with its header."""
    has_lost_head = block.head is not None and span[0] > block.head[0]
    return [*([(block.head, block)] if has_lost_head and block.head else []), (span, block)]


def _first_start_within(block: TextBlock, unit: Unit, room: int) -> int:
    """Return where the sentences before a unit begin that fit the room."""
    return next((start for start, _ in block.units if unit.start - start <= room), unit.start)


def _fit_block(question: Question, note: Note, block: TextBlock, index: int, budget: int) -> Offsets:
    room = budget
    if question.kind == "list" and block.format == "prose":  # Sentences before the deciding one must not push it down.
        room = budget = min(budget, _FIRST_CHARS)
    elif question.kind == "list":
        room = max(budget, _LIST_CHARS)
    elif block.format == "list" and index == 0 and budget >= _FIRST_CHARS - 100:
        room = _WHOLE_LIST_CHARS
    if block.end - block.start <= room:
        return block.start, block.end
    return _grow_units(note.text, block.units, index, budget)


def _grow_units(text: str, units: Sequence[Offsets], index: int, budget: int) -> Offsets:
    """Return the units around ``index`` that fit the budget: first what a pronoun refers to, then what follows."""
    first = last = index
    if first > 0 and PRONOUN.match(text, units[first][0]) and units[last][1] - units[first - 1][0] <= budget:
        first -= 1
    grown = True
    while grown:
        grown = False
        if last + 1 < len(units) and units[last + 1][1] - units[first][0] <= budget:
            last, grown = last + 1, True
        elif first > 0 and units[last][1] - units[first - 1][0] <= budget:
            first, grown = first - 1, True
    return units[first][0], units[last][1]


# -- layout ------------------------------------------------------------------------------------------------------------


def lift_heading(note: Note, stretch: Stretch, decisive: Sequence[Offsets]) -> Stretch:
    """Return the stretch with the heading that it begins with or stands under above it, not among its text.

    A heading that holds what decides stays in the text.
    """
    (start, end), first = stretch.parts[0]
    if not first.is_heading:
        above = find_heading(note, first) if note.kind != "code" else None
        return stretch if above is None else replace(stretch, title=_extend_title(note, above))
    if len(stretch.parts) == 1 or any(begin < end and start < last for begin, last in decisive):
        return stretch
    return replace(stretch, parts=stretch.parts[1:], title=_extend_title(note, first))


def _extend_title(note: Note, heading: TextBlock) -> str:
    """Return the title of a note with a heading in its text; the heading of a next section replaces that of the first."""
    words = _get_words(note, heading)
    parents, _, last = note.title.rpartition(" > ")
    last = strip_parenthetical(last)  # The date of the document.
    if normalize_phrase(words) == normalize_phrase(last):
        return note.title
    first = next((block for block in split_blocks(note.text, note.kind) if block.is_heading), heading)
    is_sibling = normalize_phrase(_get_words(note, first)) == normalize_phrase(last) and 0 < _get_level(
        note, heading
    ) <= _get_level(note, first)
    return " > ".join(filter(None, (parents if is_sibling else note.title, words)))


def _get_words(note: Note, heading: TextBlock) -> str:
    words, _ = _lay_out(note.text, heading.start, heading.end, heading)
    return words.strip("#= ").replace("`", "")


def _get_level(note: Note, heading: TextBlock) -> int:
    """Return the number of ``#`` before a heading; 0 if it is marked in another way."""
    line = note.text[note.text.rfind("\n", 0, heading.start) + 1 : heading.start]
    return line.count("#")


def build_excerpt(note: Note, stretch: Stretch, decisive: Sequence[Offsets]) -> Excerpt:
    """Return a stretch as an excerpt; ``decisive`` are the offsets in the note's text of the words to highlight."""
    pieces: list[str] = []
    highlight: list[Offsets] = []
    length = 0
    for number, ((start, end), block) in enumerate(stretch.parts):
        piece, offsets = _lay_out(note.text, start, end, block)
        if number:
            joint = _join_to(stretch, number)
            pieces.append(joint)
            length += len(joint)
        for first, last in decisive:
            if start <= first and last <= end and first in offsets and last - 1 in offsets:
                highlight.append((length + offsets[first], length + offsets[last - 1] + 1))
        pieces.append(piece)
        length += len(piece)
    return Excerpt(
        "".join(pieces),
        stretch.format,
        tuple(highlight),
        " ".join(note.handles),
        _locate(note, stretch),
        stretch.title or note.title,
    )


def _join_to(stretch: Stretch, number: int) -> str:
    """Return what stands before a part: a blank line, but a line end within a table, which a blank line would end."""
    block, above = stretch.parts[number][1], stretch.parts[number - 1][1]
    return "\n" if block.format == "table" and block == above else "\n\n"


def _lay_out(text: str, start: int, end: int, block: TextBlock) -> tuple[str, dict[int, int]]:
    """Return the text of a part and where each of its characters went: prose in one line, other blocks dedented."""
    if block.format == "prose":
        joined: list[str] = []
        offsets: dict[int, int] = {}
        marks = {
            i for match in BOLD.finditer(text, start, end) for i in (*_pair(match.start()), *_pair(match.end() - 2))
        }
        for position in range(start, end):
            if position in marks:
                continue
            character = text[position]
            if character.isspace():
                if joined and joined[-1] != " ":
                    joined.append(" ")
            else:
                offsets[position] = len(joined)
                joined.append(character)
        return "".join(joined), offsets
    line_start = text.rfind("\n", 0, start) + 1
    begin = line_start if not text[line_start:start].strip() else start
    raw = text[begin:end]
    laid = textwrap.dedent(raw)
    offsets, position = {}, begin
    for raw_line, line in zip(raw.split("\n"), laid.split("\n"), strict=True):
        cut = len(raw_line) - len(line)
        base = len("\n".join(laid.split("\n")[: raw[: position - begin].count("\n")])) + (position > begin)
        for column in range(len(line)):
            offsets[position + cut + column] = base + column
        position += len(raw_line) + 1
    return laid, offsets


def _pair(position: int) -> tuple[int, int]:
    return position, position + 1


def _locate(note: Note, stretch: Stretch) -> str:
    if note.place is None:
        return ""
    return str(note.place.narrowed(note.text, stretch.start, stretch.end))


def render_excerpt(excerpt: Excerpt, note: Note, stretch: Stretch, number: int = 0) -> str:
    """Return an excerpt as Markdown: its heading path and location, then a quotation that ends with its citation.

    ``number``: the excerpt is this item of a list of items that the question asks for.
    """
    title, location = format_title(excerpt.title), to_one_line(excerpt.location)
    place = f"`{location}`" if location and "`" not in location else ""
    heading = (f"## {number}. " if number else "### ") + " · ".join(part for part in (title, place) if part)
    blocks: list[str] = []
    position = 0
    for number_of_part, ((start, end), block) in enumerate(stretch.parts):
        joint = _join_to(stretch, number_of_part) if number_of_part else ""
        position += len(joint)
        piece, _ = _lay_out(note.text, start, end, block)
        inside = [
            (a - position, b - position) for a, b in excerpt.highlight if position <= a and b <= position + len(piece)
        ]
        blocks += [joint, quote_block(piece, block.format, inside)]
        position += len(piece)
    body = "".join(blocks)
    cited = f"{body} {excerpt.source}" if stretch.parts[-1][1].format == "prose" else f"{body}\n\n{excerpt.source}"
    quoted = "\n".join(f"> {line}".rstrip() for line in cited.split("\n"))
    return f"{heading}\n\n{quoted}" if title or place or number else quoted
