"""The word index: entries in, the best by BM25 out. In a folder, or in memory where there is none.

It knows tantivy and nothing of files on disk, of what changed since, or of vectors. What tantivy cannot make sense of
is ``Damaged``; whether to rebuild is the caller's decision.
"""

import hashlib
import os
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from suffice.search.files.piece import DocumentChunk
from suffice.storage.corruption import CorruptCache, translate_tantivy_errors
from suffice.text.entities import get_analyzer
from suffice.text.tokens import content_words, segment_unspaced

if TYPE_CHECKING:
    import tantivy

# More threads than this only make smaller segments; 64 MB each hold about 50,000 passages before a segment is written.
_MAX_THREADS = 4
_HEAP_PER_THREAD = 64_000_000
_OPEN_ATTEMPTS = 5
# Beyond so many passages of one score, which of them are seen may change when the index is made anew.
_MAX_TIES = 10_000


class IndexEntry(msgspec.Struct, array_like=True, frozen=True):
    """A passage as the index keeps it. ``part`` counts the pieces of one file that share a location, from 1."""

    file: str
    text: str
    title: str
    kind: str
    lines: tuple[int, int] | None
    page: int | None
    record: str | None
    id: str | None
    part: int = 1


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(IndexEntry).decode


class BM25Index:
    """An index as it was when it was opened: what is written later, here or elsewhere, shows after ``refresh``."""

    def __init__(self, folder: Path | None) -> None:
        import tantivy

        self._schema = _build_schema()
        self._analyzer = get_analyzer()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        with translate_tantivy_errors():
            self._index = tantivy.Index(self._schema, None if folder is None else str(folder))
        self._index.register_tokenizer("words", self._analyzer)
        self._searcher = self._open_searcher()

    @property
    def size(self) -> int:
        return self._searcher.num_docs

    def refresh(self) -> None:
        with translate_tantivy_errors():
            self._index.reload()
        self._searcher = self._open_searcher()

    @contextmanager
    def open_writer(self) -> Iterator["IndexWriter"]:
        """A writer; what it has not committed when this ends is lost. One at a time for a folder."""
        threads = min(os.cpu_count() or 1, _MAX_THREADS)
        with translate_tantivy_errors():
            writer = self._index.writer(_HEAP_PER_THREAD * threads, threads)
        try:
            yield IndexWriter(writer)
        except BaseException:
            # Half-written segments would stay on a disk that may just have run full.
            with suppress(CorruptCache, OSError), translate_tantivy_errors():
                writer.rollback()
                writer.garbage_collect_files()
            raise
        finally:
            # Also gives up the folder's lock, which would otherwise live as long as the last reference does.
            with translate_tantivy_errors():
                writer.wait_merging_threads()

    def extract_terms(self, text: str) -> list[str]:
        """The distinct words of a text as the index spells them; words that carry no meaning only where there are no others."""
        telling = " ".join(content_words(text))
        return list(dict.fromkeys(self._analyzer.analyze(_normalize(telling or text))))

    def search(self, terms: Sequence[str], limit: int) -> list[tuple[float, "tantivy.DocAddress"]]:
        """BM25 over any of the terms, best first; equals in an order that survives a rebuild."""
        import tantivy

        should = tantivy.Occur.Should
        parts = [(should, tantivy.Query.term_query(self._schema, "words", term, "freq")) for term in terms]
        query = tantivy.Query.boolean_query(parts)
        width = limit + 1
        with translate_tantivy_errors():
            hits = self._searcher.search(query, width, count=False).hits
            # Which equals come first depends on how the segments lie: where they straddle the limit, see them all.
            while len(hits) == width < _MAX_TIES and hits[-1][0] == hits[limit - 1][0]:
                width *= 10
                hits = self._searcher.search(query, width, count=False).hits
            orders = self._searcher.fast_field_values("order", [address for _, address in hits])
        ranked = sorted(zip(orders, hits, strict=True), key=lambda item: (-item[1][0], item[0]))
        return [hit for _, hit in ranked[:limit]]

    def list_addresses(self) -> list["tantivy.DocAddress"]:
        """Every entry, in an order that survives a rebuild."""
        import tantivy

        with translate_tantivy_errors():
            hits = self._searcher.search(
                tantivy.Query.all_query(), max(1, self.size), False, order_by_field="order", order=tantivy.Order.Asc
            ).hits
        return [address for _, address in hits]

    def get_entry(self, address: "tantivy.DocAddress") -> IndexEntry:
        with translate_tantivy_errors():
            found: IndexEntry = _decode(self._searcher.doc(address).get_first("entry") or b"")
        return found

    def find_files_with_id(self, id: str) -> list[str]:
        """The files that hold a record of this id; one, but for collections that overlap."""
        import tantivy

        if self._searcher.doc_freq("id", id) < 2:
            return []
        query = tantivy.Query.term_query(self._schema, "id", id, "basic")
        with translate_tantivy_errors():
            return [self.get_entry(address).file for _, address in self._searcher.search(query, 1000, count=False).hits]

    def _open_searcher(self) -> "tantivy.Searcher":
        # Another process may merge segments, and remove the old ones, between our reading their list and opening them.
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
    """Adds and removes the entries of whole files."""

    def __init__(self, writer: "tantivy.IndexWriter") -> None:
        import tantivy

        self._writer = writer
        self._new_document = tantivy.Document

    def remove(self, file: str) -> None:
        with translate_tantivy_errors():
            self._writer.delete_documents_by_term("file", file)

    def add(self, file: str, pieces: Sequence[DocumentChunk], check: Callable[[], None]) -> None:
        """``check`` is called now and then and may raise to end the work."""
        order = int.from_bytes(hashlib.sha256(file.encode()).digest()[:5], "big") << 24
        with translate_tantivy_errors():
            for number, entry in enumerate(_make_entries(file, pieces)):
                if number % 1000 == 0:
                    check()
                self._writer.add_document(self._make_document(entry, order | number))

    def commit(self) -> None:
        with translate_tantivy_errors():
            self._writer.commit()

    def _make_document(self, entry: IndexEntry, order: int) -> "tantivy.Document":
        try:
            data = _encode(entry)
        except UnicodeEncodeError:
            entry = _replace_surrogates(entry)
            data = _encode(entry)
        document = self._new_document()
        document.add_text("words", _normalize(f"{entry.title} {entry.text}"))
        document.add_text("file", entry.file)
        if entry.id is not None:
            document.add_text("id", entry.id)
        document.add_unsigned("order", order)
        document.add_bytes("entry", data)
        return document


