"""Check claims by words and numbers: share of content words, missing names and numbers, negations, opposites, swapped names.

A claim is compared with each sentence of a passage, and with two sentences in a row where the second adds something.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise

from suffice.claims.checkers.base import CheckerThresholds, EvidenceSpan, Stance, load_thresholds
from suffice.claims.checkers.features import (
    ContentToken,
    SentenceFeatures,
    extract_features,
    is_prefix_antonym,
    stem_word,
)
from suffice.claims.checkers.names import has_name
from suffice.claims.checkers.quantities import DAY_OR_MONTH, ORDINAL, Quantity, align_figures
from suffice.text.entities import strip_parenthetical
from suffice.text.markdown import skip_block_marker
from suffice.text.sentences import quotable_spans
from suffice.types import Passage

_MIN_OVERLAP = 0.3  # A sentence that shares less than this with the claim is not about it.
_MIN_PART_OVERLAP = 0.15  # Each of two sentences in a row must share this much.
_MAX_PAIR_CHARS = 900  # Two sentences in a row that are longer are not joined.
# Content words that a source must share with a claim to contradict it, unless it has all words of the claim.
_MIN_COMMON_STEMS = 3
_REPEAT_SHARE = 0.7  # A claim that has this share of a sentence's words repeats it.
_MIN_ALIGNED_SHARE = 0.6  # The share of the claim's words that must be in the sentence in the same order.
_DENIED_OR_SUPPOSED = re.compile(
    r"\b(?:not|never|no|n['’]t|den(?:y|ied|ies)|false|if|whether|unless|doubt\w*)\b[^.;:]{0,40}$", re.I
)

_DIFFERENCE = "the source has "
_NAME_MISSING = "the source does not name "


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a sentence of a source compares with a claim."""

    overlap: float
    """Share of the claim's content words that the sentence has."""
    missing: str = ""
    """What the claim has and the sentence lacks, such as a number or a name; empty when nothing."""
    conflict: str = ""
    """What the two say differently; empty when nothing."""


class LexicalChecker:
    """Compares words, names and numbers of a claim with those of each sentence."""

    name = "lexical"

    def __init__(self, thresholds: CheckerThresholds | None = None) -> None:
        self._thresholds = thresholds or load_thresholds()

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        return [self.check(claim, passage) for passage in passages]

    def check(self, claim: str, passage: Passage) -> EvidenceSpan | None:
        """Return the span of the passage that is most about the claim."""
        if verbatim := find_verbatim(claim, passage):
            return verbatim
        aligned = align_figures(claim, passage.text)
        if aligned != claim and (verbatim := find_verbatim(aligned, passage)):  # "1,200,000" for "1.2 million".
            return verbatim
        rows = compare_sentences(claim, passage)
        return pick_strongest([classify_by_overlap(*row, self._thresholds) for row in rows])


def classify_by_overlap(start: int, end: int, comparison: Comparison, thresholds: CheckerThresholds) -> EvidenceSpan:
    """Return what a span says about a claim, given their comparison."""
    overlap = comparison.overlap
    stance: Stance | None = None
    if comparison.conflict:
        stance = "contradicts" if overlap >= thresholds.contradicts else None
    elif not comparison.missing and overlap >= thresholds.supports:
        stance = "supports"
    return EvidenceSpan(start, end, stance, overlap, overlap, comparison.conflict or comparison.missing)


def pick_strongest(spans: Sequence[EvidenceSpan]) -> EvidenceSpan | None:
    """Return the span with the highest overlap; of equals, one that supports."""
    return max(spans, key=lambda span: (span.overlap, span.stance == "supports"), default=None)


def find_verbatim(claim: str, passage: Passage) -> EvidenceSpan | None:
    """Return the span that has the claim word for word, unless the words before deny or suppose it."""
    # The source may have marks of emphasis or code around a word, which the claim was cleaned of.
    words = r"[*_`]*\s+[*_`]*".join(re.escape(word) for word in claim.split())
    match = re.search(rf"(?<![\w.,−–-](?=\d)){words}(?!(?<=\d)(?:\d|[.,]\d|\s?[%°×]))", passage.text)
    if match is None or not claim.strip():
        return None
    before = passage.text[max(0, match.start() - 60) : match.start()]
    if _DENIED_OR_SUPPOSED.search(before):
        return None
    end = match.end() + (passage.text[match.end() : match.end() + 1] in (".", "!", "?", "。"))
    return EvidenceSpan(match.start(), end, "supports", 1.0, 1.0, is_verbatim=True)


