"""Search in an index that Elasticsearch or OpenSearch already holds, through its HTTP API.

    elasticsearch://USER:PASSWORD@HOST:9200/INDEX?text=body&title=headline&url=link

The parameters say which field is what. Candidates are the best by the engine's own BM25. They are ranked like the passages of
the local index (``corpus.ranking``): their vectors are made here, and only for the best of them.
"""

import asyncio
import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

from suffice.errors import InputError
from suffice.search.corpus.index import IndexEntry, extract_query_terms
from suffice.search.corpus.ranking import Candidate, drop_near_duplicates, rank_candidates
from suffice.search.corpus.search import MAX_CANDIDATES
from suffice.search.corpus.vectors import EmbeddingCache, VectorSearch
from suffice.search.engines.address import remove_secrets, split_address
from suffice.search.web.endpoint import get_by_path
from suffice.search.web.http import ProviderRequest, fetch_json
from suffice.search.web.provider import clean_text
from suffice.text.chunks import split_text
from suffice.text.languages import ENGLISH, detect_language, stem_text
from suffice.types import Passage, Place

_FIELDS = ("text", "title", "url", "page")
_PARAMETERS = (*_FIELDS, "scheme", "api_key")
# Of a long document, the parts with the most of the query's words become passages.
_PARTS_PER_DOCUMENT = 2
_MAX_DOCUMENT_CHARS = 200_000
_INDEX_NAME = re.compile(r"[^\s\"*<>|\\/?#]+")


@dataclass(frozen=True)
class ElasticIndex:
    """An index, the fields that are read from it, and how the engine is asked."""

    service: str
    """The engine and the address without secrets, for messages."""
    base_url: str
    index: str
    fields: Mapping[str, str]
    authorization: str = ""
    key_setting: str = ""


_Hit = tuple[str, Mapping[str, Any], float]
"""A document that the engine found: its id, its fields and its BM25 score."""


def parse_elastic(text: str, environment: Mapping[str, str]) -> ElasticIndex:
    """Parse the address of an index. An API key may also be in ELASTICSEARCH_API_KEY or OPENSEARCH_API_KEY."""
    shown, engine = remove_secrets(text), text.partition("://")[0].lower()
    netloc, path, parameters = split_address(text)
    if len(path) != 1 or not _INDEX_NAME.fullmatch(path[0]):
        raise InputError(f"{shown} does not name one index; write {engine}://HOST:9200/INDEX?text=FIELD")
    if unknown := sorted(parameters.keys() - set(_PARAMETERS)):
        raise InputError(f"{shown} has the unknown parameter {unknown[0]!r}; choose from: {', '.join(_PARAMETERS)}")
    scheme = parameters.get("scheme", "https")
    if scheme not in ("http", "https"):
        raise InputError(f"{shown} has scheme={scheme}; it must be http or https")
    user_info, _, host = netloc.rpartition("@")
    key_setting = f"{engine.upper()}_API_KEY"
    key = parameters.get("api_key") or environment.get(key_setting, "").strip()
    authorization = f"ApiKey {key}" if key else ""
    if user_info:
        pair = unquote(user_info) if ":" in user_info else f"{unquote(user_info)}:"
        authorization = "Basic " + base64.b64encode(pair.encode()).decode()
        key_setting = ""
    fields = {"text": "text"} | {name: parameters[name] for name in _FIELDS if parameters.get(name)}
    base_url = f"{scheme}://{host or 'localhost:9200'}"
    service = f"{'OpenSearch' if engine == 'opensearch' else 'Elasticsearch'} at {shown}"
    return ElasticIndex(service, base_url, path[0], fields, authorization, key_setting)


async def open_elastic(
    text: str, alpha: float, vectors: EmbeddingCache, environment: Mapping[str, str]
) -> "ElasticSearch":
    """Check that the index exists and has the named fields."""
    index, shown = parse_elastic(text, environment), remove_secrets(text)
    known = await fetch_json(index.service, _make_request(index, "_mapping"), _read_fields)
    for name, field in index.fields.items():
        if field not in known:
            some = ", ".join(sorted(known)[:10]) or "none"
            raise InputError(
                f"The index {shown} has no field {field!r} for {name}; it has: {some}; name the field with ?{name}=FIELD"
            )
    return ElasticSearch(index, alpha, vectors)


