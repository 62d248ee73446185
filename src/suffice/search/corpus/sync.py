"""Keep an index in step with its files, reading only what changed.

    the folder of an index:  version   manifest   tantivy/       (and a lock file beside the folder)

The manifest says which files the index holds. A row without a stamp is pending: it was saved before the file's entries were
written, so the index may or may not hold them. Entries are committed before the manifest records them, and a file is removed
before it is added. After a crash at any point the next update completes the work, also for files that were deleted in the
meantime, without duplicate passages. Readers take no lock. If the folder cannot be used, the index is built in memory.
"""

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

import msgspec
from filelock import FileLock, Timeout

from suffice.errors import SearchError
from suffice.search.corpus.index import BM25Index, IndexWriter
from suffice.search.files.chunk import Document, UnreadableFile
from suffice.search.files.isolated import get_reader_version, read_documents, read_isolated_text
from suffice.search.files.walk import SkippedFile, list_files
from suffice.storage.corruption import CorruptCache

# Raise it whenever the same files would give other entries: a changed schema, analyzer, static table, reader or chunker.
INDEX_VERSION = 20
# Commit at whichever comes first; a crash loses the work since the last commit. A commit takes about 50 ms.
_COMMIT_EVERY_PASSAGES = 50_000
_COMMIT_EVERY_SECONDS = 20.0
# The first indexing of a large folder by another process takes minutes.
_LOCK_TIMEOUT_SECONDS = 300

STDIN = "-"

