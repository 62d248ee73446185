"""Find what a question is about: its entities, its facets, and the stems by which words are compared.

Everything is done by patterns, without a language model. Names are found by their capital letters; in scripts without capitals
only quoted strings, identifiers and numbers count as entities.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from suffice.text.languages import ENGLISH, is_stop_word, stem_text
from suffice.text.sentences import quotable_spans
from suffice.text.tokens import STOP_WORDS, segment_unspaced, tokenize

_NAME = r"(?:[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’.-]*\w|[A-Z])"
_CAPITALISED = re.compile(
    rf"{_NAME}(?:\s+(?:(?:of|the|de|la|le|du|von|van|der|den|and|&|for|in|al|bin|y|e)\s+){{0,2}}{_NAME}|\s+\d{{1,4}}\b)*"
)
_QUOTED = re.compile(r"[\"“«]([^\"“”«»\n]{2,80})[\"”»]|`([^`\n]{2,80})`|(?<!\w)'([^'\n]{2,60})'(?!\w)")
_IDENTIFIER = re.compile(r"\b(?:\w+(?:\.\w+)+|\w+_\w+|[a-z]+[A-Z]\w+|\w+\(\))")
_PARENTHETICAL = re.compile(r"(?:(?<!\s)\s++)?\([^()]*\)\s*+$")
_NAME_RUN = re.compile(r"[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’-]+(?:\s+[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’-]+)*")
_POSSESSIVE_ENDINGS = ("'s", "’s")
_NUMBER = re.compile(r"\b\d[\d.,/:-]*\d\b|\b\d\b")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_STEM_CACHE_SIZE = 100_000
SUMMARY_CHARS = 200  # Most characters of a one-line summary.
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+|[\"“(]\s*)$")
_CLAUSE_BREAK = re.compile(
    r"[,;:()\n?!]|\s[-–—]\s|\b(?:who|whom|whose|which|that|where|when|while|because|and|or|but|if)\b", re.I
)
# "Give a comprehensive account of", "Write an in-depth overview on", "Explain", "Summarise what is known about".
_INSTRUCTION = re.compile(
    r"^\W*(?:please |can you |could you )?"
    r"(?:(?:give|write|provide|prepare|produce|create|draft)(?: me| us)? (?:an? |the )?|an? |the )?"
    r"(?:(?:comprehensive|detailed|in-depth|brief|short|full|thorough|complete|general|concise),? (?:and )?){0,3}"
    r"(?:account|overview|summary|report|description|explanation|analysis|introduction|review|survey|briefing|discussion) "
    r"(?:of|on|about|to) |^\W*(?:please |can you |could you )?"
    r"(?:explain|describe|summari[sz]e|discuss|outline|tell (?:me|us) about) (?:in detail )?(?:what is known about )?"
    r"|^what do the (?:documents|files|sources) say (?:about|on) ",
    re.IGNORECASE,
)
# Words that begin a question and would otherwise count as names or facets.
_QUESTION_WORDS = frozenset(
    """what who whom whose which when where why how is are was were do does did can could would should will name list
    describe explain compare tell give find show many much kind type behave behaves happen happens work works mean means
    use uses used using make makes made get gets got come comes go goes become becomes called named known located""".split()
)
_LEADING_STOP_WORDS = STOP_WORDS | _QUESTION_WORDS


@lru_cache(maxsize=_STEM_CACHE_SIZE)
def _stem_word(word: str, language: str) -> list[str]:
    """Return the stem of an ASCII word; none for a word that is left out."""
    return stem_text(word, language)[:1]


@dataclass(frozen=True, slots=True)
class Facet:
    """A part of the question that evidence must cover."""

    text: str
    stems: frozenset[str]
    is_named: bool


@lru_cache(maxsize=1024)
def stem_words(text: str, language: str = ENGLISH) -> tuple[str, ...]:
    """Return the words of a text as the index compares them: lower-cased, stemmed in the given language, folded to ASCII."""
    if text.isascii():  # Word by word: most words are in the cache.
        return tuple(stem for word in _ASCII_WORD.findall(text.lower()) for stem in _stem_word(word, language))
    return tuple(stem_text(segment_unspaced(text), language))


@lru_cache(maxsize=1024)
def content_stems(text: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset().union(*[_stem_content_word(word, language) for word in set(tokenize(text))])


@lru_cache(maxsize=_STEM_CACHE_SIZE)
def _stem_content_word(word: str, language: str) -> tuple[str, ...]:
    return stem_words(word, language) if _is_content_word(word, language) else ()


@lru_cache(maxsize=1024)
def extract_entities(text: str, language: str = ENGLISH) -> tuple[str, ...]:
    """Return names, quoted strings, identifiers and numbers in order of appearance, each once.

    >>> extract_entities('Who directed "The Kid" before Charles Chaplin of London met lru_cache in 1952?')
    ('The Kid', 'Charles Chaplin of London', 'lru_cache', '1952')
    """
    found: list[tuple[int, str]] = []
    taken = bytearray(len(text))  # Which characters belong to an entity.
    for match in _QUOTED.finditer(text):
        found.append((match.start(), next(group for group in match.groups() if group)))
        taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    for pattern in (_IDENTIFIER, _CAPITALISED, _NUMBER):
        for match in pattern.finditer(text):
            if taken[match.start()]:
                continue
            name = match.group().strip(".,;:'’-").removesuffix("'s").removesuffix("’s")
            if pattern is _CAPITALISED:
                name = _strip_leading_stop_words(name, text, match.start(), language)
            if name:
                found.append((match.start(), name))
                taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    return tuple(dict.fromkeys(name for _, name in sorted(found, key=lambda item: item[0])))


@lru_cache(maxsize=1024)
def extract_names(text: str) -> tuple[str, ...]:
    """Return the runs of capitalised words, which lead from one page to another; numbers and quotations do not."""
    found: dict[str, str] = {}
    for run in dict.fromkeys(_NAME_RUN.findall(text)):
        pieces = run.rstrip("'’-").split()
        if pieces[-1][-2:] in _POSSESSIVE_ENDINGS:
            pieces[-1] = pieces[-1][:-2]
        while pieces and pieces[0].lower() in _LEADING_STOP_WORDS:
            del pieces[0]
        name = " ".join(pieces)
        if len(name) > 1:
            found[name.lower()] = name
    return tuple(found.values())


def strip_parenthetical(title: str) -> str:
    """Return a title without the remark in brackets that distinguishes it from others of the same name."""
    return _PARENTHETICAL.sub("", title)


def strip_instruction(task: str) -> str:
    """Return a task without the words that only say what to write; no source need have them.

    >>> strip_instruction("Give a comprehensive account of Moss"), strip_instruction("How do I delete an account of mine?")
    ('Moss', 'How do I delete an account of mine?')
    """
    return _INSTRUCTION.sub("", task) or task


def extract_facets(question: str, limit: int = 6, language: str = ENGLISH) -> list[Facet]:
    """Return the parts of a question: its entities, then the content words of its clauses that are in no entity."""
    question = strip_instruction(question)
    parts: list[Facet] = []
    taken: set[str] = set()
    names = (side for entity in extract_entities(question, language) for side in _split_conjunction(entity, question))
    for name in names:
        if len(parts) == limit:
            return parts
        found = content_stems(name, language)
        if found and not found <= taken:
            parts.append(Facet(name, found, True))
            taken |= found
    for clause in _CLAUSE_BREAK.split(question):
        run = [word for word in re.findall(r"\w[\w'’-]*", clause or "") if _is_content_word(word.lower(), language)]
        run = [word for word in run if not content_stems(word, language) <= taken]
        if run:
            found = content_stems(" ".join(run), language)
            parts.append(Facet(" ".join(run), found, False))
            taken |= found
    return parts[:limit]


def _split_conjunction(name: str, question: str) -> list[str]:
    """Return both sides of "A and B", unless it is quoted as one title."""
    joined = re.search(rf"[\"“«`']{re.escape(name)}", question)
    return [name] if joined else re.split(r"(?<!\s)\s++(?:and|&)\s+", name)


def _is_content_word(word: str, language: str) -> bool:
    if is_stop_word(word, language) or (language == ENGLISH and word in _QUESTION_WORDS):
        return False
    return len(word) > 1 or not word.isascii() or word.isdigit()


def _strip_leading_stop_words(name: str, text: str, start: int, language: str) -> str:
    """Remove question and stop words that have a capital letter only because they begin a sentence."""
    pieces = name.split()
    while pieces:
        word = pieces[0].lower()
        is_stop = word in _LEADING_STOP_WORDS if language == ENGLISH else is_stop_word(word, language)
        is_alone = len(pieces) == 1 or word in _QUESTION_WORDS
        if not is_stop or not (is_alone or _SENTENCE_START.search(text, max(0, start - 40), start)):
            break
        pieces = pieces[1:]
    return " ".join(pieces)


def one_line_summary(text: str, kind: str, target_stems: frozenset[str]) -> str:
    """Return the sentence of a passage that shares most stems with the target, in one line."""
    offsets = quotable_spans(text, kind) or [(0, len(text))]
    best = max(offsets, key=lambda span: len(target_stems & content_stems(text[span[0] : span[1]])))
    return " ".join(text[best[0] : best[1]].split())[:SUMMARY_CHARS]
