"""Split text in any script into words, and estimate its model tokens.

Scripts without spaces (Chinese, Japanese, Thai …) have no word borders that a regular expression can find. They are cut into
overlapping pairs of characters, the usual way to search them without a dictionary.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from suffice.text.dates import MONTHS, find_dates

_WORD = re.compile(r"\w+")
_ASCII_WORDS = bytes(code if chr(code).isalnum() or chr(code) == "_" else 32 for code in range(128)) + bytes(128)
_UNSPACED_SCRIPT = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]+"
)
# A name of a program: words joined by underscores or by capitals inside. The second pattern finds its words.
_IDENTIFIER = re.compile(
    r"\b(?=\w*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z0-9]_[A-Za-z0-9]))[A-Za-z_]\w{3,80}\b", re.ASCII
)
_DOTTED_NUMBER = re.compile(r"(?<![\w./-])v?(\d+(?:[./-]\d+)+)(?![\w/-]|\.\d)", re.ASCII)
_NUMBER_JOINTS = str.maketrans("./-", "nnn")
_IDENTIFIER_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

STOP_WORDS = frozenset(
    """a about after all also am an and any are aren't as at be because been before being between both but by can could
    did do does doing done down during each either else ever every few for from further had has have having he her here
    hers him his how however i if in into is it its itself just let like may me might more most much must my no nor not
    now of off on once one only or other our out over own per rather s said same she should since so some such t than
    that the their them then there these they this those though through to too under until up upon us versus very vs was we were
    what when where whether which while who whom whose why will with within without would yes yet you your""".split()
)


def tokenize(text: str) -> list[str]:
    """Return the lower-cased words in order; unspaced scripts as overlapping pairs of characters.

    >>> tokenize("Naïve BM25, 東京都!")
    ['naïve', 'bm25', '東京', '京都']
    """
    if text.isascii():  # The same words as by the pattern, four times as fast.
        return text.lower().encode().translate(_ASCII_WORDS).decode().split()
    found = _WORD.findall(text.lower())
    return segment_unspaced(" ".join(found)).split() if _UNSPACED_SCRIPT.search(text) else found


def normalize_phrase(text: str) -> str:
    """Return the words in lower case between spaces, so that a phrase is found only as whole words."""
    return f" {' '.join(tokenize(text))} "


@lru_cache(maxsize=1024)
def word_set(text: str) -> frozenset[str]:
    """Return the distinct words of a text and cache them."""
    return frozenset(tokenize(text))


def segment_unspaced(text: str) -> str:
    """Return the text with unspaced scripts cut into pairs, for an index that splits at spaces."""
    if text.isascii() or not _UNSPACED_SCRIPT.search(text):
        return text
    return _UNSPACED_SCRIPT.sub(lambda run: f" {' '.join(map(''.join, pairwise(run[0]))) or run[0]} ", text)


def count_unspaced(text: str) -> int:
    """Return how many characters belong to scripts without spaces."""
    return sum(len(run) for run in _UNSPACED_SCRIPT.findall(text))


def expand_identifiers(text: str) -> str:
    """Return the text with the parts of each identifier after it, so that an index finds it by its parts and as a whole.

    >>> expand_identifiers("a ThreadPoolExecutor with max_workers")
    'a ThreadPoolExecutor Thread Pool Executor with max_workers maxworkers'
    """
    return _IDENTIFIER.sub(_append_parts, text)


def expand_numbers(text: str) -> str:
    """Return the text with each version or dotted number as one more word after it: "2.0.0" is not "0.2.0".

    The days and months of its dates follow by number and name, so that "2025-05" is found by "May 2025".

    >>> expand_numbers("Flask 2.0.0 of 2021-05-11"), expand_numbers("in May 2021")
    ('Flask 2.0.0 n2n0n0 of 2021-05-11 n2021n05n11 n2021n05 may', 'in May 2021 n2021n05')
    """
    dates = [(date, str(date).translate(_NUMBER_JOINTS)) for date in find_dates(text) if date.month]
    words = (word for date, form in dates for word in (f"n{form}", f"n{form[:7]}", MONTHS[date.month - 1]))
    text = _DOTTED_NUMBER.sub(lambda match: f"{match[0]} n{match[1].translate(_NUMBER_JOINTS)}", text)
    known = set(text.lower().split()) if dates else set()
    return " ".join([text, *dict.fromkeys(word for word in words if word not in known)])


def _append_parts(match: re.Match[str]) -> str:
    whole = match.group()
    pieces = [_IDENTIFIER_PART.findall(piece) for piece in whole.split("_") if piece]
    # The index splits at underscores by itself.
    extra = [part for parts in pieces if len(parts) > 1 for part in parts]
    if len(pieces) > 1:
        extra.append(whole.replace("_", ""))
    return " ".join([whole, *extra])


def content_words(text: str) -> list[str]:
    """Return the words that carry meaning: no stop words, no single letters (digits and ideographs stay)."""
    return [word for word in tokenize(text) if word not in STOP_WORDS and not (len(word) == 1 and "a" <= word <= "z")]


def jaccard(left: Iterable[str], right: Iterable[str]) -> float:
    """Return |A ∩ B| / |A ∪ B|; 1 for two empty sets, which are equal."""
    a, b = frozenset(left), frozenset(right)
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if a or b else 1.0


def estimate_tokens(text: str) -> int:
    """Estimate the model tokens of a text: four characters of Latin script each, one ideograph each.

    This is for budgets only. The usage that a provider reports replaces it.
    """
    if text.isascii():
        return (len(text) + 3) // 4
    dense = count_unspaced(text)
    return dense + (len(text) - dense + 3) // 4
