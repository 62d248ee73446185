"""Keeps an index in step with the files it was made of.

    the folder of an index:  version   manifest.sqlite   tantivy/       (and a lock beside the folder)

Only what changed since the last opening is read. Entries are committed before the manifest says so, and a file is
removed before it is added: a kill at any point leaves something that the next opening completes, never a passage twice.
Readers take no lock. Where the folder cannot be used, the index is made in memory. Nothing here ranks.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from suffice.errors import SearchError
from suffice.search.corpus.index import BM25Index, IndexWriter
from suffice.search.corpus.manifest import Manifest, ManifestRow
from suffice.search.files.piece import UnreadableFile
from suffice.search.files.read import read_file, read_text
from suffice.search.files.walk import SkippedFile, list_files
from suffice.storage.corruption import CorruptCache

# Counts up whenever the same files would give other entries: a changed schema, analyzer, reader or chunker.
INDEX_VERSION = 1
# What a kill may cost: whichever comes first. Each commit writes and syncs new segments (about 50 ms).
_COMMIT_EVERY_PASSAGES = 50_000
_COMMIT_EVERY_SECONDS = 20.0
# A first indexing of a large folder by somebody else takes minutes.
_LOCK_TIMEOUT_SECONDS = 300.0

STDIN = "-"


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What the index should hold, and whom to tell how it goes. ``check`` may raise to end the work."""

    roots: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    stdin_text: str | None
    say: Callable[[str], None]
    progress: Callable[[str, int, int], None]
    check_cancelled: Callable[[], None]


@dataclass(frozen=True, slots=True)
class CorpusIndex:
    """An index in step with its files, by absolute path in the order of the listing."""

    index: BM25Index
    files: tuple[str, ...]
    skipped: tuple[SkippedFile, ...]
    folder: Path | None = None

    def invalidate(self) -> None:
        """Something read from the index made no sense: whoever opens it next makes it anew."""
        if self.folder is not None:
            with suppress(OSError):
                (self.folder / "version").unlink()


@dataclass(slots=True)
class _FileScan:
    """The files as they stand now: absolute path to stamp, in the order of the listing."""

    stamps: dict[str, str] = field(default_factory=dict)
    skipped: list[SkippedFile] = field(default_factory=list)
    explicit_files: frozenset[str] = frozenset()


def open_index(request: IndexRequest, cache_dir: Path | None) -> CorpusIndex:
    """The index of the wanted roots, brought up to date."""
    found = _scan_files(request)
    if cache_dir is None or request.stdin_text is not None:
        # What came through a pipe is read once and seldom twice: it is not written to disk.
        return _build_in_memory(request, found)
    folder = cache_dir / "index" / _hash_request(request)
    try:
        return _open_if_current(folder, found) or _open_and_update(folder, request, found)
    except (OSError, CorruptCache) as error:
        request.say(f"The index folder {folder} cannot be used ({error}); indexing in memory, for this run only.")
        return _build_in_memory(request, found)


def _scan_files(wanted: IndexRequest) -> _FileScan:
    roots = [Path(root) for root in wanted.roots]
    listed = list_files(roots, wanted.include, wanted.exclude) if roots else None
    found = _FileScan(explicit_files=frozenset(os.path.abspath(root) for root in roots if not root.is_dir()))
    if wanted.stdin_text is not None:
        found.stamps[STDIN] = STDIN
        found.explicit_files |= {STDIN}
    if listed is None:
        return found
    found.skipped.extend(listed.skipped)
    here = os.getcwd()
    for path in listed.files:
        name = os.path.normpath(os.path.join(here, path))
        try:
            name.encode()
            state = os.stat(name)
        except UnicodeEncodeError:
            found.skipped.append(SkippedFile(path, "has a name that is not UTF-8; rename it"))
        except OSError as error:
            found.skipped.append(SkippedFile(path, f"cannot be opened ({error.strerror})"))
        else:
            if not state.st_size and name not in found.explicit_files:
                continue  # An empty file among others (a package's __init__.py) is no fault worth naming.
            # ctime as well: it shows a change of permissions, and an edit that puts the old time back.
            found.stamps[name] = f"{state.st_size}:{state.st_mtime_ns}:{state.st_ctime_ns}"
    return found


def _open_if_current(folder: Path, found: _FileScan) -> CorpusIndex | None:
    """The index if it is in step already. Takes no lock; another process's half-done work shows as a difference."""
    if _read_version(folder) != str(INDEX_VERSION):
        return None
    try:
        manifest = Manifest(folder / "manifest.sqlite")
        try:
            rows = manifest.read_rows()
        finally:
            manifest.close()
        if _find_changed(rows, found) or _find_deleted(rows, found):
            return None
        index = BM25Index(folder / "tantivy")
    except CorruptCache:
        return None
    return _make_corpus_index(index, rows, found, folder) if _is_consistent(index, rows) else None


