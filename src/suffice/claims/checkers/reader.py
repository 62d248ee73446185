"""Check claims by meaning with the reader, the small model that comes with the package; rules for figures and names veto it.

The reader is good at other words for the same thing and poor at telling 1887 from 1889, or at one changed word in a copied
sentence. So rules decide first: a claim that a passage has word for word is supported, a claim with another figure is
contradicted, and a passage that lacks a number of the claim, or has another name in the place of its name, does not support it.
The reader decides about the rest. Where words alone would support a claim, it need not be sure. It must be surer where the
passage lacks a name of the claim, and very sure where the claim repeats a sentence with a difference.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from suffice.claims.checkers.base import CheckerThresholds, EvidenceSpan, Stance, load_thresholds
from suffice.claims.checkers.features import extract_features
from suffice.claims.checkers.lexical import (
    LexicalChecker,
    is_figure_conflict,
    is_name_missing,
    lacks_a_number,
    names_difference,
)
from suffice.claims.checkers.names import find_missing_names
from suffice.claims.checkers.quantities import align_figures
from suffice.errors import ModelError
from suffice.models.reader import ReaderModel, get_reader
from suffice.text.entities import content_stems
from suffice.text.sentences import quotable_spans, split_sentences
from suffice.types import Passage

_REPEATED_OVERLAP = 0.85  # A claim that shares this much with a sentence repeats it.
_MAX_SENTENCES = 3  # Sentences that are read one by one to find the deciding one: those that share most words.


class Veto(NamedTuple):
    """What rules have against a claim."""

    reason: str
    kind: Literal["final", "difference", "name"]
    """Whether the passage cannot support the claim, repeats it with a difference, or lacks a name of it."""


class ReaderChecker:
    """Checks claims by rules first and asks the reader what they leave open. Answers are cached."""

    name = "lexical+reader"

    def __init__(self, reader: ReaderModel | None = None, thresholds: CheckerThresholds | None = None) -> None:
        self._reader = reader or get_reader()
        self._thresholds = thresholds or load_thresholds()
        self._lexical = LexicalChecker(self._thresholds)
        self._cache: dict[tuple[str, str], EvidenceSpan | None] = {}  # A claim is checked again after each change.
        self.pairs_checked = 0
        self.pairs_read = 0
        """How many pairs of claim and passage were checked, and how many of them the reader was asked about."""

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        return await asyncio.to_thread(lambda: [self.check(claim, passage) for passage in passages])

    def check(self, claim: str, passage: Passage) -> EvidenceSpan | None:
        """Return the span of the passage that decides about the claim, or the nearest one where none does."""
        key = claim, f"{passage.title}\n{passage.text}"
        if key not in self._cache:
            self._cache[key] = self._check(claim, passage)
        return self._cache[key]

    def _check(self, claim: str, passage: Passage) -> EvidenceSpan | None:
        self.pairs_checked += 1
        found = self._lexical.check(claim, passage)
        if found is not None and is_settled(claim, passage, found):
            return replace(found, checker=LexicalChecker.name)
        sentences = _rank_sentences(claim, passage)
        if not sentences:  # Nothing in common.
            return found
        self.pairs_read += 1
        text = to_text(passage)
        supported, contradicted, _ = map(float, self._reader.judge([(align_figures(claim, text), text)])[0])
        veto = find_veto(claim, passage, found)
        limits = self._thresholds
        by_words = found.stance if found is not None else None
        needed = limits.reader_confirms if by_words == "supports" else limits.reader_supports
        if veto is not None:
            needed = {
                "final": math.inf,
                "difference": limits.reader_despite_difference,
                "name": limits.reader_despite_name,
            }[veto.kind]
        stance: Stance | None = None
        if supported >= needed:
            stance = "supports"
        elif contradicted >= (limits.reader_confirms if by_words == "contradicts" else limits.reader_contradicts):
            stance = "contradicts"
        reason = veto.reason if veto is not None else found.reason if found is not None else ""
        if stance is None:
            start, end, overlap = sentences[0]
            nearest = found or EvidenceSpan(start, end, None, 0.0, overlap)
            return replace(nearest, stance=None, reason=reason)
        probability = supported if stance == "supports" else contradicted
        span = (
            found
            if found is not None and by_words == stance
            else self._find_deciding(claim, passage, sentences, stance)
        )
        reason = "" if stance == "supports" else reason or "the source says something else"
        return replace(span, stance=stance, score=probability, reason=reason, checker="reader", probability=probability)

    def _find_deciding(
        self, claim: str, passage: Passage, sentences: Sequence[tuple[int, int, float]], stance: Stance
    ) -> EvidenceSpan:
        """Return the sentence that alone says most surely what the passage says."""
        rows = sentences[:_MAX_SENTENCES]
        best = 0
        if len(rows) > 1:
            texts = [" ".join(passage.text[start:end].split()) for start, end, _ in rows]
            judged = self._reader.judge([(align_figures(claim, text), text) for text in texts])
            best = int(judged[:, 0 if stance == "supports" else 1].argmax())
        start, end, overlap = rows[best]
        return EvidenceSpan(start, end, None, 0.0, overlap)


def has_reader() -> bool:
    """Whether the reader's files are there and unchanged."""
    try:
        get_reader().verify()
    except ModelError:
        return False
    return True