_shared_indexes: WeakValueDictionary[tuple[str, bytes], BM25Index] = WeakValueDictionary()
_shared_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What the index should contain, and the callbacks of the caller. ``check_cancelled`` may raise to stop."""

    roots: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    stdin_text: str | None
    notify: Callable[[str], None]
    progress: Callable[[str, int, int], None]
    check_cancelled: Callable[[], None]


class ManifestRow(msgspec.Struct, array_like=True, frozen=True):
    """A file as it was read. ``why`` says why it, or a part of it, could not be read; it is empty otherwise."""

    stamp: str = ""
    passages: int = 0
    why: str = ""


Manifest = dict[str, ManifestRow]
"""The rows by absolute path."""


@dataclass(frozen=True, slots=True)
class CorpusIndex:
    """An index that is in step with its files, and those files as absolute paths in the order of the listing."""

    index: BM25Index
    files: tuple[str, ...]
    skipped: tuple[SkippedFile, ...]
    partly_read: tuple[SkippedFile, ...] = ()
    folder: Path | None = None

    def invalidate(self) -> None:
        """Mark the index as corrupt, so that the next opening rebuilds it."""
        if self.folder is not None:
            with suppress(OSError):
                (self.folder / "version").unlink()


@dataclass(slots=True)
class FileScan:
    """The files as they are now: a stamp by absolute path, in the order of the listing."""

    stamps: dict[str, str]
    skipped: list[SkippedFile]
    explicit_files: frozenset[str]


def open_index(request: IndexRequest, cache_dir: Path | None) -> CorpusIndex:
    """Return the index of the requested roots, brought up to date."""
    scan = scan_files(request)
    if cache_dir is None or request.stdin_text is not None:
        # Text from a pipe is rarely searched twice, so it is not written to disk.
        return _build_in_memory(request, scan)
    parts = [sorted(os.path.abspath(root) for root in request.roots), request.include, request.exclude]
    digest = hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()
    folder = cache_dir / "index" / digest[:24]
    try:
        return _open_if_current(folder, scan) or _open_and_update(folder, request, scan)
    except (OSError, CorruptCache) as error:
        request.notify(f"The index folder {folder} cannot be used ({error}); indexing in memory, for this run only.")
        return _build_in_memory(request, scan)


def scan_files(request: IndexRequest) -> FileScan:
    """List the requested files and note the state of each."""
    roots = [Path(root) for root in request.roots]
    listed = list_files(roots, request.include, request.exclude)
    explicit_files = frozenset(os.path.abspath(root) for root in roots if not root.is_dir())
    scan = FileScan({}, list(listed.skipped), explicit_files)
    if request.stdin_text is not None:
        scan.stamps[STDIN] = STDIN
        scan.explicit_files |= {STDIN}
    working_dir = os.getcwd()
    for path in listed.files:
        name = os.path.normpath(os.path.join(working_dir, path))
        try:
            name.encode()
            status = os.stat(name)
        except UnicodeEncodeError:
            scan.skipped.append(SkippedFile(path, "has a name that is not UTF-8; rename it"))
        except OSError as error:
            scan.skipped.append(SkippedFile(path, f"cannot be opened ({error.strerror})"))
        else:
            if not status.st_size and name not in scan.explicit_files:
                continue  # An empty file in a folder, such as an __init__.py, is not worth a message.
            # ctime shows a change of permissions, and an edit that restores the old mtime.
            scan.stamps[name] = f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}{get_reader_version(name)}"
    return scan


def _open_if_current(folder: Path, scan: FileScan) -> CorpusIndex | None:
    """Return the index if it is already in step. No lock is needed: an update in progress shows as a difference."""
    if _read_version(folder) != str(INDEX_VERSION):
        return None
    try:
        rows = _load_manifest(folder)
        if any(_compare(rows, scan)):
            return None
        index = _share_index(folder / "tantivy")
    except CorruptCache:
        return None
    return _make_corpus_index(index, rows, scan, folder) if _is_consistent(index, rows) else None


def _share_index(folder: Path) -> BM25Index:
    """Open an index, or return the one that this process already has open in the same state: each has files and memory maps."""
    try:
        state = (folder / "meta.json").read_bytes()  # Tantivy writes it anew at every commit.
    except OSError:
        return BM25Index(folder)
    key = (str(folder), hashlib.sha256(state).digest())
    with _shared_lock:
        index = _shared_indexes.get(key)
        if index is None:
            index = _shared_indexes[key] = BM25Index(folder)
        return index


def _open_and_update(folder: Path, request: IndexRequest, scan: FileScan) -> CorpusIndex:
    """Bring the index in step under the writer's lock; rebuild it if it is of another version or corrupt."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _hold_lock(folder.with_suffix(".lock"), request):
        version = _read_version(folder)
        if version is not None and version != str(INDEX_VERSION):
            request.notify("The index was made by another version of suffice; rebuilding it.")
        if version != str(INDEX_VERSION) and folder.exists():
            shutil.rmtree(folder)
        try:
            return _build_on_disk(folder, request, scan)
        except CorruptCache as error:
            request.notify(f"The index was damaged ({error}); rebuilding it.")
            shutil.rmtree(folder)
            return _build_on_disk(folder, request, scan)


@contextmanager
def _hold_lock(path: Path, request: IndexRequest) -> Iterator[None]:
    lock = FileLock(path)
    for second in range(_LOCK_TIMEOUT_SECONDS):
        with suppress(Timeout):
            lock.acquire(timeout=min(second, 1))
            break
        request.check_cancelled()
        if second == 0:
            request.notify(f"Another process is updating this index; waiting up to {_LOCK_TIMEOUT_SECONDS} s.")
    else:
        message = f"Another process has held {path} for {_LOCK_TIMEOUT_SECONDS} s; wait for it, or use another cache."
        raise SearchError(message, retryable=True)
    try:
        yield
    finally:
        lock.release()


def _build_on_disk(folder: Path, request: IndexRequest, scan: FileScan) -> CorpusIndex:
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(PermissionError):  # The index holds the text of the documents.
        folder.chmod(0o700)
    (folder / "version").write_text(str(INDEX_VERSION))
    index = BM25Index(folder / "tantivy")
    rows = _sync_index(index, folder, request, scan)
    if not _is_consistent(index, rows):
        raise CorruptCache(f"it contains {index.size} passages instead of {sum(row.passages for row in rows.values())}")
    return _make_corpus_index(index, rows, scan, folder)


def _build_in_memory(request: IndexRequest, scan: FileScan) -> CorpusIndex:
    index = BM25Index(None)
    return _make_corpus_index(index, _sync_index(index, None, request, scan), scan)