def _open_and_update(folder: Path, wanted: IndexRequest, found: _FileScan) -> CorpusIndex:
    """The index brought in step, under the lock of whoever writes; made anew if it is old or damaged."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _hold_lock(folder.with_suffix(".lock"), wanted):
        version = _read_version(folder)
        if version is not None and version != str(INDEX_VERSION):
            wanted.say("The index was made by another version of suffice; making it anew.")
        if version != str(INDEX_VERSION) and folder.exists():
            shutil.rmtree(folder)
        try:
            return _build_on_disk(folder, wanted, found)
        except CorruptCache as error:
            wanted.say(f"The index was damaged ({error}); making it anew.")
            shutil.rmtree(folder)
            return _build_on_disk(folder, wanted, found)


@contextmanager
def _hold_lock(path: Path, wanted: IndexRequest) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    end = time.monotonic() + _LOCK_TIMEOUT_SECONDS
    waiting = False
    while True:
        try:
            lock.acquire(timeout=0.5 if waiting else 0)
            break
        except Timeout as error:
            wanted.check_cancelled()
            if time.monotonic() > end:
                raise SearchError(
                    f"Another process has held {path} for {_LOCK_TIMEOUT_SECONDS:.0f} s; wait for it, or choose another cache.",
                    retryable=True,
                ) from error
            if not waiting:
                wanted.say(f"Another process is updating this index; waiting up to {_LOCK_TIMEOUT_SECONDS:.0f} s.")
                waiting = True
    try:
        yield
    finally:
        lock.release()


def _build_on_disk(folder: Path, wanted: IndexRequest, found: _FileScan) -> CorpusIndex:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "version").write_text(str(INDEX_VERSION))
    manifest = Manifest(folder / "manifest.sqlite")
    try:
        index = BM25Index(folder / "tantivy")
        rows = _sync_index(index, manifest, wanted, found)
    finally:
        manifest.close()
    if not _is_consistent(index, rows):
        raise CorruptCache(
            f"it holds {index.size} passages, not the {sum(row.passages for row in rows.values())} it should"
        )
    return _make_corpus_index(index, rows, found, folder)


def _build_in_memory(wanted: IndexRequest, found: _FileScan) -> CorpusIndex:
    manifest = Manifest(None)
    try:
        index = BM25Index(None)
        return _make_corpus_index(index, _sync_index(index, manifest, wanted, found), found)
    finally:
        manifest.close()


def _sync_index(index: BM25Index, manifest: Manifest, wanted: IndexRequest, found: _FileScan) -> dict[str, ManifestRow]:
    rows = manifest.read_rows()
    changed, gone = _find_changed(rows, found), _find_deleted(rows, found)
    if not changed and not gone:
        return rows
    manifest.mark_pending(changed)
    with index.open_writer() as writer:
        for file in gone:
            writer.remove(file)
        done: dict[str, ManifestRow] = {}
        passages, last = 0, time.monotonic()
        for number, file in enumerate(changed, start=1):
            wanted.check_cancelled()
            if file in rows:
                writer.remove(file)
            done[file] = _index_file(writer, file, wanted, found)
            passages += done[file].passages
            wanted.progress("indexing", number, len(changed))
            if passages >= _COMMIT_EVERY_PASSAGES or time.monotonic() - last > _COMMIT_EVERY_SECONDS:
                writer.commit()
                manifest.save_rows(done)
                done, passages, last = {}, 0, time.monotonic()
        writer.commit()
        manifest.save_rows(done)
        manifest.delete_rows(gone)
    index.refresh()
    return manifest.read_rows()


def _index_file(writer: IndexWriter, file: str, wanted: IndexRequest, found: _FileScan) -> ManifestRow:
    stamp = found.stamps[file]
    try:
        pieces = read_text(wanted.stdin_text or "", "standard input") if file == STDIN else read_file(Path(file))
    except UnreadableFile as error:
        if file in found.explicit_files:
            raise
        return ManifestRow(stamp, 0, str(error).removeprefix(file).strip())
    writer.add(file, pieces, wanted.check_cancelled)
    return ManifestRow(stamp, len(pieces))


def _find_changed(rows: dict[str, ManifestRow], found: _FileScan) -> list[str]:
    """Files to read: new, changed, half done; and the unreadable that are now named, to fail with their own words."""
    known = {file: row.stamp for file, row in rows.items() if not (row.why and file in found.explicit_files)}
    return [file for file, stamp in found.stamps.items() if known.get(file) != stamp]


def _find_deleted(rows: dict[str, ManifestRow], found: _FileScan) -> list[str]:
    return [file for file in rows if file not in found.stamps]


def _is_consistent(index: BM25Index, rows: dict[str, ManifestRow]) -> bool:
    return index.size == sum(row.passages for row in rows.values())


def _make_corpus_index(
    index: BM25Index, rows: dict[str, ManifestRow], found: _FileScan, folder: Path | None = None
) -> CorpusIndex:
    skipped = [SkippedFile(Path(file), row.why) for file, row in rows.items() if row.why]
    files = tuple(file for file in found.stamps if not rows[file].why)
    return CorpusIndex(index, files, (*found.skipped, *skipped), folder)


def _hash_request(wanted: IndexRequest) -> str:
    named = [sorted(os.path.abspath(root) for root in wanted.roots), wanted.include, wanted.exclude]
    return hashlib.sha256(repr(named).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _read_version(folder: Path) -> str | None:
    try:
        return (folder / "version").read_text()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
