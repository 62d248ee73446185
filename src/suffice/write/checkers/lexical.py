"""Words and figures: does a stretch of a source say what the claim says?

    near = share of the claim's content stems that the stretch holds (rarer words are not weighted: there is no corpus here)

A stretch supports a claim when it is near enough and nothing in the claim is missing or turned round: every number with its
unit, every name, negations, directions (rose, fell), and who did what to whom. It contradicts when it is near enough and a
figure, a negation, a direction or the roles differ. The two thresholds are fitted (``thresholds.json``).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from suffice.text.entities import bare
from suffice.text.sentences import units
from suffice.types import Passage
from suffice.write.checkers.base import Finding
from suffice.write.checkers.exchanged import exchanged
from suffice.write.checkers.numbers import Number
from suffice.write.checkers.polarity import opposite_by_prefix
from suffice.write.checkers.reading import Reading, read
from suffice.write.checkers.thresholds import Thresholds, thresholds

_LEAST = 0.3  # A stretch that shares less than this with the claim is not about it.
_MATTER = 3  # Content words that a source must share with a claim to speak against it, unless it holds them all.
_REPEATS = 0.7  # A claim that holds this share of a sentence repeats it.
_MARKER = re.compile(r"(?:[-*+•>]|#{1,6}|\d{1,9}[.)])\s+")
_UNMEANT = re.compile(
    r"\b(?:not|never|no|n['’]t|den(?:y|ied|ies)|false|if|whether|unless|doubt\w*)\b[^.;:]{0,40}$", re.I
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim held against one stretch."""

    near: float
    missing: str = ""
    """What the claim has and the stretch lacks: a number or a name; empty when nothing."""
    conflict: str = ""
    """What the two say differently; empty when nothing."""


class Lexical:
    name = "lexical"

    def __init__(self, limits: Thresholds | None = None) -> None:
        self._limits = limits or thresholds()

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[Finding | None]:
        return [self.check(claim, passage) for passage in passages]

    def check(self, claim: str, passage: Passage) -> Finding | None:
        """The stretch of the passage that speaks to the claim most."""
        if said := verbatim(claim, passage):
            return said
        return strongest([judged(*row, self._limits) for row in compared(claim, passage)])


def judged(start: int, end: int, comparison: Comparison, limits: Thresholds) -> Finding:
    near = comparison.near
    if comparison.conflict:
        stance = "contradicts" if near >= limits.contradicts else None
    else:
        stance = "supports" if not comparison.missing and near >= limits.supports else None
    why = comparison.conflict or comparison.missing
    return Finding(start, end, stance, near, near, why)  # type: ignore[arg-type]


def strongest(found: Sequence[Finding]) -> Finding | None:
    """The nearest; of equals the one that supports."""
    return max(found, key=lambda one: (one.near, one.stance == "supports"), default=None)


def verbatim(claim: str, passage: Passage) -> Finding | None:
    """The claim word for word, unless it stands there only to be denied or supposed."""
    match = re.search(r"\s+".join(re.escape(word) for word in claim.split()), passage.text)
    if match is None or not claim.strip():
        return None
    before = passage.text[max(0, match.start() - 60) : match.start()]
    if _UNMEANT.search(before):
        return None
    end = match.end() + (passage.text[match.end() : match.end() + 1] in (".", "!", "?", "。"))
    return Finding(match.start(), end, "supports", 1.0, 1.0)


def compared(claim: str, passage: Passage) -> list[tuple[int, int, Comparison]]:
    """The claim against each sentence, and against two in a row where the second adds something."""
    wanted = read(claim)
    if not wanted.stems and not wanted.numbers:
        return []
    around = read(bare(passage.title)).stems
    found: list[tuple[int, int, Comparison]] = []
    spans = []
    for start, end in units(passage.text, passage.kind):
        marker = _MARKER.match(passage.text, start, end)
        spans.append((marker.end() if marker else start, end))
    single = [near(wanted, read(_one_line(passage.text[start:end])).stems, around) for start, end in spans]
    wrong: dict[int, str] = {}
    for i, (start, end) in enumerate(spans):
        if single[i] >= _LEAST:
            said = read(_one_line(passage.text[start:end]))
            wrong[i] = exchanged(wanted, said)
            row = compare(wanted, said, around)
            found.append((start, end, replace(row, missing=row.missing or wrong[i])))
    for i, ((start, middle), (after, end)) in enumerate(pairwise(spans)):
        if min(single[i], single[i + 1]) < 0.15 or max(single[i], single[i + 1]) < _LEAST or end - start > 900:
            continue
        first, second = read(_one_line(passage.text[start:middle])), read(_one_line(passage.text[after:end]))
        if near(wanted, first.stems | second.stems, around) > max(single[i], single[i + 1]) + 1e-9:
            # A name of the first sentence may stand for "she" in the second; a name of the second is somebody else.
            named = first.names if second.refers and single[i + 1] >= single[i] else frozenset[str]()
            core = second if single[i + 1] >= single[i] else first
            row = compare(wanted, read(_one_line(passage.text[start:end])), around)
            lacking = _missing(wanted, core, core.stems | named | (around if core.refers else frozenset()))
            lacking = lacking if "name" in lacking else wrong.get(i) or wrong.get(i + 1, "")
            found.append((start, end, replace(row, missing=row.missing or lacking)))
    return found


