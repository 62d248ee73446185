"""A word index over passages, ranked by BM25: a tantivy index in a folder or in memory.

Each passage is stored with its static vector and its language. Its words go to the field of that language, where they are
stemmed as that language; a query is stemmed in every language the index holds. So a question is found in its own language
without guessing which one it is in.

An index that tantivy cannot read raises ``CorruptCache``; the caller decides whether to rebuild it.
"""

import hashlib
import os
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import tantivy

from suffice.models.embeddings.static import embed_static
from suffice.search.files.chunk import DocumentChunk
from suffice.storage.corruption import CorruptCache, translate_tantivy_errors
from suffice.text.languages import (
    ENGLISH,
    STEMMED_LANGUAGES,
    UNSPACED,
    detect_language,
    get_analyzer,
    is_stop_word,
    stem_text,
)
from suffice.text.plain import replace_surrogates
from suffice.text.tokens import expand_identifiers, expand_numbers, segment_unspaced, tokenize

# More threads only make smaller segments; 64 MB for each hold about 50,000 passages before a segment is written.
_MAX_THREADS = 4
_HEAP_PER_THREAD = 64_000_000
_OPEN_ATTEMPTS = 5
# Beyond so many passages of equal score, which of them are returned may change when the index is rebuilt.
_MAX_TIES = 10_000
_MAX_DECODED = 4_096  # Entries that stay decoded: a search looks at hundreds, and most come back with the next one.
_BATCH_SIZE = 512  # Chunks of a file made ready at once.
_FIELD_PREFIX = "words_"
# The language of a file is guessed from its first chunks; a chunk that does not tell has the language of its file.
_SAMPLE_CHUNKS = 20

Term = tuple[str, str]
"""A field of the index and a stem in it."""


