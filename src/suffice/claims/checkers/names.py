"""Find the names of a claim that a text does not have, in whatever form it writes them.

"William Taft" is named by "Taft", "the US" by "the United States", "America" by "American". A surname counts only where the
text writes it alone: "Ada Berg" is not named by "Otto Berg".
"""

import re
from functools import lru_cache

from suffice.claims.checkers.features import extract_features, stem_word
from suffice.claims.checkers.quantities import MONTHS
from suffice.text.tokens import STOP_WORDS

# What makes the name of a people from that of a country: "Canadian", "Turkish".
_ENDINGS = ("ians", "ian", "ans", "an", "ns", "n", "ese", "ish", "ia", "a", "ey", "y")
_MIN_ROOT = 4
_DOTTED = re.compile(r"\b(?:[A-Z]\.){2,}")
_NAME_RUN = re.compile(r"[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*)+")
_LINKED_RUN = re.compile(r"[A-Z][\w’'-]*(?:\s+(?:(?:of|the|and|for|in|de)\s+){0,2}[A-Z][\w’'-]*)+")
_NO_FIRST_NAMES = STOP_WORDS | frozenset(
    """mr mrs ms dr sir lord lady king queen prince princess pope saint st president senator judge general captain
    professor""".split()
)
_ACRONYM = re.compile(r"\b[A-Z]{2,6}\b")


def find_missing_names(claim: str, text: str) -> list[str]:
    """Return the stems of the claim's names that the text does not have.

    >>> find_missing_names("William Taft ruled the US.", "In 1909 Taft became president of the United States.")
    []
    """
    claim, text = (_DOTTED.sub(lambda match: match[0].replace(".", "") + " ", each) for each in (claim, text))
    text = " ".join(text.split())
    source = extract_features(text)
    known = (
        source.stems
        | source.ordinal_words
        | {stem for word, month in MONTHS.items() if month in source.months for stem in stem_word(word)}
    )
    missing = [name for name in extract_features(claim).names if not has_name(name, known)]
    if not missing:
        return []
    covered = _find_covered(claim, text, known)
    return sorted(name for name in missing if name not in covered)


def has_name(name: str, known: frozenset[str]) -> bool:
    """Whether a name is among known stems, itself or with another ending: "America" and "American"."""
    return name in known or not _roots(name).isdisjoint(root for stem in known for root in _roots(stem))


@lru_cache(maxsize=8192)
def _roots(stem: str) -> frozenset[str]:
    """Return the stem and what is left of it without an ending of names."""
    roots = {stem.removesuffix(ending) for ending in _ENDINGS if len(stem) >= _MIN_ROOT + len(ending)}
    if stem[-1:] == "s" and stem[-2:-1].isdigit():  # "M47s"
        roots.add(stem[:-1])
    return frozenset({stem, *roots})


def _find_covered(claim: str, text: str, known: frozenset[str]) -> set[str]:
    """Return the stems of the claim that the text has in a shorter or a longer form."""
    covered = set[str]()
    for run in _NAME_RUN.findall(claim):
        *first, last = run.split()
        if set(stem_word(last)) <= known and _stands_alone(last, first, text):
            covered.update(stem for word in run.split() for stem in stem_word(word))
    initials = {_take_initials(run) for run in _LINKED_RUN.findall(text)}
    for acronym in _ACRONYM.findall(claim):
        if any(acronym in each for each in initials):
            covered.update(stem_word(acronym))
    acronyms = set(_ACRONYM.findall(text))
    for run in _LINKED_RUN.findall(claim):
        if _take_initials(run) in acronyms:
            covered.update(stem for word in run.split() for stem in stem_word(word))
    return covered


def _stands_alone(name: str, first: list[str], text: str) -> bool:
    """Whether the text has the name by itself, and never after a first name that is not among ``first``."""
    name = re.sub(r"[’']s?$", "", name)
    before = re.findall(rf"(?:\b([A-Z][\w’'-]*)\s+)?(?<![\w-]){re.escape(name)}\b(?!\s+[A-Z]|-)", text)
    others = {word for word in before if word and word not in first and word.lower() not in _NO_FIRST_NAMES}
    return not others and any(not word or word not in first for word in before)


def _take_initials(run: str) -> str:
    return "".join(word[0] for word in run.split() if word[0].isupper() and word.lower() not in STOP_WORDS)