def compare_sentences(claim: str, passage: Passage) -> list[tuple[int, int, Comparison]]:
    """Compare the claim with each sentence of a passage, and with two in a row where the second adds something."""
    wanted = extract_features(claim)
    if not wanted.stems and not wanted.numbers:
        return []
    title_stems = extract_features(strip_parenthetical(passage.title)).stems
    spans = [
        (skip_block_marker(passage.text, start, end), end) for start, end in quotable_spans(passage.text, passage.kind)
    ]

    def read(start: int, end: int) -> SentenceFeatures:
        return extract_features(" ".join(passage.text[start:end].split()))

    overlaps = [stem_overlap(wanted, read(*span).stems, title_stems) for span in spans]
    found: list[tuple[int, int, Comparison]] = []
    swapped: dict[int, str] = {}
    for i, span in enumerate(spans):
        if overlaps[i] >= _MIN_OVERLAP:
            sentence = read(*span)
            swapped[i] = find_swapped_name(wanted, sentence)
            row = compare_features(wanted, sentence, title_stems)
            found.append((*span, replace(row, missing=row.missing or swapped[i])))
    for i, ((start, first_end), (second_start, end)) in enumerate(pairwise(spans)):
        weaker, stronger = sorted(overlaps[i : i + 2])
        if weaker < _MIN_PART_OVERLAP or stronger < _MIN_OVERLAP or end - start > _MAX_PAIR_CHARS:
            continue
        first, second = read(start, first_end), read(second_start, end)
        if stem_overlap(wanted, first.stems | second.stems, title_stems) > stronger + 1e-9:
            # "She" in the second sentence may mean a name of the first. A name of the second is another person.
            is_second_core = overlaps[i + 1] >= overlaps[i]
            core = second if is_second_core else first
            known = core.stems | (first.names if second.has_anaphora and is_second_core else frozenset())
            known |= title_stems if core.has_anaphora else frozenset()
            row = compare_features(wanted, read(start, end), title_stems)
            missing = "" if _find_missing_number(wanted, core) else _find_missing_name(wanted, known)
            missing = missing or swapped.get(i) or swapped.get(i + 1, "")
            found.append((start, end, replace(row, missing=row.missing or missing)))
    return found


def stem_overlap(claim: SentenceFeatures, stems: frozenset[str], title_stems: frozenset[str] = frozenset()) -> float:
    """Return the share of the claim's stems that are in ``stems``; stems that only the title has are not counted."""
    if not claim.stems:
        return 1.0 if claim.numbers else 0.0
    shared = claim.stems & stems
    return len(shared) / len(claim.stems - (title_stems - stems)) if shared else 0.0


def compare_features(
    claim: SentenceFeatures, source: SentenceFeatures, title_stems: frozenset[str] = frozenset()
) -> Comparison:
    """Compare a claim with a sentence of a source."""
    # A pronoun may mean what the title names, unless the claim repeats the sentence with another name in it.
    is_repeated = len(source.stems & claim.stems) >= _REPEAT_SHARE * len(source.stems)
    has_other_name = bool(source.names - claim.stems) and is_repeated
    uses_title = (source.has_anaphora or not source.names) and not has_other_name
    known = source.stems | source.ordinal_words | (title_stems if uses_title else frozenset())
    conflict = (
        _find_number_conflict(claim, source)
        or _find_ordinal_conflict(claim, source)
        or _find_negation_conflict(claim, source)
        or _find_swapped_roles(claim, source)
    )
    common = claim.stems & source.stems
    if conflict and len(common) < _MIN_COMMON_STEMS and common != claim.stems:
        # Too little in common to be about the same thing.
        return Comparison(stem_overlap(claim, source.stems, title_stems), missing=conflict)
    missing = _find_missing_number(claim, source) or _find_missing_name(claim, known)
    if opposite := _find_opposite(claim, source):  # The word that says the opposite is about the same thing.
        reason, stems = opposite
        return Comparison(stem_overlap(claim, source.stems | stems, title_stems), missing, conflict or reason)
    return Comparison(stem_overlap(claim, source.stems, title_stems), missing, conflict)


