"""Search in a Postgres collection: candidates by words and by vectors, ranked as in the local index.

    the 50 best by BM25  +  the 50 nearest vectors  →  ``corpus.ranking``

The best by BM25 are found without scoring every passage that has one of the words. Passages with a rare word are all scored.
A passage with common words only must have several of them to compete: the more they are, the fewer passages have them all,
so these are scored first, and the search ends when fewer of the words cannot reach the 50th best score any more (the idea
of MaxScore, Turtle & Flood 1995). In each step at most ``MAX_SCORED`` passages are scored; if more match, the result is
approximate.
"""

import asyncio
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate, combinations
from typing import Any, NamedTuple

from suffice.errors import InputError
from suffice.models.embeddings.static import StaticEmbedder, embed_static
from suffice.search.corpus.index import IndexEntry, Term, extract_query_terms, name_field
from suffice.search.corpus.ranking import Candidate, drop_near_duplicates, rank_candidates, to_passages
from suffice.search.corpus.search import MAX_CANDIDATES
from suffice.search.corpus.vectors import EmbeddingCache, VectorSearch
from suffice.search.engines import postgres
from suffice.types import Passage

MAX_SCORED = 10_000  # Passages scored in one step; scoring takes some microseconds each.
_MAX_COMMON = 8  # Common words that are combined; a passage that has none of the rarest ones is not searched for.
_MAX_GROUPS = 70

_FETCH = f"""
SELECT f.path, p.text, p.title, p.kind, p.first_line, p.last_line, p.page, p.record, p.record_id, p.part, p.section,
    p.language, -(e.words <#> %(words)s::sparsevec), 1 - (e.vector <=> %(vector)s::halfvec), e.position
FROM entries e JOIN passages p ON p.id = e.id JOIN files f ON f.id = e.id >> {postgres.FILE_SHIFT} WHERE e.id = ANY(%(ids)s)
"""


class _Found(NamedTuple):
    """A passage that was found: its BM25 score, its cosine to the query, and its place in the order of equals."""

    entry: IndexEntry
    words: float
    cosine: float | None
    position: int


class PostgresSearch(VectorSearch):
    """Searches a collection as it is at the moment of each query."""

    is_own_index = True

    def __init__(
        self, address: postgres.PostgresAddress, info: postgres.CollectionInfo, alpha: float, vectors: EmbeddingCache
    ) -> None:
        super().__init__(alpha, vectors)
        self._address = address
        self._is_static = info.embedder == StaticEmbedder.name
        self._languages: dict[str, int] = {}

    @classmethod
    def open(cls, address: postgres.PostgresAddress, alpha: float, vectors: EmbeddingCache) -> "PostgresSearch":
        """Connect and check that the collection can be searched with these vectors."""
        # A connection of its own: the pool would try a dead host again and again before it says so.
        with postgres.translate_errors(address), postgres.connect(address) as connection:
            info = postgres.require_info(connection, address)
            search = cls(address, info, alpha, vectors)
            search._languages = _read_totals(connection)
        if not search._languages:
            raise InputError(
                f"The collection {address.text} is empty; fill it with: suffice index PATH --to {address.text}"
            )
        embedder = vectors.embedder
        is_same = alpha == 1 or (info.embedder, info.dimension) == (embedder.name, embedder.dimension)
        if not is_same and not search._is_static:
            raise InputError(
                f"The collection {address.text} has vectors of {info.embedder} with {info.dimension} dimensions, but "
                f"{embedder.name} with {embedder.dimension} is configured; set SUFFICE_EMBEDDINGS, or search with --alpha 1"
            )
        return search

    @property
    def language(self) -> str | None:
        return max(self._languages, key=lambda name: self._languages[name], default=None)

    async def _find_passages(self, text: str, k: int) -> list[Passage]:
        return await asyncio.to_thread(self._search, text, k)

    def _search(self, text: str, k: int) -> list[Passage]:
        if k < 1:
            return []
        with postgres.translate_errors(self._address), postgres.get_pool(self._address.dsn).connection() as connection:
            postgres.set_search_path(connection, self._address)
            found = self._find(connection, text, max(MAX_CANDIDATES, k))
            kept = list(drop_near_duplicates(self._rank(text, found), k))
            shared = _find_shared_ids(connection, [entry.id for _, entry in kept if entry.id is not None])
        folder = os.path.join(os.getcwd(), "")
        return to_passages(
            kept, lambda file: file.removeprefix(folder), lambda key, file: shared.get(key, file) == file
        )

    # -- candidates --------------------------------------------------------------------------------------------------------

    def _find(self, connection: postgres.Connection, text: str, limit: int) -> list[_Found]:
        """Return the candidates of both sides, best words first."""
        languages = _read_totals(connection)
        terms = extract_query_terms(text, languages)
        if not terms:
            return []
        counts = _read_counts(connection, terms)
        weights = _weigh_query(terms, counts, languages)
        words = postgres.format_weights(weights or {0: 0.0001})
        ids = _find_by_words(connection, weights, counts, limit) if self._alpha > 0 and weights else []
        vector = None
        if self._alpha < 1:
            embed = embed_static if self._is_static else self._vectors.embed
            vector = postgres.format_vector(embed([text])[0])
            nearest = "SELECT id FROM entries WHERE vector IS NOT NULL ORDER BY vector <=> %s::halfvec LIMIT %s"
            rows = connection.execute(nearest, (vector, limit)).fetchall()
            ids = list(dict.fromkeys([*ids, *(id for (id,) in rows)]))
        rows = connection.execute(_FETCH, {"words": words, "vector": vector, "ids": ids}).fetchall()
        return sorted(map(_to_found, rows), key=lambda found: (-found.words, found.position))

    def _rank(self, text: str, found: Sequence[_Found]) -> list[tuple[float, IndexEntry]]:
        if not found:
            return []
        best = max(found[0].words, 1e-9)
        if self._alpha == 1:
            return [(one.words / best, one.entry) for one in found if one.words > 0]
        rough = [0.0 if one.cosine is None else one.cosine for one in found]
        if self._alpha == 0 and not self._is_static:
            return sorted(zip(rough, (one.entry for one in found), strict=True), key=lambda item: -item[0])
        candidates = [Candidate(one.entry, one.words / best, has_meaning=one.cosine is not None) for one in found]
        stored = {one.entry: cosine for one, cosine in zip(found, rough, strict=True)}
        measure = partial(self.measure, text) if self._is_static else partial(map, stored.__getitem__)
        return rank_candidates(text, candidates, self._alpha, measure)