def is_settled(claim: str, passage: Passage, found: EvidenceSpan) -> bool:
    """Whether rules decide: the passage has the claim word for word, or another figure in its place."""
    if found.is_verbatim:
        return True
    has_other_figure = found.stance == "contradicts" and is_figure_conflict(found.reason)
    return has_other_figure and lacks_a_number(claim, _join_title(passage))


def find_veto(claim: str, passage: Passage, found: EvidenceSpan | None) -> Veto | None:
    """Return what speaks against the claim; ``None`` when nothing does."""
    text = _join_title(passage)
    if lacks_a_number(claim, text):
        return Veto("the source does not have a number of the claim", "final")
    is_repeated = found is not None and found.overlap >= _REPEATED_OVERLAP
    if names := find_missing_names(claim, text):
        missing = extract_features(claim).spell(names)
        return Veto(f"the source does not name {missing}", "difference" if is_repeated else "name")
    if found is None or found.stance == "supports" or not found.reason:
        return None
    if is_figure_conflict(found.reason):  # The passage has the figure in another place.
        return Veto(found.reason, "difference")
    if found.stance is None and names_difference(found.reason):  # A name in another's place.
        return Veto(found.reason, "final")
    if not is_repeated or _names_all_in_short(claim, passage, found):
        return None
    return Veto(found.reason, "difference")


def _names_all_in_short(claim: str, passage: Passage, found: EvidenceSpan) -> bool:
    """Whether the sentence only lacks a part of a name, such as the first name of a person."""
    sentence = passage.text[found.start : found.end]
    is_single = len(list(split_sentences(sentence))) == 1
    return is_single and is_name_missing(found.reason) and not find_missing_names(claim, f"{passage.title}\n{sentence}")


def _join_title(passage: Passage) -> str:
    return f"{passage.title}\n{passage.text}"


def to_text(passage: Passage) -> str:
    """Return the passage as the reader was trained to see it: with its title, unless it opens with it."""
    opens_with_title = passage.text.casefold().startswith(passage.title.casefold())
    return passage.text if opens_with_title else f"{passage.title}. {passage.text}"


def _rank_sentences(claim: str, passage: Passage) -> list[tuple[int, int, float]]:
    """Return the sentences that share words with the claim, the highest share first."""
    wanted = content_stems(claim)
    found = [
        (start, end, len(wanted & content_stems(passage.text[start:end])) / max(1, len(wanted)))
        for start, end in quotable_spans(passage.text, passage.kind)
    ]
    return sorted((row for row in found if row[2]), key=lambda row: -row[2])