def lacks_a_number(claim: str, text: str) -> bool:
    """Whether the claim has a number that the text does not have."""
    source = extract_features(" ".join(text.split()))
    return any(not _has_number(number, source) for number in extract_features(claim).numbers)


def find_swapped_name(claim: SentenceFeatures, source: SentenceFeatures) -> str:
    """Describe a name that took the place of another one in a repeated sentence; empty when there is none.

    The two are aligned content word by content word. Where everything around a place agrees and both have a name in it, but
    not the same, the claim says of one what the source says of another. Both names may occur in the source.
    """
    if "by" in claim.words ^ source.words:  # One is in the passive voice, where names change places.
        return ""
    ours, theirs = [token.stem for token in claim.tokens], [token.stem for token in source.tokens]
    min_aligned = _MIN_ALIGNED_SHARE * len(ours)
    if sum(map(set(theirs).__contains__, ours)) < min_aligned:  # A quick test that most sentences fail.
        return ""
    steps = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    if sum(j - i for step, i, j, _, _ in steps if step == "equal") < min_aligned:
        return ""
    our_loose = {stem for step, i, j, _, _ in steps if step != "equal" for stem in ours[i:j]}
    their_loose = {stem for step, _, _, k, end in steps if step != "equal" for stem in theirs[k:end]}
    for step, i, j, k, end in steps:
        if step != "replace":
            continue
        our_names, their_names = _list_names(claim.tokens[i:j]), _list_names(source.tokens[k:end])
        has_moved = set(our_names) <= their_loose and our_loose & set(their_names)
        if our_names and their_names and not set(our_names) & set(their_names) and not has_moved:
            return _describe_difference(source.spell(their_names), claim.spell(our_names))
    return ""


def _list_names(tokens: tuple[ContentToken, ...]) -> list[str]:
    return [token.stem for token in tokens if token.is_name_or_number and not token.stem.startswith("#")]


def _find_missing_number(claim: SentenceFeatures, source: SentenceFeatures) -> str:
    for number in claim.numbers:
        if not _has_number(number, source):
            return f"the source does not have the number {number}"
    if any(not _may_have_month(month, source) for month in claim.months - source.months):
        return "the source does not have this month"
    return ""


def _may_have_month(month: int, source: SentenceFeatures) -> bool:
    """Whether a source that names no month may mean this one, as in "3/4/2021"."""
    numbers = (each for number in source.numbers for each in (number, *number.parts))
    return not source.months and any(number.value == month for number in numbers)


def _find_missing_name(claim: SentenceFeatures, known: frozenset[str]) -> str:
    names = sorted(name for name in claim.names if not has_name(name, known))
    if names:
        return f"{_NAME_MISSING}{claim.spell(names)}"
    if not all(has_name(name, known) for name in claim.possible_name.split()):
        return f"{_NAME_MISSING}{claim.spell(claim.possible_name.split())}"
    return ""


def _has_number(number: Quantity, source: SentenceFeatures) -> bool:
    if number.is_spelled_out and number.value <= 1:  # "One" is more often a pronoun, "one year" often no figure.
        return number.is_pronoun or not any(map(number.is_same_kind, source.numbers)) or _states(source, number)
    if number.unit == ORDINAL and any(number.value == value for value, _ in source.ordinals):  # "1st" is "first".
        return True
    if number.unit == DAY_OR_MONTH and number.value in source.months:
        return True
    if number.parts and all(_has_number(part, source) for part in number.parts):
        return True
    return _states(source, number) or f"{number.value:g}" in source.words


def _states(source: SentenceFeatures, number: Quantity) -> bool:
    return any(number.is_stated_by(each) for other in source.numbers for each in (other, *other.parts))


def names_difference(reason: str) -> bool:
    """Whether a reason says that the source has another name, figure or word in the place of the claim's."""
    return reason.startswith(_DIFFERENCE)


