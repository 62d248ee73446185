"""Bring a collection in Postgres in step with files: ``suffice index PATH --to postgres://…``.

Only files whose content changed are read. Several workers may do this at the same time, over the same files or others: each
file is claimed by an advisory lock and written in one transaction, together with the change of the statistics. A file that
another worker holds is looked at again at the end. After a crash nothing is half-written.

The search indexes are built by the last worker that finishes, when all rows are there, which is several times faster than
filling them row by row; later changes go into them as they come.
"""

import hashlib
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from suffice.errors import InputError, SearchError
from suffice.models.embeddings.static import StaticEmbedder
from suffice.search.corpus.index import IndexEntry, extract_entry_terms, get_file_order, make_entries
from suffice.search.corpus.ranking import text_to_embed
from suffice.search.corpus.search import read_vectors
from suffice.search.corpus.sync import FileScan, IndexRequest, scan_files
from suffice.search.corpus.vectors import EmbeddingCache
from suffice.search.engines import postgres
from suffice.search.files.chunk import Document, UnreadableFile
from suffice.search.files.isolated import get_reader_version, read_documents
from suffice.search.files.walk import SkippedFile
from suffice.text.languages import ENGLISH

T = TypeVar("T")

_BATCH_FILES = 100  # Files that are written in one transaction.
_SAMPLE_PASSAGES = 1_000  # Passages whose mean length is used as that of the collection.
_WRITE_SIZE = 2_000  # Passages that are embedded and written at once.
# Advisory locks have two numbers: one for the collection, and one of these or the hash of a path.
_CREATING, _WORKING = 1, 2
# For the vector index, whose graph is built in memory: where it does not fit, the rest is built ten times slower.
_MAX_BUILD_MEGABYTES = 2048
_GRAPH_BYTES = 800  # A passage's share, beside its vector.


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What a collection holds now, and what this worker did."""

    passages: int
    files: int
    read: int
    removed: int
    skipped: tuple[SkippedFile, ...]


def ingest_files(
    address: postgres.PostgresAddress, request: IndexRequest, vectors: EmbeddingCache | None, *, rebuild: bool = False
) -> IngestResult:
    """Read new and changed files below the roots into the collection, and remove those that are no longer there.

    ``vectors`` embeds the passages; without it, their static vectors are stored. ``rebuild`` makes the collection anew.
    """
    scan = scan_files(request)
    if not scan.stamps:
        roots = ", ".join(request.roots)
        raise InputError(f"There is nothing to index in {roots}; name a folder or file that has text")
    with postgres.translate_errors(address), postgres.connect(address) as connection:
        worker = _IngestWorker(connection, address, request, scan, vectors)
        worker.open_collection(rebuild=rebuild)
        with worker.hold_lock(_WORKING, shared=True):
            worker.work()
        worker.finish()
        passages, files = worker.count()
    return IngestResult(passages, files, worker.read, worker.removed, (*scan.skipped, *worker.skipped))


@dataclass
class _IngestWorker:
    """Writes the changed files of one request."""

    _connection: postgres.Connection
    _address: postgres.PostgresAddress
    _request: IndexRequest
    _scan: FileScan
    _vectors: EmbeddingCache | None
    read: int = 0
    removed: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    _mean_length: float = 0.0
    # Of the files of one transaction: passages by language, and passages by term.
    _totals: Counter[str] = field(default_factory=Counter)
    _statistics: Counter[int] = field(default_factory=Counter)

    def open_collection(self, *, rebuild: bool) -> None:
        """Make the collection if it does not exist, or check that it was made for the same vectors."""
        connection, address = self._connection, self._address
        embedder = self._vectors.embedder if self._vectors else StaticEmbedder()
        with self.hold_lock(_CREATING):
            if rebuild:
                with self.hold_lock(_WORKING, wait=False) as has_lock:
                    if not has_lock:
                        busy = f"Another worker is indexing into {address.text}"
                        raise SearchError(f"{busy}; rebuild when it has finished")
                    postgres.drop_collection(connection, address)
            info = postgres.read_info(connection, address)
            if connection.execute("SELECT to_regclass('entries_vector')").fetchone() == (None,):
                postgres.require_pgvector(connection, address)
                postgres.require_working_vectors(address)  # Now, and not when all files are read.
            if info is None:
                postgres.create_collection(connection, address, embedder.name, embedder.dimension)
                postgres.set_search_path(connection, address)
                return
        if (info.embedder, info.dimension) != (embedder.name, embedder.dimension):
            same = "configure the same embedder (--vectors static for static)"
            hint = "leave out --vectors static" if self._vectors is None else same
            raise InputError(
                f"The collection {address.text} has vectors of {info.embedder} with {info.dimension} dimensions, not of "
                f"{embedder.name} with {embedder.dimension}; {hint}, or make it anew with --rebuild"
            )

    def work(self) -> None:
        known = dict(self._connection.execute("SELECT path, stamp FROM files").fetchall())
        roots = [Path(os.path.abspath(root)) for root in self._request.roots]
        deleted = [
            path for path in known if path not in self._scan.stamps and any(map(Path(path).is_relative_to, roots))
        ]
        files = list(self._scan.stamps)
        random.shuffle(files)  # Workers that start together meet less often.
        postponed: list[str] = []
        done = 0
        for batch in _batched(files, _BATCH_FILES):
            stamps = {file: stamp for file in batch if (stamp := self._stamp(file)) is not None}
            changed = {file: stamp for file, stamp in stamps.items() if known.get(file) != stamp}
            postponed += self._write_files(changed, wait=False)
            done += len(batch)
            self._request.progress("indexing", done, len(files))
        for file in postponed:  # Another worker had them; after a crash of that worker they are still to be done.
            if (stamp := self._stamp(file)) is not None:
                self._write_files({file: stamp}, wait=True)
        for paths in _batched(deleted, _BATCH_FILES):
            self._request.check_cancelled()
            with self._connection.transaction():
                self.removed += self._delete(self._claim(paths, wait=True))

    def _stamp(self, file: str) -> str | None:
        """Return the digest of a file. Times and inode numbers would differ on another machine."""
        self._request.check_cancelled()
        try:
            with open(file, "rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            self.skipped.append(SkippedFile(Path(file), f"cannot be opened ({error.strerror})"))
            return None
        return f"{digest}{get_reader_version(file)}"

    def _write_files(self, stamps: dict[str, str], *, wait: bool) -> list[str]:
        """Replace these files in one transaction; return those that another worker holds."""
        if not stamps:
            return []
        with self._connection.transaction():
            claimed = self._claim(list(stamps), wait=wait)
            # Another worker may have written some of them since the list was read.
            query = "SELECT path, stamp FROM files WHERE path = ANY(%s)"
            current = dict(self._connection.execute(query, (list(claimed),)).fetchall())
            todo = [file for file in claimed if current.get(file) != stamps[file]]
            self._delete([file for file in todo if file in current])
            documents = list(read_documents(list(map(Path, todo)), self._request.check_cancelled))
            self._fix_mean_length(documents)
            for file, document in zip(todo, documents, strict=True):
                self._write_file(file, stamps[file], document)
            self._copy("totals", self._totals.items())
            self._copy("statistics", self._statistics.items())
            self._totals.clear()
            self._statistics.clear()
        return [file for file in stamps if file not in claimed]

    def _claim(self, files: Sequence[str], *, wait: bool) -> list[str]:
        function = "pg_advisory_xact_lock" if wait else "pg_try_advisory_xact_lock"
        claimed = []
        for file in sorted(files):  # In one order, so that two waiting workers cannot block each other.
            key = _hash(self._address.schema), _hash(file)
            row = self._connection.execute(f"SELECT {function}(%s, %s)".encode(), key).fetchone()
            if wait or (row is not None and row[0]):
                claimed.append(file)
        return claimed

    def _write_file(self, file: str, stamp: str, document: Document | UnreadableFile) -> None:
        if isinstance(document, UnreadableFile):
            if file in self._scan.explicit_files:
                raise document
            chunks, why = [], str(document).removeprefix(file).strip(" ,")
            self.skipped.append(SkippedFile(Path(file), why))
        else:
            chunks, why = list(document.chunks), document.remark
            self.read += 1
        row = self._connection.execute(
            "INSERT INTO files (path, stamp, passages, why) VALUES (%s, %s, %s, %s) RETURNING id",
            (file, stamp, len(chunks), _clean(why)),
        ).fetchone()
        assert row is not None
        first = int(row[0]) << postgres.FILE_SHIFT
        order = get_file_order(file) - 2**63  # Postgres has no unsigned numbers.
        for number, entries in enumerate(_batched(make_entries(file, chunks), _WRITE_SIZE)):
            self._request.check_cancelled()
            offset = number * _WRITE_SIZE
            self._write_entries(entries, first + offset, order + offset)

    def _write_entries(self, entries: Sequence[IndexEntry], id: int, order: int) -> None:
        weights = [postgres.weigh_terms(extract_entry_terms(entry), self._mean_length) for entry in entries]
        for entry, weight in zip(entries, weights, strict=True):
            self._totals[entry.language] += 1
            self._statistics.update(weight.keys())
        self._copy("passages", (_make_row(entry, number) for number, entry in enumerate(entries, id)))
        packed = enumerate(zip(weights, self._make_vectors(entries), strict=True))
        rows = (
            (id + i, order + i, list(weight), postgres.format_weights(weight), vector) for i, (weight, vector) in packed
        )
        self._copy("entries", rows)

    def _make_vectors(self, entries: Sequence[IndexEntry]) -> list[str | None]:
        """Return the vectors of passages; ``None`` where the embedder does not know the language."""
        is_english_only = self._vectors is None or self._vectors.is_english_only
        known = [entry for entry in entries if entry.language == ENGLISH or not is_english_only]
        if self._vectors is None:
            rows = read_vectors(known)
        else:
            texts = [text_to_embed(entry) for entry in known]
            rows = self._vectors.embed(texts, lambda done: self._request.check_cancelled())
        vectors = map(postgres.format_vector, rows)
        return [next(vectors) if entry.language == ENGLISH or not is_english_only else None for entry in entries]

    def _fix_mean_length(self, documents: Sequence[Document | UnreadableFile]) -> None:
        """Set the mean length of a passage, which the first worker fixes by a sample of its first files."""
        if self._mean_length:
            return
        read = [document for document in documents if isinstance(document, Document) and document.chunks]
        if not read:
            return
        each = max(1, _SAMPLE_PASSAGES // len(read))
        lengths = [
            len(extract_entry_terms(entry)) for document in read for entry in make_entries("", document.chunks[:each])
        ]
        mean = sum(lengths) / len(lengths)
        self._connection.execute("UPDATE collection SET mean_length = %s WHERE mean_length IS NULL", (mean,))
        row = self._connection.execute("SELECT mean_length FROM collection").fetchone()
        assert row is not None
        self._mean_length = float(row[0])

    def _delete(self, paths: Sequence[str]) -> int:
        """Delete files that this worker has claimed, and take them out of the statistics; return their number."""
        statement = "DELETE FROM files WHERE path = ANY(%s) RETURNING id"
        rows = self._connection.execute(statement, (list(paths),)).fetchall()
        for (id,) in rows:
            ends = (id << postgres.FILE_SHIFT, (id + 1) << postgres.FILE_SHIFT)
            self._connection.execute(
                "INSERT INTO statistics SELECT term, -count(*) FROM entries, unnest(terms) AS term "
                "WHERE id >= %s AND id < %s GROUP BY term",
                ends,
            )
            self._connection.execute("DELETE FROM entries WHERE id >= %s AND id < %s", ends)
            self._connection.execute(
                "WITH gone AS (DELETE FROM passages WHERE id >= %s AND id < %s RETURNING language) "
                "INSERT INTO totals SELECT language, -count(*) FROM gone GROUP BY language",
                ends,
            )
        return len(rows)

    def finish(self) -> None:
        """Build the search indexes and compact the statistics, unless other workers are still writing."""
        connection, request = self._connection, self._request
        with self.hold_lock(_WORKING, wait=False) as has_lock:
            if not has_lock:
                return
            with connection.transaction():
                for table, key, value in (("statistics", "term", "passages"), ("totals", "name", "count")):
                    connection.execute(
                        f"WITH moved AS (DELETE FROM {table} RETURNING {key}, {value}) INSERT INTO {table} "
                        f"SELECT {key}, sum({value}) FROM moved GROUP BY {key} HAVING sum({value}) <> 0".encode()
                    )
            request.progress("building the search indexes", 0, 2)
            self._set_build_memory()
            connection.execute("CREATE INDEX IF NOT EXISTS entries_terms ON entries USING gin (terms)")
            request.check_cancelled()
            request.progress("building the search indexes", 1, 2)
            self._build_vector_index()
            connection.execute("SELECT gin_clean_pending_list('entries_terms')")
            for table in ("files", "passages", "entries", "statistics", "totals"):
                connection.execute(f"VACUUM (ANALYZE) {table}".encode())
            request.progress("building the search indexes", 2, 2)

    def _set_build_memory(self) -> None:
        row = self._connection.execute("SELECT count(*), (SELECT dimension FROM collection) FROM entries").fetchone()
        passages, dimension = row if row is not None else (0, 0)
        megabytes = min(_MAX_BUILD_MEGABYTES, 64 + passages * (2 * dimension + _GRAPH_BYTES) // 1_000_000)
        self._connection.execute(f"SET maintenance_work_mem = '{megabytes}MB'".encode())

    def _build_vector_index(self) -> None:
        statement = b"CREATE INDEX IF NOT EXISTS entries_vector ON entries USING hnsw (vector halfvec_cosine_ops)"
        try:
            self._connection.execute(statement)
        except (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory):
            # Parallel workers share memory through /dev/shm, which is small in many containers.
            self._connection.execute("SET max_parallel_maintenance_workers = 0")
            self._connection.execute(statement)

    @contextmanager
    def hold_lock(self, key: int, *, shared: bool = False, wait: bool = True) -> Iterator[bool]:
        """Hold an advisory lock of the collection; ``False`` if it is taken and ``wait`` is not set."""
        suffix = "_shared" if shared else ""
        keys = (_hash(self._address.schema), key)
        prefix = "pg_advisory_lock" if wait else "pg_try_advisory_lock"
        row = self._connection.execute(f"SELECT {prefix}{suffix}(%s, %s)".encode(), keys).fetchone()
        has_lock = wait or bool(row and row[0])
        try:
            yield has_lock
        finally:
            if has_lock:
                with suppress(psycopg.OperationalError):  # A connection that is lost holds no lock.
                    self._connection.execute(f"SELECT pg_advisory_unlock{suffix}(%s, %s)".encode(), keys)

    def count(self) -> tuple[int, int]:
        """Return the number of passages and of files that have some."""
        query = "SELECT coalesce(sum(passages), 0), count(*) FILTER (WHERE passages > 0) FROM files"
        row = self._connection.execute(query).fetchone()
        return (int(row[0]), int(row[1])) if row is not None else (0, 0)

    def _copy(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor().copy(f"COPY {table} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)


def _make_row(entry: IndexEntry, id: int) -> tuple[Any, ...]:
    first, last = entry.lines or (None, None)
    texts = (_clean(entry.text), _clean(entry.title), entry.kind)
    record, record_id = _clean(entry.record), _clean(entry.id)
    return (id, *texts, first, last, entry.page, record, record_id, entry.part, _clean(entry.section), entry.language)


def _clean(text: Any) -> Any:
    """Return the text without zero bytes, which Postgres cannot store."""
    return text.replace("\x00", "\ufffd") if isinstance(text, str) else text


def _batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    rest = iter(items)
    while batch := tuple(islice(rest, size)):
        yield batch


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big", signed=True)
