"""The ranking function of document searches: words, meaning and titles in one score, without near-duplicates.

    score = alpha · bm25 / best + (1 − alpha) · meaning + 0.15 if the query names the passage's title

For every candidate the meaning is its static vector's cosine; for the best of them the nearest stretch, by the embedding model,
counts twice beside it. The local index and the engines in ``search.engines`` find candidates in their own ways and rank
them here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from suffice.measure.stretches import compare_stretches, compute_cosines
from suffice.models.embeddings.static import embed_static
from suffice.search.corpus.index import IndexEntry
from suffice.search.files.chunk import INEXACT_KINDS
from suffice.text.entities import strip_parenthetical
from suffice.text.tokens import jaccard, normalize_phrase, tokenize
from suffice.types import Embed, Passage, Place

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
    text: str, candidates: Sequence[Candidate], alpha: float, rough: Sequence[float] | None, k: int, embed: Embed | None
) -> list[tuple[float, IndexEntry]]:
    """Rank candidates, best first: all by their ``rough`` cosines, then the best ``k`` also by their nearest stretch.

    Without rough cosines, all are ranked by the vectors that ``embed`` makes of whole passages; without ``embed``, the given
    cosines are exact. A passage that was compared only roughly never passes one that was compared exactly.
    """
    phrase = normalize_phrase(text)
    # A remark in brackets need not be in the query.
    titles = [normalize_phrase(strip_parenthetical(candidate.entry.title)) for candidate in candidates]
    bonus = [_TITLE_MATCH_BONUS * (bool(title.strip()) and title in phrase) for title in titles]

    def score(cosines: dict[int, float]) -> list[tuple[float, int]]:
        found = []
        for i, cosine in cosines.items():
            words = candidates[i].words
            mixed = alpha * words + (1 - alpha) * cosine if candidates[i].has_meaning else words
            found.append((mixed + bonus[i], i))
        return sorted(found, key=lambda item: (-item[0], item[1]))  # Equal passages keep their order by words.

    if rough is None:
        order, k = [(0.0, i) for i in range(len(candidates))], len(candidates)
    else:
        order = score(dict(enumerate(rough)))
    if embed is None:
        return [(value, candidates[i].entry) for value, i in order]
    best = [i for _, i in order[:k]]
    embedded = [i for i in best if candidates[i].has_meaning]
    if rough is None:
        meaning = compute_cosines(text, [text_to_embed(candidates[i].entry) for i in embedded], embed)
    else:
        entries = [candidates[i].entry for i in embedded]
        nearest = compare_stretches(text, [(entry.title, entry.text) for entry in entries], embed, embed_static)
        meaning = [(rough[i] + 2 * cosine) / 3 for i, cosine in zip(embedded, nearest, strict=True)]
    cosines = dict(zip(embedded, meaning, strict=True))
    exact = score({i: cosines.get(i, 0.0) for i in best})
    lowest = exact[-1][0]
    ranked = [*exact, *((min(value, lowest), i) for value, i in order[k:])]
    return [(value, candidates[i].entry) for value, i in ranked]


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