class IndexEntry(msgspec.Struct, array_like=True, frozen=True):
    """A passage as the index stores it. ``part`` counts the chunks of a file that share a location, from 1.

    The fields are stored by position: do not reorder them.
    """

    file: str
    text: str
    title: str
    kind: str
    lines: tuple[int, int] | None
    page: int | None
    record: str | None
    id: str | None
    part: int = 1
    section: str | None = None
    language: str = ENGLISH
    vector: bytes = b""
    """The static vector: int8, to be scaled to length one."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(IndexEntry).decode


class BM25Index:
    """A snapshot of the index at the time of opening; ``refresh`` shows what was written later."""

    def __init__(self, folder: Path | None) -> None:
        self._schema = _build_schema()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        with translate_tantivy_errors():
            self._index = tantivy.Index(self._schema, None if folder is None else str(folder))
        for language in STEMMED_LANGUAGES:
            self._index.register_tokenizer(language, get_analyzer(language))
        self._use(self._open_searcher())

    @property
    def size(self) -> int:
        """The number of passages."""
        return self._searcher.num_docs

    def refresh(self) -> None:
        with translate_tantivy_errors():
            self._index.reload()
        self._use(self._open_searcher())

    @contextmanager
    def open_writer(self) -> Iterator["IndexWriter"]:
        """Open a writer; uncommitted changes are lost at the end. Only one writer may be open for a folder."""
        threads = min(os.cpu_count() or 1, _MAX_THREADS)
        with translate_tantivy_errors():
            writer = self._index.writer(_HEAP_PER_THREAD * threads, threads)
        try:
            yield IndexWriter(writer)
        except BaseException:
            # Remove half-written segments: the disk may be full.
            with suppress(CorruptCache, OSError), translate_tantivy_errors():
                writer.rollback()
                writer.garbage_collect_files()
            raise
        finally:
            # This also releases the lock of the folder, which otherwise lives as long as the last reference.
            with translate_tantivy_errors():
                writer.wait_merging_threads()

    def count_languages(self) -> dict[str, int]:
        """Return how many passages there are of each language."""
        counts = {
            language: self._searcher.doc_freq("language", language) for language in (*STEMMED_LANGUAGES, UNSPACED)
        }
        return {language: count for language, count in counts.items() if count}

    def extract_terms(self, text: str) -> list[Term]:
        """Return the distinct terms of a query, in every language that the index holds."""
        return extract_query_terms(text, self.count_languages())

    def search(self, terms: Sequence[Term], limit: int) -> list[tuple[float, tantivy.DocAddress]]:
        """Rank the passages with any of the terms by BM25, best first; the order of equals does not change on a rebuild."""
        should = tantivy.Occur.Should
        parts = [(should, tantivy.Query.term_query(self._schema, field, stem, "freq")) for field, stem in terms]
        query = tantivy.Query.boolean_query(parts)
        width = limit + 1
        with translate_tantivy_errors():
            hits = self._searcher.search(query, width, count=False).hits
            # Which of several equals tantivy returns depends on its segments: if they cross the limit, fetch them all.
            while len(hits) == width < _MAX_TIES and hits[-1][0] == hits[limit - 1][0]:
                width *= 10
                hits = self._searcher.search(query, width, count=False).hits
            orders = self._searcher.fast_field_values("order", [address for _, address in hits])
        ranked = sorted(zip(orders, hits, strict=True), key=lambda item: (-item[1][0], item[0]))
        return [hit for _, hit in ranked[:limit]]

    def list_addresses(self, file: str | None = None) -> list[tantivy.DocAddress]:
        """Return the addresses of all entries, or of those of a file, in an order that does not change on a rebuild."""
        query = tantivy.Query.all_query()
        if file is not None:
            query = tantivy.Query.term_query(self._schema, "file", file, "basic")
        with translate_tantivy_errors():
            hits = self._searcher.search(
                query, max(1, self.size), False, order_by_field="order", order=tantivy.Order.Asc
            ).hits
        return [address for _, address in hits]

    def get_entry(self, address: tantivy.DocAddress) -> IndexEntry:
        return self._decode_entry(address.segment_ord, address.doc)

    def _use(self, searcher: tantivy.Searcher) -> None:
        @lru_cache(maxsize=_MAX_DECODED)
        def decode_entry(segment: int, number: int) -> IndexEntry:
            with translate_tantivy_errors():
                found: IndexEntry = _decode(searcher.doc(tantivy.DocAddress(segment, number)).get_first("entry") or b"")
            return found

        self._searcher, self._decode_entry = searcher, decode_entry

    def find_files_with_id(self, id: str) -> list[str]:
        """Return the files with a record of this id, if there are several."""
        if self._searcher.doc_freq("id", id) < 2:
            return []
        query = tantivy.Query.term_query(self._schema, "id", id, "basic")
        with translate_tantivy_errors():
            return [self.get_entry(address).file for _, address in self._searcher.search(query, 1000, count=False).hits]

    def _open_searcher(self) -> tantivy.Searcher:
        # Another process may merge segments and remove the old ones after their list was read here.
        for attempt in range(_OPEN_ATTEMPTS):
            try:
                with translate_tantivy_errors():
                    return self._index.searcher()
            except CorruptCache:
                if attempt == _OPEN_ATTEMPTS - 1:
                    raise
                time.sleep(0.05 * 2**attempt)
                with translate_tantivy_errors():
                    self._index.reload()
        raise AssertionError("unreachable")


class IndexWriter:
    def __init__(self, writer: tantivy.IndexWriter) -> None:
        self._writer = writer

    def remove(self, file: str) -> None:
        with translate_tantivy_errors():
            self._writer.delete_documents_by_term("file", file)

    def add(self, file: str, chunks: Sequence[DocumentChunk], check_cancelled: Callable[[], None]) -> None:
        """Add the chunks of a file. ``check_cancelled`` is called now and then and may raise to stop."""
        order = get_file_order(file)
        with translate_tantivy_errors():
            for number, entry in enumerate(make_entries(file, chunks)):
                if number % 1000 == 0:
                    check_cancelled()
                document = tantivy.Document()
                document.add_text(name_field(entry.language), _normalize(f"{entry.title} {entry.text}"))
                document.add_text("language", entry.language)
                document.add_text("file", entry.file)
                if entry.id is not None:
                    document.add_text("id", entry.id)
                document.add_unsigned("order", order | number)
                document.add_bytes("entry", _encode(entry))
                self._writer.add_document(document)

    def commit(self) -> None:
        with translate_tantivy_errors():
            self._writer.commit()


def make_entries(file: str, chunks: Sequence[DocumentChunk]) -> Iterator[IndexEntry]:
    """Yield the entries of a file's chunks. Lone surrogates, which JSON allows but UTF-8 does not, are replaced."""
    counts: dict[tuple[Any, ...], int] = {}
    file_language = detect_language(" ".join(chunk.text[:200] for chunk in chunks[:_SAMPLE_CHUNKS])) or ENGLISH
    for start in range(0, len(chunks), _BATCH_SIZE):
        batch = chunks[start : start + _BATCH_SIZE]
        vectors = _embed([f"{chunk.title}. {chunk.text}" for chunk in batch])
        for chunk, vector in zip(batch, vectors, strict=True):
            part = 1
            if chunk.id is None:
                location = (chunk.lines, chunk.page, chunk.record, chunk.section)
                part = counts[location] = counts.get(location, 0) + 1
            language = detect_language(chunk.text) or file_language
            place = (chunk.lines, chunk.page, chunk.record, chunk.id)
            fields = (chunk.text, chunk.title, chunk.kind, *place, part, chunk.section, language, vector)
            clean: list[Any] = [replace_surrogates(field) if isinstance(field, str) else field for field in fields]
            yield IndexEntry(file, *clean)


