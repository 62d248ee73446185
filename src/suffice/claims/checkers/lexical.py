"""A sentence repeated with one name exchanged: every name of the claim may stand in the source, only not in this place.

The two are laid side by side, content word by content word. Where everything around a place agrees and both have a name in
it, and not the same, the claim says of one what the source says of another.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise

from suffice.claims.checkers.base import CheckerThresholds, EvidenceSpan, load_thresholds
from suffice.claims.checkers.numbers import Quantity
from suffice.claims.checkers.reading import ContentToken, SentenceFeatures, extract_features, is_prefix_antonym
from suffice.text.entities import strip_parenthetical
from suffice.text.sentences import quotable_spans
from suffice.types import Passage

_MIN_ALIGNED_SHARE = 0.6  # The share of the claim's words that must stand in the sentence in the same order.


def find_swapped_name(claim: SentenceFeatures, said: SentenceFeatures) -> str:
    """What stands where in the source and what in the claim; empty when no name was exchanged."""
    if "by" in claim.words ^ said.words:  # One is in the passive voice: the names change places by right.
        return ""
    ours, theirs = claim.tokens, said.tokens
    keys, others = [mark.stem for mark in ours], [mark.stem for mark in theirs]
    least = _MIN_ALIGNED_SHARE * len(keys)
    if sum(map(set(others).__contains__, keys)) < least:  # Most sentences are sorted out by this.
        return ""
    steps = SequenceMatcher(None, keys, others, autojunk=False).get_opcodes()
    if sum(j - i for step, i, j, _, _ in steps if step == "equal") < least:
        return ""
    loose = {key for step, i, j, _, _ in steps if step != "equal" for key in keys[i:j]}
    their_loose = {key for step, _, _, k, end in steps if step != "equal" for key in others[k:end]}
    for step, i, j, k, end in steps:
        if step != "replace":
            continue
        here, there = _list_names(ours[i:j]), _list_names(theirs[k:end])
        moved = set(here) <= their_loose and loose & set(there)  # Both stand somewhere else where the two differ.
        if here and there and not set(here) & set(there) and not moved:
            return f"{' '.join(there)} there, {' '.join(here)} here"
    return ""


def _list_names(marks: tuple[ContentToken, ...]) -> list[str]:
    return [mark.stem for mark in marks if mark.is_name_or_number and not mark.stem.startswith("#")]


_MIN_OVERLAP = 0.3  # A stretch that shares less than this with the claim is not about it.
_MIN_COMMON_STEMS = (
    3  # Content words that a source must share with a claim to speak against it, unless it holds them all.
)
_REPEAT_SHARE = 0.7  # A claim that holds this share of a sentence repeats it.
_LIST_MARKER = re.compile(r"(?:[-*+•>]|#{1,6}|\d{1,9}[.)])\s+")
_DENIED_OR_SUPPOSED = re.compile(
    r"\b(?:not|never|no|n['’]t|den(?:y|ied|ies)|false|if|whether|unless|doubt\w*)\b[^.;:]{0,40}$", re.I
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim held against one stretch."""

    overlap: float
    missing: str = ""
    """What the claim has and the stretch lacks: a number or a name; empty when nothing."""
    conflict: str = ""
    """What the two say differently; empty when nothing."""


class LexicalChecker:
    name = "lexical"

    def __init__(self, limits: CheckerThresholds | None = None) -> None:
        self._limits = limits or load_thresholds()

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        return [self.check(claim, passage) for passage in passages]

    def check(self, claim: str, passage: Passage) -> EvidenceSpan | None:
        """The stretch of the passage that speaks to the claim most."""
        if said := find_verbatim(claim, passage):
            return said
        return pick_strongest([classify_by_overlap(*row, self._limits) for row in compare_sentences(claim, passage)])


def classify_by_overlap(start: int, end: int, comparison: Comparison, limits: CheckerThresholds) -> EvidenceSpan:
    near = comparison.overlap
    if comparison.conflict:
        stance = "contradicts" if near >= limits.contradicts else None
    else:
        stance = "supports" if not comparison.missing and near >= limits.supports else None
    why = comparison.conflict or comparison.missing
    return EvidenceSpan(start, end, stance, near, near, why)  # type: ignore[arg-type]


def pick_strongest(found: Sequence[EvidenceSpan]) -> EvidenceSpan | None:
    """The nearest; of equals the one that supports."""
    return max(found, key=lambda one: (one.overlap, one.stance == "supports"), default=None)