def _weigh_query(terms: Sequence[Term], counts: Mapping[int, int], languages: Mapping[str, int]) -> dict[int, float]:
    """Return the inverse document frequency of each term, less for the words of a language that few passages are in.

    A short passage is often taken for another language, in which ``is`` and ``the`` are rare words. Tantivy divides by the mean
    length of a field over all passages, so such passages count little there; this is its factor for a passage of mean length.
    """
    passages = sum(languages.values())
    in_field: Counter[str] = Counter()
    for language, count in languages.items():
        in_field[name_field(language)] += count
    weights = {}
    for field, stem in terms:
        count = counts.get(postgres.hash_term((field, stem)), 0)
        if count and in_field[field]:
            factor = (1 + postgres.K1) / (1 + postgres.K1 * (1 - postgres.B + postgres.B * passages / in_field[field]))
            weights[postgres.hash_term((field, stem))] = factor * math.log(1 + (passages - count + 0.5) / (count + 0.5))
    return weights


def _find_by_words(
    connection: postgres.Connection, weights: Mapping[int, float], counts: Mapping[int, int], limit: int
) -> list[int]:
    """Return the ids of the best passages by BM25."""
    query = postgres.format_weights(weights)
    scores: dict[int, float] = {}

    def score(groups: Sequence[Sequence[int]], *, any_of: bool) -> None:
        operator = "&&" if any_of else "@>"
        condition = " OR ".join([f"terms {operator} %s"] * len(groups))
        rows = connection.execute(
            f"SELECT id, -(words <#> %s::sparsevec) AS score FROM (SELECT id, words, position FROM entries WHERE {condition} "
            "LIMIT %s) AS matching ORDER BY score DESC, position LIMIT %s".encode(),
            (query, *map(list, groups), MAX_SCORED, limit),
        ).fetchall()
        scores.update(rows)

    ordered = sorted(weights, key=lambda term: counts[term])
    split = sum(total <= MAX_SCORED for total in accumulate(counts[term] for term in ordered))
    if rare := ordered[:split]:  # All passages that have one of these can be scored.
        score([rare], any_of=True)
    common = sorted(ordered[split:], key=lambda term: -weights[term])[:_MAX_COMMON]
    for size in range(len(common), 0, -1):
        threshold = sorted(scores.values(), reverse=True)[limit - 1] if len(scores) >= limit else 0.0
        if threshold >= (postgres.K1 + 1) * sum(weights[term] for term in common[:size]):
            break  # No passage with this many of the common words, or fewer, and no rare word can be among the best.
        score(list(combinations(common, size))[:_MAX_GROUPS], any_of=False)
    return sorted(scores, key=lambda found: -scores[found])[:limit]


def _read_totals(connection: postgres.Connection) -> dict[str, int]:
    rows = connection.execute("SELECT name, sum(count)::bigint FROM totals GROUP BY name").fetchall()
    return {name: count for name, count in rows if count > 0}


def _read_counts(connection: postgres.Connection, terms: Sequence[Term]) -> dict[int, int]:
    """Return in how many passages each term occurs, by dimension; terms that occur nowhere are left out."""
    query = "SELECT term, sum(passages)::bigint FROM statistics WHERE term = ANY(%s) GROUP BY term"
    rows = connection.execute(query, (list(map(postgres.hash_term, terms)),)).fetchall()
    return {term: count for term, count in rows if count > 0}


def _find_shared_ids(connection: postgres.Connection, ids: Sequence[str]) -> dict[str, str]:
    """Return the file that owns each id which several files use: the first by its path."""
    if not ids:
        return {}
    rows = connection.execute(
        f"SELECT p.record_id, min(f.path) FROM passages p JOIN files f ON f.id = p.id >> {postgres.FILE_SHIFT} "
        "WHERE p.record_id = ANY(%s) GROUP BY p.record_id HAVING count(DISTINCT f.path) > 1".encode(),
        (list(ids),),
    ).fetchall()
    return dict(rows)


def _to_found(row: Sequence[Any]) -> _Found:
    path, text, title, kind, first, last, *place, words, cosine, position = row
    entry = IndexEntry(path, text, title, kind, None if first is None else (first, last), *place)
    return _Found(entry, float(words), None if cosine is None else float(cosine), position)
