"""The ranking function of document searches: words, meaning and titles in one score, without near-duplicates.

    score = alpha · bm25 / best + (1 − alpha) · meaning + 0.15 if the query names the passage's title

The meaning of a candidate is the cosine of its nearest stretch by the embedding model.
The local index and the engines in ``search.engines`` find candidates in their own ways and rank them here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from suffice.search.corpus.index import IndexEntry
from suffice.search.files.chunk import INEXACT_KINDS
from suffice.text.entities import strip_parenthetical
from suffice.text.tokens import jaccard, normalize_phrase, tokenize
from suffice.types import Passage, Place

# Passages with word sets this similar are copies: a page saved twice, a quotation with another caption.
NEAR_DUPLICATE_SIMILARITY = 0.9
_TITLE_MATCH_BONUS = 0.15  # Added if the query contains the title of the passage.


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage to rank: its share of the best BM25 score, and whether its vectors mean anything."""

    entry: IndexEntry
    words: float
    has_meaning: bool = True


def rank_candidates(
    text: str, candidates: Sequence[Candidate], alpha: float, measure: Callable[[Sequence[IndexEntry]], Iterable[float]]
) -> list[tuple[float, IndexEntry]]:
    """Rank candidates, best first; ``measure`` gives the meaning of those that have one."""
    phrase = normalize_phrase(text)
    known = [i for i, candidate in enumerate(candidates) if candidate.has_meaning]
    meaning = dict(zip(known, measure([candidates[i].entry for i in known]), strict=True))
    ranked = []
    for i, candidate in enumerate(candidates):
        # A remark in brackets need not be in the query.
        words, title = candidate.words, normalize_phrase(strip_parenthetical(candidate.entry.title))
        bonus = _TITLE_MATCH_BONUS * (bool(title.strip()) and title in phrase)
        mixed = alpha * words + (1 - alpha) * meaning[i] if i in meaning else words
        ranked.append((mixed + bonus, candidate.entry))
    return sorted(ranked, key=lambda item: -item[0])  # Equal passages keep their order by words.


def drop_near_duplicates(ranked: Iterable[tuple[float, IndexEntry]], k: int) -> Iterator[tuple[float, IndexEntry]]:
    """Yield the first ``k`` entries that do not nearly repeat a better one."""
    word_sets: list[frozenset[str]] = []
    for score, entry in ranked:
        words = frozenset(tokenize(entry.text))
        if any(jaccard(words, other) >= NEAR_DUPLICATE_SIMILARITY for other in word_sets):
            continue
        word_sets.append(words)
        yield score, entry
        if len(word_sets) == k:
            break


def to_passages(
    scored: Iterable[tuple[float, IndexEntry]], shorten: Callable[[str], str], owns_id: Callable[[str, str], bool]
) -> list[Passage]:
    """Return entries as passages; ``shorten`` says how a file is shown.

    Several files may have a record of the same id: the id of the passage names its file unless the file ``owns_id``.
    """
    found = []
    for score, entry in scored:
        path = shorten(entry.file)
        place = Place(path, entry.lines, entry.page, entry.record, entry.kind not in INEXACT_KINDS, entry.section)
        if entry.id is None:
            key = str(place) if entry.part == 1 else f"{place}#{entry.part}"
        else:
            key = entry.id if owns_id(entry.id, entry.file) else f"{path}#{entry.id}"
        found.append(Passage(key, entry.text, entry.title, place, entry.kind, score))
    return found


def text_to_embed(entry: IndexEntry) -> str:
    return f"{entry.title}. {entry.text}"