def _sync_index(index: BM25Index, folder: Path | None, request: IndexRequest, scan: FileScan) -> Manifest:
    rows = _load_manifest(folder)
    changed, deleted = _compare(rows, scan)
    if not changed and not deleted:
        return rows
    known = set(rows)
    rows |= dict.fromkeys(changed, ManifestRow())
    save_manifest(folder, rows)
    with index.open_writer() as writer:
        for file in deleted:
            writer.remove(file)
        passages, last_commit = 0, time.monotonic()
        for number, (file, document) in enumerate(_read_changed(changed, request), start=1):
            request.check_cancelled()
            if file in known:
                writer.remove(file)
            rows[file] = _index_document(writer, file, document, request, scan)
            passages += rows[file].passages
            request.progress("indexing", number, len(changed))
            if passages >= _COMMIT_EVERY_PASSAGES or time.monotonic() - last_commit > _COMMIT_EVERY_SECONDS:
                writer.commit()
                save_manifest(folder, rows)
                passages, last_commit = 0, time.monotonic()
        writer.commit()
        for file in deleted:
            del rows[file]
        save_manifest(folder, rows)
    index.refresh()
    return rows


def _load_manifest(folder: Path | None) -> Manifest:
    try:
        data = b"" if folder is None else (folder / "manifest").read_bytes()
        return msgspec.msgpack.decode(data, type=Manifest) if data else {}
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CorruptCache(str(error)) from error


def save_manifest(folder: Path | None, rows: Manifest) -> None:
    """Replace the manifest as a whole, so that a reader sees the old or the new one."""
    if folder is not None:
        new = folder / "manifest.new"
        new.write_bytes(msgspec.msgpack.encode(rows))
        new.replace(folder / "manifest")


def _read_changed(changed: list[str], request: IndexRequest) -> Iterator[tuple[str, Document | UnreadableFile]]:
    files = list(changed)
    if STDIN in files:
        files.remove(STDIN)
        yield STDIN, read_isolated_text(request.stdin_text or "", "standard input", request.check_cancelled)
    yield from zip(files, read_documents(list(map(Path, files)), request.check_cancelled), strict=True)


def _index_document(
    writer: IndexWriter, file: str, document: Document | UnreadableFile, request: IndexRequest, scan: FileScan
) -> ManifestRow:
    stamp = scan.stamps[file]
    if isinstance(document, UnreadableFile):
        if file in scan.explicit_files:
            raise document
        return ManifestRow(stamp, 0, str(document).removeprefix(file).strip(" ,"))
    writer.add(file, document.chunks, request.check_cancelled)
    return ManifestRow(stamp, len(document.chunks), document.remark)


def _compare(rows: Manifest, scan: FileScan) -> tuple[list[str], list[str]]:
    """Return the files to read (new, changed and pending ones), and those that are no longer there.

    Unreadable files that the user now names are read again, so that the error is raised.
    """
    unreadable = {file for file in scan.explicit_files & rows.keys() if rows[file].why and not rows[file].passages}
    known = {file: row.stamp for file, row in rows.items() if file not in unreadable}
    changed = [file for file, stamp in scan.stamps.items() if known.get(file) != stamp]
    return changed, [file for file in rows if file not in scan.stamps]


def _is_consistent(index: BM25Index, rows: Manifest) -> bool:
    return index.size == sum(row.passages for row in rows.values())


def _make_corpus_index(index: BM25Index, rows: Manifest, scan: FileScan, folder: Path | None = None) -> CorpusIndex:
    remarks = [(SkippedFile(Path(file), row.why), row.passages) for file, row in rows.items() if row.why]
    skipped = [file for file, passages in remarks if not passages]
    partly_read = tuple(file for file, passages in remarks if passages)
    files = tuple(file for file in scan.stamps if rows[file].passages or not rows[file].why)
    return CorpusIndex(index, files, (*scan.skipped, *skipped), partly_read, folder)


def _read_version(folder: Path) -> str | None:
    try:
        return (folder / "version").read_text()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