def _embed(texts: list[str]) -> list[bytes]:
    """Return static vectors as int8, each scaled to use the whole range."""
    vectors = embed_static(list(map(replace_surrogates, texts)))
    peaks = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-9)
    return [row.tobytes() for row in np.round(vectors / peaks * 127).astype(np.int8)]


def get_file_order(file: str) -> int:
    """Return the ``order`` of a file's first entry; entries of equal score are ranked by it, also after a rebuild."""
    return int.from_bytes(hashlib.sha256(file.encode()).digest()[:5], "big") << 24


def extract_entry_terms(entry: IndexEntry) -> list[Term]:
    """Return the terms of an entry, each as often as it occurs."""
    field = name_field(entry.language)
    stems = stem_text(_normalize(f"{entry.title} {entry.text}"), field.removeprefix(_FIELD_PREFIX))
    return [(field, stem) for stem in stems]


def extract_query_terms(text: str, languages: Iterable[str]) -> list[Term]:
    """Return the distinct terms of a query in these languages; stop words only if there are no other words."""
    text = _normalize(text)
    terms: dict[Term, None] = {}
    # Scripts without spaces have no stems; they are in the English field, with the names and numbers among them.
    fields = dict.fromkeys(ENGLISH if found == UNSPACED else found for found in languages)
    for language in fields or (ENGLISH,):
        words = [
            one for one in tokenize(text) if not is_stop_word(one, language) and (len(one) > 1 or not "a" <= one <= "z")
        ]
        stems = stem_text(" ".join(words) or text, language)
        terms |= dict.fromkeys((name_field(language), stem) for stem in stems)
    return list(terms)


def _normalize(text: str) -> str:
    """Return the text in NFKC, unspaced scripts cut into pairs, parts of identifiers and whole versions and dates added."""
    text = text if text.isascii() else segment_unspaced(unicodedata.normalize("NFKC", text))
    return expand_identifiers(expand_numbers(text))


def name_field(language: str) -> str:
    """Return the field of a language; scripts without spaces share the English one."""
    return f"{_FIELD_PREFIX}{ENGLISH if language == UNSPACED else language}"


def _build_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for language in STEMMED_LANGUAGES:
        builder.add_text_field(name_field(language), tokenizer_name=language, index_option="freq")
    builder.add_text_field("language", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("file", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("id", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("order", fast=True)
    builder.add_bytes_field("entry", stored=True)
    return builder.build()