def _make_entries(file: str, pieces: Sequence[DocumentChunk]) -> Iterator[IndexEntry]:
    seen: dict[tuple[Any, ...], int] = {}
    for piece in pieces:
        part = 1
        if piece.id is None:
            where = (piece.lines, piece.page, piece.record)
            part = seen[where] = seen.get(where, 0) + 1
        yield IndexEntry(
            file, piece.text, piece.title, piece.kind, piece.lines, piece.page, piece.record, piece.id, part
        )


def _replace_surrogates(entry: IndexEntry) -> IndexEntry:
    """Half a surrogate pair, which JSON can spell, has no UTF-8: it becomes a question mark."""
    fields = msgspec.structs.asdict(entry).items()
    clean = {name: value.encode("utf-8", "replace").decode() for name, value in fields if isinstance(value, str)}
    return msgspec.structs.replace(entry, **clean)


def _normalize(text: str) -> str:
    """One spelling for what looks the same (``é`` composed or not, full-width letters); unspaced scripts in pairs."""
    return text if text.isascii() else segment_unspaced(unicodedata.normalize("NFKC", text))


def _build_schema() -> "tantivy.Schema":
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("words", tokenizer_name="words", index_option="freq")
    builder.add_text_field("file", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("id", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("order", fast=True)
    builder.add_bytes_field("entry", stored=True)
    return builder.build()