def find_verbatim(claim: str, passage: Passage) -> EvidenceSpan | None:
    """The claim word for word, unless it stands there only to be denied or supposed."""
    match = re.search(r"\s+".join(re.escape(word) for word in claim.split()), passage.text)
    if match is None or not claim.strip():
        return None
    before = passage.text[max(0, match.start() - 60) : match.start()]
    if _DENIED_OR_SUPPOSED.search(before):
        return None
    end = match.end() + (passage.text[match.end() : match.end() + 1] in (".", "!", "?", "。"))
    return EvidenceSpan(match.start(), end, "supports", 1.0, 1.0)


def compare_sentences(claim: str, passage: Passage) -> list[tuple[int, int, Comparison]]:
    """The claim against each sentence, and against two in a row where the second adds something."""
    wanted = extract_features(claim)
    if not wanted.stems and not wanted.numbers:
        return []
    around = extract_features(strip_parenthetical(passage.title)).stems
    found: list[tuple[int, int, Comparison]] = []
    spans = []
    for start, end in quotable_spans(passage.text, passage.kind):
        marker = _LIST_MARKER.match(passage.text, start, end)
        spans.append((marker.end() if marker else start, end))
    single = [
        stem_overlap(wanted, extract_features(_to_one_line(passage.text[start:end])).stems, around)
        for start, end in spans
    ]
    wrong: dict[int, str] = {}
    for i, (start, end) in enumerate(spans):
        if single[i] >= _MIN_OVERLAP:
            said = extract_features(_to_one_line(passage.text[start:end]))
            wrong[i] = find_swapped_name(wanted, said)
            row = compare_features(wanted, said, around)
            found.append((start, end, replace(row, missing=row.missing or wrong[i])))
    for i, ((start, middle), (after, end)) in enumerate(pairwise(spans)):
        if min(single[i], single[i + 1]) < 0.15 or max(single[i], single[i + 1]) < _MIN_OVERLAP or end - start > 900:
            continue
        first, second = (
            extract_features(_to_one_line(passage.text[start:middle])),
            extract_features(_to_one_line(passage.text[after:end])),
        )
        if stem_overlap(wanted, first.stems | second.stems, around) > max(single[i], single[i + 1]) + 1e-9:
            # A name of the first sentence may stand for "she" in the second; a name of the second is somebody else.
            named = first.names if second.has_anaphora and single[i + 1] >= single[i] else frozenset[str]()
            core = second if single[i + 1] >= single[i] else first
            row = compare_features(wanted, extract_features(_to_one_line(passage.text[start:end])), around)
            lacking = _find_missing(wanted, core, core.stems | named | (around if core.has_anaphora else frozenset()))
            lacking = lacking if "name" in lacking else wrong.get(i) or wrong.get(i + 1, "")
            found.append((start, end, replace(row, missing=row.missing or lacking)))
    return found


def stem_overlap(claim: SentenceFeatures, stems: frozenset[str], title_stems: frozenset[str] = frozenset()) -> float:
    """Share of the claim's content stems that are there; what only the title says counts neither for nor against."""
    if not claim.stems:
        return 1.0 if claim.numbers else 0.0
    own = claim.stems & stems
    return len(own) / len(claim.stems - (title_stems - stems)) if own else 0.0


def compare_features(
    claim: SentenceFeatures, said: SentenceFeatures, title_stems: frozenset[str] = frozenset()
) -> Comparison:
    # A sentence that points back may mean what the title names; not where the claim repeats it with one name exchanged.
    exchanged = bool(said.names - claim.stems) and len(said.stems & claim.stems) >= _REPEAT_SHARE * len(said.stems)
    held = said.stems | (title_stems if (said.has_anaphora or not said.names) and not exchanged else frozenset())
    conflict = (
        _find_number_conflict(claim, said) or _find_negation_conflict(claim, said) or _find_swapped_roles(claim, said)
    )
    common = claim.stems & said.stems
    if (
        conflict and len(common) < _MIN_COMMON_STEMS and common != claim.stems
    ):  # Too little in common to speak of the same thing.
        return Comparison(stem_overlap(claim, said.stems, title_stems), conflict)
    if opposed := _find_opposite(claim, said):  # The word that says the opposite is about the same thing.
        return Comparison(
            stem_overlap(claim, said.stems | claim.antonym_stems, title_stems),
            _find_missing(claim, said, held),
            conflict or opposed,
        )
    return Comparison(stem_overlap(claim, said.stems, title_stems), _find_missing(claim, said, held), conflict)