def near(claim: Reading, stems: frozenset[str], around: frozenset[str] = frozenset()) -> float:
    """Share of the claim's content stems that are there; what only the title says counts neither for nor against."""
    if not claim.stems:
        return 1.0 if claim.numbers else 0.0
    own = claim.stems & stems
    return len(own) / len(claim.stems - (around - stems)) if own else 0.0


def compare(claim: Reading, said: Reading, around: frozenset[str] = frozenset()) -> Comparison:
    # A sentence that points back may mean what the title names; not where the claim repeats it with one name exchanged.
    exchanged = bool(said.names - claim.stems) and len(said.stems & claim.stems) >= _REPEATS * len(said.stems)
    held = said.stems | (around if (said.refers or not said.names) and not exchanged else frozenset())
    conflict = _figures(claim, said) or _turned(claim, said) or _swapped(claim, said)
    common = claim.stems & said.stems
    if conflict and len(common) < _MATTER and common != claim.stems:  # Too little in common to speak of the same thing.
        return Comparison(near(claim, said.stems, around), conflict)
    if opposed := _opposed(claim, said):  # The word that says the opposite is about the same thing.
        return Comparison(
            near(claim, said.stems | claim.turning, around), _missing(claim, said, held), conflict or opposed
        )
    return Comparison(near(claim, said.stems, around), _missing(claim, said, held), conflict)


def _missing(claim: Reading, said: Reading, held: frozenset[str]) -> str:
    for number in claim.numbers:
        if not _has(number, said):
            return f"the source does not have the number {number}"
    if any(all(number.value != month for number in said.numbers) for month in claim.months - said.months):
        return "the source does not have this month"
    names = sorted(name for name in claim.names if name not in held)
    if names:
        return f"the source does not name {', '.join(names)}"
    if claim.opening and not set(claim.opening.split()) <= held:
        return f"the source does not name {claim.opening}"
    return ""


def lacks_a_number(claim: str, text: str) -> bool:
    """The claim has a number that the text has nowhere."""
    said = read(_one_line(text))
    return any(not _has(number, said) for number in read(claim).numbers)


def lacks_a_name(claim: str, text: str) -> bool:
    """The claim has a name that the text has nowhere."""
    return not read(claim).names <= read(_one_line(text)).stems


def _has(number: Number, said: Reading) -> bool:
    if number.spelled and number.value <= 1:  # "one" is more often a pronoun than a figure.
        return True
    return any(number.agrees(other) for other in said.numbers) or f"{number.value:g}" in said.words


def _figures(claim: Reading, said: Reading) -> str:
    """A number of the claim that the source lacks, where the source has another one of the same kind."""
    for number in claim.numbers:
        if _has(number, said):
            continue
        rivals = [
            other
            for other in said.numbers
            if _alike(number, other) and not any(own.agrees(other) for own in claim.numbers)
        ]
        if rivals:
            return f"{rivals[0]} there, {number} here"
    return ""


def _alike(one: Number, other: Number) -> bool:
    if one.unit or other.unit:
        return one.unit == other.unit
    return _year(one) == _year(other)


def _year(number: Number) -> bool:
    return 1000 <= number.value <= 2100 and number.value == int(number.value)


def _turned(claim: Reading, said: Reading) -> str:
    """One negates what the other states."""
    here = claim.negated & (said.stems - said.reached)
    there = said.negated & (claim.stems - claim.reached)
    if here or there:
        return f"one negates {sorted(here or there)[0]!r}"
    ours, theirs = ({mark.key for mark in one.marks} for one in (claim, said))
    if claim.reached and not said.reached and claim.reached & theirs:
        return "the source does not negate it"
    if said.reached and not claim.reached and len(said.reached & ours) >= 2:
        return "the source negates it"
    return ""


def _opposed(claim: Reading, said: Reading) -> str:
    """The one says rose where the other says fell."""
    for pair, side in claim.senses:
        if (pair, -side) in said.senses and (pair, side) not in said.senses and (pair, -side) not in claim.senses:
            return "they say the opposite"
    for word in claim.stems - said.stems:
        for other in said.stems - claim.stems:
            if opposite_by_prefix(word, other):
                return f"{other!r} there, {word!r} here"
    return ""


def _swapped(claim: Reading, said: Reading) -> str:
    """Two names or numbers that have changed places around the same word. One that is said twice has no place of its own."""
    ours, theirs = (Counter(mark.key for mark in one.marks) for one in (claim, said))
    places = {mark.key: position for position, mark in enumerate(said.marks) if theirs[mark.key] == 1}
    anchors = [
        (i, mark) for i, mark in enumerate(claim.marks) if mark.anchor and ours[mark.key] == 1 and mark.key in places
    ]
    if "by" in claim.words ^ said.words:
        return ""
    for (i, one), (j, other) in pairwise(anchors):
        if places[one.key] <= places[other.key]:
            continue
        between = {mark.key for mark in claim.marks[i + 1 : j] if not mark.anchor}
        there = {mark.key for mark in said.marks[places[other.key] + 1 : places[one.key]] if not mark.anchor}
        if between & there:
            return f"{one.key.lstrip('#')} and {other.key.lstrip('#')} have changed places"
    return ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
