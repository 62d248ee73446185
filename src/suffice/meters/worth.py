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
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from suffice.meters.base import Hit, MeterContext, Moment, RoundView
from suffice.text.tokens import STOP_WORDS, tokenize_cached
from suffice.types import Readings

_WORD = re.compile(r"[^\W_]+")
_PARENTHETICAL = re.compile(r"(?<!\s)\s*+\([^()]*+\)")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_POSSESSIVE = re.compile(r"['’]s\b")
# Stop words, and words that ask or count: evidence does not have to repeat them.
_IGNORED_WORDS = STOP_WORDS | frozenset(
    """according against along besides call called find first give known later list many name named neither shall tell two via
    year""".split()
)
_STEM_LENGTH = 6
_MAX_LINK_CANDIDATES = 50  # A new title is looked for in the latest texts only, so that a round's cost does not grow.


class WorthMeter:
    """A *cover* is the set of the question's words in a passage, as bits of an integer."""

    moment: Moment = "after"
    names: tuple[str, ...] = (
        "worth.missing_names",
        "worth.missing_words",
        "worth.pair_cover",
        "worth.second_adds",
        "worth.standout",
    )

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        names, others = _extract_keys(context.question or "")
        keys = sorted(names) + sorted(others - names)
        self._bit_by_key = {key: 1 << position for position, key in enumerate(keys)}
        self._names_mask = sum(self._bit_by_key[key] for key in names)
        self._round = 0
        self._covered_mask = 0
        self._best_one = self._best_two = self._best_linked = 0
        self._covers: set[int] = set()
        self._seen_words: set[str] = set()
        self._bit_by_word: dict[str, int] = {}
        # For links: the passages, their numbers by word, and the covers of those with a title, by its longest word and itself.
        self._texts: list[_Text] = []
        self._indexed_count = 0
        self._numbers_by_word: dict[str, list[int]] = defaultdict(list)
        self._covers_by_title: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        self._ids: set[str] = set()
        self._without_text = 0

    def read(self, view: RoundView) -> Readings:
        self._round += 1
        for hit in (*view.raw, *view.new):
            if hit.id not in self._ids:
                self._ids.add(hit.id)
                self._add_hit(hit)
        total = len(self._bit_by_key)
        known = total > 0 and len(self._texts) > self._without_text
        missing = ((1 << total) - 1) & ~self._covered_mask
        has_names = known and self._names_mask
        return {
            "worth.missing_names": float((missing & self._names_mask).bit_count()) if has_names else None,
            "worth.missing_words": float(missing.bit_count()) if known else None,
            "worth.pair_cover": self._best_linked / total if known else None,
            "worth.second_adds": max(0, self._best_two - self._best_one) / total if known else None,
            "worth.standout": self._measure_standout(view),
        }

    def _add_hit(self, hit: Hit) -> None:
        if not hit.text:
            self._without_text += 1
            return
        tokens, words, title = _tokenize_hit(hit.title or "", hit.text)
        for word in words - self._seen_words:
            if bit := self._bit_by_key.get(_stem_word(word)):
                self._bit_by_word[word] = bit
        cover = 0
        for word in words & self._bit_by_word.keys():
            cover |= self._bit_by_word[word]
        self._covered_mask |= cover
        self._best_one = max(self._best_one, cover.bit_count())
        if cover not in self._covers:  # A cover seen before cannot improve a pair.
            for other in self._covers:
                self._best_two = max(self._best_two, (cover | other).bit_count())
            self._covers.add(cover)
        self._best_two = max(self._best_two, cover.bit_count() if self._texts else 0)
        name = " ".join(title)
        text = _Text(cover, f" {' '.join(tokens)} ", name if len(name) > 2 else "")
        self._best_linked = max(self._best_linked, self._find_best_link(text, words, title))
        self._seen_words |= words
        if text.title:
            self._covers_by_title[max(title, key=len)][text.title].add(cover)
        self._texts.append(text)

    def _find_best_link(self, text: "_Text", words: frozenset[str], title: tuple[str, ...]) -> int:
        """Return the most words of the question that this passage has together with a linked one.

        Earlier titles are looked for in this text, then this title in earlier texts, found by its rarest word.
        """
        linked: set[int] = set()
        for word in words & self._covers_by_title.keys():
            for name, covers in self._covers_by_title[word].items():
                if name != text.title and f" {name} " in text.words:
                    linked |= covers
        if text.title and self._seen_words.issuperset(title):  # Most new titles have a word that no earlier text has.
            for number in range(self._indexed_count, len(self._texts)):  # Only when it is needed.
                for word in set(self._texts[number].words.split()) - STOP_WORDS:
                    self._numbers_by_word[word].append(number)
            self._indexed_count = len(self._texts)
            rare = [self._numbers_by_word.get(word, []) for word in title if word not in STOP_WORDS]
            numbers: Sequence[int] = min(rare, key=len, default=range(len(self._texts)))
            for earlier in (self._texts[number] for number in numbers[-_MAX_LINK_CANDIDATES:]):
                if earlier.title != text.title and f" {text.title} " in earlier.words:
                    linked.add(earlier.cover)
        return max(((text.cover | other).bit_count() for other in linked), default=0)

    def _measure_standout(self, view: RoundView) -> float | None:
        if self._round > 1:
            return 0.0
        scores = sorted((hit.score for hit in view.raw if hit.score is not None), reverse=True)
        return (scores[0] - scores[1]) / scores[0] if len(scores) > 1 and scores[0] > 0 else None


class _Text(NamedTuple):
    """What is compared of a passage: its cover, its words between spaces, and those of its title."""

    cover: int
    words: str
    title: str


def _extract_keys(question: str) -> tuple[set[str], set[str]]:
    names: set[str] = set()
    others: set[str] = set()
    for word in _WORD.findall(_fold_accents(question)):
        if word.lower() not in _IGNORED_WORDS:
            named = word[0].isupper() or any(character.isdigit() for character in word)
            (names if named else others).add(_stem_word(word))
    return names, others


def _fold_accents(text: str) -> str:
    """Return the text without accents and possessive endings."""
    if not text.isascii():
        text = _NON_ASCII.sub(_drop_accent, unicodedata.normalize("NFKD", text))
    return _POSSESSIVE.sub(" ", text)


def _drop_accent(match: re.Match[str]) -> str:
    return "" if unicodedata.combining(match[0]) else match[0]


def _tokenize_hit(title: str, text: str) -> tuple[Sequence[str], frozenset[str], tuple[str, ...]]:
    """Return the words of title and text in order and as a set, and those of the title without a remark in brackets."""
    tokens = _tokenize(title) + _tokenize(text)
    return tokens, frozenset(tokens), _tokenize(_PARENTHETICAL.sub("", title))


def _tokenize(text: str) -> tuple[str, ...]:
    """Return the words without accents and possessive endings. Plain ASCII uses the words that are cached already."""
    if text.isascii() and "_" not in text and "'s" not in text:
        return tokenize_cached(text)
    return tuple(_WORD.findall(_fold_accents(text).lower()))


def _stem_word(word: str) -> str:
    word = word.lower()
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:_STEM_LENGTH]
