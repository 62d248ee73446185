"""Signals of whether another round is likely to bring new evidence. The ``worth`` gate weighs them.

    worth.missing_names   names in the question (words with a capital letter or a digit) that no passage has
    worth.missing_words   words of the question that no passage has
    worth.pair_cover      best share of the question's words that two *linked* passages have together: the title of one
                          is in the text of the other; 0 without a link
    worth.second_adds     share of the question's words that the best two passages have beyond the best one
    worth.standout        in round 1: how far the best score is above the second, as a share; 0 later

Words are compared without accents and plural endings, by their first six letters. Unknown if most passages have no text.
Embeddings were tried and added nothing (bench/stopping.md).
"""

import re
import unicodedata
from collections import deque
from typing import NamedTuple

from suffice.meters.base import Hit, Meter, MeterContext, RoundView
from suffice.text.tokens import STOP_WORDS, tokenize
from suffice.types import Readings

_WORD = re.compile(r"[^\W_]+")
_PARENTHETICAL = re.compile(r"(?<!\s)\s*+\([^()]*+\)")
_POSSESSIVE = re.compile(r"['’]s\b")
# Stop words, and words that ask or count: evidence does not have to repeat them.
_IGNORED_WORDS = STOP_WORDS | frozenset(
    """according against along besides call called find first give known later list many name named neither shall tell two via
    year""".split()
)
_STEM_LENGTH = 6
_MAX_COMPARED = 500  # A new passage is compared with the latest ones only, so that a round's cost does not grow.


class _Text(NamedTuple):
    """What is compared of a passage: the question's words in it as bits, its title and its words, each between spaces."""

    cover: int
    title: str
    words: str

    def is_linked(self, other: "_Text") -> bool:
        """Whether the title of one is in the text of the other. Parts of one document are not linked."""
        pairs = ((self.title, other.words), (other.title, self.words))
        return self.title != other.title and any(title and title in words for title, words in pairs)


class WorthMeter(Meter):
    """A *cover* is the set of the question's words in a passage, as bits of an integer."""

    names: tuple[str, ...] = (
        "worth.missing_names",
        "worth.missing_words",
        "worth.pair_cover",
        "worth.second_adds",
        "worth.standout",
    )

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        names, others = _extract_keys(context.question or "")
        self._bit_by_key = {key: 1 << position for position, key in enumerate(sorted(names | others))}
        self._names_mask = sum(self._bit_by_key[key] for key in names)
        self._prefixes = {key[:3] for key in self._bit_by_key}  # Only words that begin like a key need a stem.
        self._round = 0
        self._covered_mask = 0
        self._best_one = self._best_two = self._best_linked = 0
        self._covers: set[int] = set()
        self._latest: deque[_Text] = deque(maxlen=_MAX_COMPARED)
        self._ids: set[str] = set()
        self._with_text = self._without_text = 0

    def read(self, view: RoundView) -> Readings:
        self._round += 1
        for hit in (*view.raw, *view.new):
            if hit.id not in self._ids:
                self._ids.add(hit.id)
                self._add_hit(hit)
        total = len(self._bit_by_key)
        known = total > 0 and self._with_text > self._without_text
        missing_names = float((self._names_mask & ~self._covered_mask).bit_count())
        missing_words = float(total - self._covered_mask.bit_count())
        return {
            "worth.missing_names": missing_names if known and self._names_mask else None,
            "worth.missing_words": missing_words if known else None,
            "worth.pair_cover": self._best_linked / total if known else None,
            "worth.second_adds": max(0, self._best_two - self._best_one) / total if known else None,
            "worth.standout": self._measure_standout(view),
        }

    def _add_hit(self, hit: Hit) -> None:
        if not hit.text:
            self._without_text += 1
            return
        self._with_text += 1
        text = self._analyze_hit(hit)
        cover = text.cover
        self._covered_mask |= cover
        self._best_one = max(self._best_one, cover.bit_count())
        if cover not in self._covers:  # A cover seen before cannot improve a pair.
            for other in self._covers:
                self._best_two = max(self._best_two, (cover | other).bit_count())
            self._covers.add(cover)
        self._best_two = max(self._best_two, cover.bit_count() if self._with_text > 1 else 0)
        for earlier in self._latest:
            together = (cover | earlier.cover).bit_count()
            if together > self._best_linked and text.is_linked(earlier):
                self._best_linked = together
        self._latest.append(text)

    def _analyze_hit(self, hit: Hit) -> _Text:
        words = _tokenize(f"{hit.title or ''} {hit.text}")
        cover = 0
        for word in {word for word in words if word[:3] in self._prefixes}:
            cover |= self._bit_by_key.get(_stem_word(word), 0)
        title = " ".join(_tokenize(_PARENTHETICAL.sub("", hit.title or "")))
        return _Text(cover, f" {title} " if len(title) > 2 else "", f" {' '.join(words)} ")

    def _measure_standout(self, view: RoundView) -> float | None:
        if self._round > 1:
            return 0.0
        scores = sorted((hit.score for hit in view.raw if hit.score is not None), reverse=True)
        return (scores[0] - scores[1]) / scores[0] if len(scores) > 1 and scores[0] > 0 else None


def _extract_keys(question: str) -> tuple[set[str], set[str]]:
    names: set[str] = set()
    others: set[str] = set()
    for word in _WORD.findall(_fold_accents(question)):
        if word.lower() not in _IGNORED_WORDS:
            named = word[0].isupper() or any(character.isdigit() for character in word)
            (names if named else others).add(_stem_word(word))
    return names, others


def _tokenize(text: str) -> list[str]:
    return tokenize(_fold_accents(text).replace("_", " "))


def _fold_accents(text: str) -> str:
    """Return the text without accents and possessive endings."""
    if not text.isascii():
        text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return _POSSESSIVE.sub(" ", text)


def _stem_word(word: str) -> str:
    word = word.lower()
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:_STEM_LENGTH]