def _find_missing(claim: SentenceFeatures, said: SentenceFeatures, held: frozenset[str]) -> str:
    for number in claim.numbers:
        if not _has_number(number, said):
            return f"the source does not have the number {number}"
    if any(all(number.value != month for number in said.numbers) for month in claim.months - said.months):
        return "the source does not have this month"
    names = sorted(name for name in claim.names if name not in held)
    if names:
        return f"the source does not name {', '.join(names)}"
    if claim.possible_name and not set(claim.possible_name.split()) <= held:
        return f"the source does not name {claim.possible_name}"
    return ""


def lacks_a_number(claim: str, text: str) -> bool:
    """The claim has a number that the text has nowhere."""
    said = extract_features(_to_one_line(text))
    return any(not _has_number(number, said) for number in extract_features(claim).numbers)


def lacks_a_name(claim: str, text: str) -> bool:
    """The claim has a name that the text has nowhere."""
    return not extract_features(claim).names <= extract_features(_to_one_line(text)).stems


def _has_number(number: Quantity, said: SentenceFeatures) -> bool:
    if number.is_spelled_out and number.value <= 1:  # "one" is more often a pronoun than a figure.
        return True
    return any(number.matches(other) for other in said.numbers) or f"{number.value:g}" in said.words


def _find_number_conflict(claim: SentenceFeatures, said: SentenceFeatures) -> str:
    """A number of the claim that the source lacks, where the source has another one of the same kind."""
    for number in claim.numbers:
        if _has_number(number, said):
            continue
        rivals = [
            other
            for other in said.numbers
            if _is_same_kind(number, other) and not any(own.matches(other) for own in claim.numbers)
        ]
        if rivals:
            return f"{rivals[0]} there, {number} here"
    return ""


def _is_same_kind(one: Quantity, other: Quantity) -> bool:
    if one.unit or other.unit:
        return one.unit == other.unit
    return _is_year(one) == _is_year(other)


def _is_year(number: Quantity) -> bool:
    return 1000 <= number.value <= 2100 and number.value == int(number.value)


def _find_negation_conflict(claim: SentenceFeatures, said: SentenceFeatures) -> str:
    """One negates what the other states."""
    here = claim.negated_stems & (said.stems - said.negation_scope)
    there = said.negated_stems & (claim.stems - claim.negation_scope)
    if here or there:
        return f"one negates {sorted(here or there)[0]!r}"
    ours, theirs = ({mark.stem for mark in one.tokens} for one in (claim, said))
    if claim.negation_scope and not said.negation_scope and claim.negation_scope & theirs:
        return "the source does not negate it"
    if said.negation_scope and not claim.negation_scope and len(said.negation_scope & ours) >= 2:
        return "the source negates it"
    return ""


def _find_opposite(claim: SentenceFeatures, said: SentenceFeatures) -> str:
    """The one says rose where the other says fell."""
    for pair, side in claim.antonym_sides:
        if (
            (pair, -side) in said.antonym_sides
            and (pair, side) not in said.antonym_sides
            and (pair, -side) not in claim.antonym_sides
        ):
            return "they say the opposite"
    for word in claim.stems - said.stems:
        for other in said.stems - claim.stems:
            if is_prefix_antonym(word, other):
                return f"{other!r} there, {word!r} here"
    return ""


def _find_swapped_roles(claim: SentenceFeatures, said: SentenceFeatures) -> str:
    """Two names or numbers that have changed places around the same word. One that is said twice has no place of its own."""
    ours, theirs = (Counter(mark.stem for mark in one.tokens) for one in (claim, said))
    places = {mark.stem: position for position, mark in enumerate(said.tokens) if theirs[mark.stem] == 1}
    anchors = [
        (i, mark)
        for i, mark in enumerate(claim.tokens)
        if mark.is_name_or_number and ours[mark.stem] == 1 and mark.stem in places
    ]
    if "by" in claim.words ^ said.words:
        return ""
    for (i, one), (j, other) in pairwise(anchors):
        if places[one.stem] <= places[other.stem]:
            continue
        between = {mark.stem for mark in claim.tokens[i + 1 : j] if not mark.is_name_or_number}
        there = {
            mark.stem for mark in said.tokens[places[other.stem] + 1 : places[one.stem]] if not mark.is_name_or_number
        }
        if between & there:
            return f"{one.stem.lstrip('#')} and {other.stem.lstrip('#')} have changed places"
    return ""


def _to_one_line(text: str) -> str:
    return " ".join(text.split())
