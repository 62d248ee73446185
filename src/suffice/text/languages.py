"""Languages: guess which one a text is in, and its stop words and stems.

Stop words and Snowball stems come from tantivy, which the index uses too. A language is guessed by its stop words; a text with
few of them (a name, code, a table) has none. Scripts without spaces are ``UNSPACED``: they have no stems.

A run works in one language, that of its question, so that the stems of a question and of a sentence are comparable however
short they are.
"""

import json
from collections import Counter
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING

from suffice.text.tokens import STOP_WORDS, count_unspaced, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tantivy import Filter, TextAnalyzer

ENGLISH = "english"
UNSPACED = "unspaced"
# Those for which tantivy has both stems and stop words beside English: their ISO 639-1 codes, words that begin a question and
# words of high frequency that the lists of stop words lack.
_OTHERS: dict[str, dict[str, str]] = json.loads((files("suffice.text") / "languages.json").read_text(encoding="utf-8"))
STEMMED_LANGUAGES = (ENGLISH, *_OTHERS)
# Longer words are in no list of stop words.
_MAX_STOP_WORD = 12
# A guess needs so many different stop words, and so large a share of all words. English prose has a share of about 0.4.
_MIN_STOP_WORDS = 2
_MIN_SHARE = 0.15
# Longer "words" are hashes and base64, which would only make the index larger.
_MAX_WORD_LENGTH = 64
_VOTE_CACHE_SIZE = 100_000
_MAX_DETECT_CHARS = 2000


def detect_language(text: str) -> str | None:
    """Return the language of a text, ``UNSPACED`` for scripts without spaces, or ``None`` if the text does not tell.

    >>> detect_language("Wie viele Häuser stehen in der Stadt?")
    'german'
    """
    text = text[:_MAX_DETECT_CHARS]
    if not text.isascii():
        letters = sum(character.isalpha() for character in text)
        if letters and count_unspaced(text) > letters / 3:
            return UNSPACED
    words = [word for word in tokenize(text) if not word.isdigit()]
    ranked = Counter(chain.from_iterable(map(_find_votes, words))).most_common()
    if not ranked:
        return None
    # Related languages share stop words: the one with most different ones wins, and a tie tells nothing.
    best, votes = ranked[0]
    distinct = sum(best in _find_votes(word) for word in set(words))
    if distinct < _MIN_STOP_WORDS or votes < _MIN_SHARE * len(words):
        return None
    return None if len(ranked) > 1 and ranked[1][1] == votes else best


def find_language_code(text: str) -> str:
    """Return the ISO 639-1 code of a text's language; empty for English and where the text does not tell."""
    return _OTHERS.get(detect_language(text) or "", {}).get("code", "")


def is_stop_word(word: str, language: str) -> bool:
    """Whether a lower-case word carries no meaning of its own."""
    return word in STOP_WORDS if language == ENGLISH else language in _find_votes(word)


@cache
def get_analyzer(language: str = ENGLISH) -> "TextAnalyzer":
    """Return the analyzer that folds and stems words of a language; the index uses the same one."""
    from tantivy import Filter

    # English is folded first, as "café" is no English word; other stems depend on their accents.
    steps = [Filter.stemmer(language), Filter.ascii_fold()]
    filters = [
        Filter.remove_long(_MAX_WORD_LENGTH),
        Filter.lowercase(),
        *(steps[::-1] if language == ENGLISH else steps),
    ]
    return _build_analyzer(filters)


def stem_text(text: str, language: str = ENGLISH) -> list[str]:
    return get_analyzer(language).analyze(text)


@lru_cache(maxsize=_VOTE_CACHE_SIZE)
def _find_votes(word: str) -> tuple[str, ...]:
    found: list[str] = []
    if len(word) <= _MAX_STOP_WORD:
        found = [language for language, known in _OTHERS.items() if word in known["words"].split()]
        found += [language for language, filter in _get_stop_filters() if not filter.analyze(word)]
    if word in STOP_WORDS:
        found.append(ENGLISH)
    return tuple(dict.fromkeys(found))


@cache
def _get_stop_filters() -> "list[tuple[str, TextAnalyzer]]":
    from tantivy import Filter

    return [(language, _build_analyzer([Filter.stopword(language)])) for language in STEMMED_LANGUAGES[1:]]


def _build_analyzer(filters: "Sequence[Filter]") -> "TextAnalyzer":
    from tantivy import TextAnalyzerBuilder, Tokenizer

    builder = TextAnalyzerBuilder(Tokenizer.simple())
    for each in filters:
        builder = builder.filter(each)
    return builder.build()