def is_name_missing(reason: str) -> bool:
    """Whether a reason says that a sentence lacks a name of the claim."""
    return reason.startswith(_NAME_MISSING)


def is_figure_conflict(reason: str) -> bool:
    """Whether a reason says that the source has another figure."""
    return names_difference(reason) and reason.removeprefix(_DIFFERENCE).lstrip("-")[:1].isdigit()


def _find_number_conflict(claim: SentenceFeatures, source: SentenceFeatures) -> str:
    """Describe a number of the claim where the source has another one of the same kind instead."""
    ours, theirs = ([part for number in one.numbers for part in number.parts or (number,)] for one in (claim, source))
    for number in ours:
        if _has_number(number, source):
            continue
        for other in theirs:
            if number.is_same_kind(other) and not any(own.matches(other) for own in ours):
                return _describe_difference(str(other), str(number))
    return ""


def _find_ordinal_conflict(claim: SentenceFeatures, source: SentenceFeatures) -> str:
    """Describe a place in a row where the source has another one of the same thing: "second largest", "third largest"."""
    for place, counted in claim.ordinals - source.ordinals:
        others = {value for value, stem in source.ordinals - claim.ordinals if stem == counted}
        if others:
            return _describe_difference(f"{min(others):g}", f"{place:g}")
    return ""


def _find_negation_conflict(claim: SentenceFeatures, source: SentenceFeatures) -> str:
    """Describe what one of the two negates and the other states."""
    only_claim = claim.negated_stems & (source.stems - source.negation_scope)
    only_source = source.negated_stems & (claim.stems - claim.negation_scope)
    if only_claim or only_source:
        who, one, negated = ("claim", claim, only_claim) if only_claim else ("source", source, only_source)
        return f"only the {who} negates {one.spell([min(negated)])!r}"
    ours, theirs = ({token.stem for token in one.tokens} for one in (claim, source))
    if claim.negation_scope and not source.negation_scope and claim.negation_scope & theirs:
        return "the source does not negate it"
    if source.negation_scope and not claim.negation_scope and len(source.negation_scope & ours) >= 2:
        return "the source negates it"
    return ""


def _find_opposite(claim: SentenceFeatures, source: SentenceFeatures) -> tuple[str, frozenset[str]] | None:
    """Describe a word of the claim whose opposite the source has, such as "rose" and "fell", with its stems."""
    for pair, side in claim.antonym_sides:
        if (
            (pair, -side) in source.antonym_sides
            and (pair, side) not in source.antonym_sides
            and (pair, -side) not in claim.antonym_sides
        ):
            return "the source says the opposite", claim.antonym_stems
    for word in claim.words - source.words:
        for other in source.words - claim.words:
            if is_prefix_antonym(word, other):
                return _describe_difference(repr(other), repr(word)), frozenset(stem_word(word))
    return None


def _find_swapped_roles(claim: SentenceFeatures, source: SentenceFeatures) -> str:
    """Describe two names or numbers that changed places around the same word. Those that occur twice are not compared."""
    if "by" in claim.words ^ source.words:
        return ""
    ours, theirs = (Counter(token.stem for token in one.tokens) for one in (claim, source))
    places = {token.stem: position for position, token in enumerate(source.tokens) if theirs[token.stem] == 1}
    anchors = [
        (i, token)
        for i, token in enumerate(claim.tokens)
        if token.is_name_or_number and ours[token.stem] == 1 and token.stem in places
    ]
    for (i, one), (j, other) in pairwise(anchors):
        if places[one.stem] <= places[other.stem]:
            continue
        our_words = _list_words(claim.tokens[i + 1 : j])
        if our_words & _list_words(source.tokens[places[other.stem] + 1 : places[one.stem]]):
            return f"{one.word} and {other.word} are swapped"
    return ""


def _list_words(tokens: tuple[ContentToken, ...]) -> set[str]:
    return {token.stem for token in tokens if not token.is_name_or_number}


def _describe_difference(source: str, claim: str) -> str:
    return f"{_DIFFERENCE}{source}, the claim {claim}"