class ElasticSearch(VectorSearch):
    def __init__(self, index: ElasticIndex, alpha: float, vectors: EmbeddingCache) -> None:
        super().__init__(alpha, vectors)
        self._index = index

    async def _find_passages(self, text: str, k: int) -> list[Passage]:
        fields = [self._index.fields[name] for name in ("text", "title") if name in self._index.fields]
        body = {
            "size": max(MAX_CANDIDATES, k),
            "_source": list(self._index.fields.values()),
            "query": {"multi_match": {"query": text, "fields": fields}},
        }
        hits = await fetch_json(self._index.service, _make_request(self._index, "_search", body), _read_hits)
        return await asyncio.to_thread(self._rank, text, hits, k)

    def _rank(self, text: str, hits: Sequence[_Hit], k: int) -> list[Passage]:
        best = max((score for _, _, score in hits), default=0.0) or 1.0
        passages: dict[str, Passage] = {}
        candidates = []
        for key, source, score in hits:
            for passage in self._to_passages(text, key, source):
                passages[passage.id] = passage
                entry = IndexEntry(self._index.index, passage.text, passage.title, "web", None, None, None, passage.id)
                language = detect_language(passage.text) or ENGLISH
                candidates.append(Candidate(entry, score / best, self.knows(language)))
        if not candidates:
            return []
        if self._alpha == 1:
            ranked = [(one.words, one.entry) for one in candidates]
        else:
            ranked = rank_candidates(text, candidates, self._alpha, partial(self.measure, text))
        kept = drop_near_duplicates(ranked, k)
        return [replace(passages[str(entry.id)], score=score) for score, entry in kept]

    def _to_passages(self, query: str, key: str, source: Mapping[str, Any]) -> list[Passage]:
        """Return a document as passages: whole, or the parts of a long one that have the most words of the query."""
        fields = self._index.fields
        text = clean_text(_read_text(source, fields["text"])[:_MAX_DOCUMENT_CHARS])
        if not text:
            return []
        title = clean_text(_read_text(source, fields.get("title", ""))) or f"{self._index.index} {key}"
        url = _read_text(source, fields.get("url", "")).strip()
        page = _read_text(source, fields.get("page", ""))
        if not url.startswith(("http://", "https://")):
            url = self._index.index
        parts = split_text(text)
        numbered = list(enumerate(parts, 1))
        if len(parts) > _PARTS_PER_DOCUMENT:
            wanted = {stem for _, stem in extract_query_terms(query, [ENGLISH])}
            numbered.sort(key=lambda part: -len(wanted.intersection(stem_text(part[1]))))
        place = Place(url, page=int(page)) if page.isdigit() else Place(url)
        if place == Place(self._index.index):
            place = Place(self._index.index, record=key)
        id = f"{self._index.index}#{key}"
        return [
            Passage(f"{id}#{number}" if len(parts) > 1 else id, part, title, place, "web")
            for number, part in numbered[:_PARTS_PER_DOCUMENT]
        ]


def _make_request(index: ElasticIndex, path: str, body: Mapping[str, Any] | None = None) -> ProviderRequest:
    return ProviderRequest(
        f"{index.base_url}/{quote(index.index, safe=',')}/{path}",
        headers={"Authorization": index.authorization} if index.authorization else {},
        body=body,
        key_setting=index.key_setting,
        secret=index.authorization.partition(" ")[2],
    )


def _read_hits(answer: Any) -> list[_Hit]:
    hits = answer["hits"]["hits"]
    return [(str(hit["_id"]), hit.get("_source") or {}, float(hit.get("_score") or 0.0)) for hit in hits]


def _read_fields(answer: Any) -> set[str]:
    """Return the fields of all indexes in an answer to ``_mapping``, with dots between levels."""

    def list_fields(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
        for name, field in mapping.get("properties", {}).items():
            yield prefix + name
            yield from list_fields(field, f"{prefix}{name}.")

    return {field for index in answer.values() for field in list_fields(index["mappings"])}


def _read_text(source: Mapping[str, Any], field: str) -> str:
    """Return the text of a field, which may be nested or a list."""
    value = source[field] if source.get(field) is not None else get_by_path(source, field)
    values = value if isinstance(value, list) else [value]
    return "\n".join(str(part) for part in values if isinstance(part, str | int | float))
