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
from itertools import pairwise

from suffice.meters.base import Hit, MeterContext, Moment, RoundView
from suffice.text.tokens import STOP_WORDS, tokenize, tokenize_cached, word_set
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
        self._prefixes = {key[:3] for key in keys}  # Only words that begin like a key need a stem.
        # Words seen so far, those of them that are words of the question, and the bit of each.
        self._seen_words: set[str] = set()
        self._question_words: set[str] = set()
        self._bit_by_word: dict[str, int] = {}
        self._covers: set[int] = set()
        # For links: passages by word, covers by title, titles of one word, and lengths of the others by their first two words.
        # Sets are kept beside the dictionaries because Python intersects sets much faster.
        self._seen: list[_Text] = []
        self._indexed_count = 0
        self._passages_by_word: dict[str, list[int]] = defaultdict(list)
        self._covers_by_title: dict[tuple[str, ...], set[int]] = defaultdict(set)
        self._short_titles: set[str] = set()
        self._title_pairs: set[tuple[str, ...]] = set()
        self._lengths_by_pair: dict[tuple[str, ...], set[int]] = defaultdict(set)
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
        all_bits = (1 << total) - 1
        return {
            "worth.missing_names": _count_bits(self._names_mask & ~self._covered_mask)
            if known and self._names_mask
            else None,
            "worth.missing_words": _count_bits(all_bits & ~self._covered_mask) if known else None,
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
        self._best_linked = self._find_best_link(text, self._best_linked)
        if text.name:
            title = text.title
            self._covers_by_title[title].add(cover)
            if len(title) > 1:
                self._title_pairs.add(title[:2])
                self._lengths_by_pair[title[:2]].add(len(title))
            else:
                self._short_titles.add(title[0])
        self._seen_words |= text.new
        text.new = frozenset()  # Sets of words are dropped once they are used: a long run would hold many.
        self._seen.append(text)

    def _analyze_hit(self, hit: Hit) -> "_Text":
        """Return what is compared of a passage. Only the bits of words are stored; they depend on the question alone."""
        tokens, words, title = _tokenize_hit(hit.title or "", hit.text or "")
        new = words - self._seen_words
        prefixes = self._prefixes
        for word in [word for word in new if word[:3] in prefixes]:
            if bit := self._bit_by_key.get(_stem_word(word)):
                self._bit_by_word[word] = bit
                self._question_words.add(word)
        cover = 0
        for word in words & self._question_words:
            cover |= self._bit_by_word[word]
        return _Text(cover, tokens, words, new, title)

    def _find_best_link(self, text: "_Text", best: int) -> int:
        """Return the most words of the question that this passage has together with a linked one; at least ``best``.

        Earlier titles are looked for in this text, then this title in earlier texts, found by its rarest word.
        """
        cover, tokens, title = text.cover, text.tokens, text.title
        found: set[tuple[str, ...]] = {(word,) for word in text.words & self._short_titles}
        if pairs := self._title_pairs.intersection(pairwise(tokens)):
            for start, pair in enumerate(pairwise(tokens)):
                if pair in pairs:
                    found |= {tuple(tokens[start : start + length]) for length in self._lengths_by_pair[pair]}
        for phrase in found - {title}:
            for other in self._covers_by_title.get(phrase, ()):
                best = max(best, (cover | other).bit_count())
        # A title with a word that no earlier text has is in none of them; most new titles have one.
        if text.name and not text.new.intersection(title):
            for number in self._find_passages_with(title)[-_MAX_LINK_CANDIDATES:]:
                earlier = self._seen[number]
                together = (cover | earlier.cover).bit_count()
                if together > best and earlier.title != title and f" {text.name} " in earlier.joined:
                    best = together
        return best

    def _find_passages_with(self, title: tuple[str, ...]) -> Sequence[int]:
        """Return the passages with the rarest word of a title. The index is updated only when it is needed."""
        for number in range(self._indexed_count, len(self._seen)):
            text = self._seen[number]
            for word in text.words - STOP_WORDS:
                self._passages_by_word[word].append(number)
            text.words = frozenset()
        self._indexed_count = len(self._seen)
        rare = [self._passages_by_word.get(word, []) for word in title if word not in STOP_WORDS]
        return min(rare, key=len, default=range(len(self._seen)))

    def _measure_standout(self, view: RoundView) -> float | None:
        if self._round > 1:
            return 0.0
        scores = sorted((hit.score for hit in view.raw if hit.score is not None), reverse=True)
        return (scores[0] - scores[1]) / scores[0] if len(scores) > 1 and scores[0] > 0 else None


class _Text:
    """What is compared of a passage: its cover, words, words that no earlier passage has, and title."""

    __slots__ = ("_joined", "cover", "name", "new", "title", "tokens", "words")

    def __init__(
        self, cover: int, tokens: Sequence[str], words: frozenset[str], new: frozenset[str], title: tuple[str, ...]
    ) -> None:
        self.cover, self.tokens, self.words, self.new, self.title = cover, tokens, words, new, title
        self._joined = ""
        name = " ".join(title)
        self.name = name if len(name) > 2 else ""

    @property
    def joined(self) -> str:
        """The words between spaces, made when a title is first looked for in them."""
        self._joined = self._joined or f" {' '.join(self.tokens)} "
        return self._joined


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
    """Return the words of title and text in order and as a set, and those of the title without a remark in brackets.

    Plain ASCII needs no folding and uses the words that are cached already.
    """
    is_plain = title.isascii() and "_" not in title and "'s" not in title
    if is_plain and "(" not in title:
        name = tokenize_cached(title)
    else:
        name = tuple(_WORD.findall(_fold_accents(_PARENTHETICAL.sub("", title)).lower()))
    if is_plain and text.isascii() and "_" not in text and "'s" not in text:
        return tokenize_cached(title) + tokenize_cached(text), word_set(title) | word_set(text), name
    folded = _fold_accents(f"{title} {text}")
    words = tokenize(folded.replace("_", " ")) if folded.isascii() else _WORD.findall(folded.lower())
    return words, frozenset(words), name


def _stem_word(word: str) -> str:
    word = word.lower()
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:_STEM_LENGTH]


def _count_bits(bits: int) -> float:
    return float(bits.bit_count())
