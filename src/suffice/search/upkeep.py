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

from suffice.damage import Damaged
from suffice.errors import SearchError
from suffice.search.files.piece import Unreadable
from suffice.search.files.read import read, read_text
from suffice.search.files.walk import Skipped, listing
from suffice.search.index import Index, Writer
from suffice.search.manifest import Manifest, Row

# Counts up whenever the same files would give other entries: a changed schema, analyzer, reader or chunker.
INDEX_VERSION = 1
# What a kill may cost: whichever comes first. Each commit writes and syncs new segments (about 50 ms).
_COMMIT_PASSAGES = 50_000
_COMMIT_SECONDS = 20.0
# A first indexing of a large folder by somebody else takes minutes.
_LOCK_SECONDS = 300.0

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the index should hold, and whom to tell how it goes. ``check`` may raise to end the work."""

    roots: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    stdin_text: str | None
    say: Callable[[str], None]
    progress: Callable[[str, int, int], None]
    check: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Kept:
    """An index in step with its files, by absolute path in the order of the listing."""

    index: Index
    files: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    folder: Path | None = None

    def distrust(self) -> None:
        """Something read from the index made no sense: whoever opens it next makes it anew."""
        if self.folder is not None:
            with suppress(OSError):
                (self.folder / "version").unlink()


@dataclass(slots=True)
class _Found:
    """The files as they stand now: absolute path to stamp, in the order of the listing."""

    stamps: dict[str, str] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    named: frozenset[str] = frozenset()


def keep(wanted: Wanted, cache_dir: Path | None) -> Kept:
    """The index of the wanted roots, brought up to date."""
    found = _look(wanted)
    if cache_dir is None or wanted.stdin_text is not None:
        # What came through a pipe is read once and seldom twice: it is not written to disk.
        return _in_memory(wanted, found)
    folder = cache_dir / "index" / _key(wanted)
    try:
        return _fresh(folder, found) or _updated(folder, wanted, found)
    except (OSError, Damaged) as error:
        wanted.say(f"The index folder {folder} cannot be used ({error}); indexing in memory, for this run only.")
        return _in_memory(wanted, found)


def _look(wanted: Wanted) -> _Found:
    roots = [Path(root) for root in wanted.roots]
    listed = listing(roots, wanted.include, wanted.exclude) if roots else None
    found = _Found(named=frozenset(os.path.abspath(root) for root in roots if not root.is_dir()))
    if wanted.stdin_text is not None:
        found.stamps[STDIN] = STDIN
        found.named |= {STDIN}
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
            found.skipped.append(Skipped(path, "has a name that is not UTF-8; rename it"))
        except OSError as error:
            found.skipped.append(Skipped(path, f"cannot be opened ({error.strerror})"))
        else:
            if not state.st_size and name not in found.named:
                continue  # An empty file among others (a package's __init__.py) is no fault worth naming.
            # ctime as well: it shows a change of permissions, and an edit that puts the old time back.
            found.stamps[name] = f"{state.st_size}:{state.st_mtime_ns}:{state.st_ctime_ns}"
    return found


def _fresh(folder: Path, found: _Found) -> Kept | None:
    """The index if it is in step already. Takes no lock; another process's half-done work shows as a difference."""
    if _version(folder) != str(INDEX_VERSION):
        return None
    try:
        manifest = Manifest(folder / "manifest.sqlite")
        try:
            rows = manifest.rows()
        finally:
            manifest.close()
        if _changed(rows, found) or _gone(rows, found):
            return None
        index = Index(folder / "tantivy")
    except Damaged:
        return None
    return _kept(index, rows, found, folder) if _in_step(index, rows) else None


def _updated(folder: Path, wanted: Wanted, found: _Found) -> Kept:
    """The index brought in step, under the lock of whoever writes; made anew if it is old or damaged."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_suffix(".lock"), wanted):
        version = _version(folder)
        if version is not None and version != str(INDEX_VERSION):
            wanted.say("The index was made by another version of suffice; making it anew.")
        if version != str(INDEX_VERSION) and folder.exists():
            shutil.rmtree(folder)
        try:
            return _in_folder(folder, wanted, found)
        except Damaged as error:
            wanted.say(f"The index was damaged ({error}); making it anew.")
            shutil.rmtree(folder)
            return _in_folder(folder, wanted, found)


@contextmanager
def _locked(path: Path, wanted: Wanted) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    end = time.monotonic() + _LOCK_SECONDS
    waiting = False
    while True:
        try:
            lock.acquire(timeout=0.5 if waiting else 0)
            break
        except Timeout as error:
            wanted.check()
            if time.monotonic() > end:
                raise SearchError(
                    f"Another process has held {path} for {_LOCK_SECONDS:.0f} s; wait for it, or choose another cache.",
                    retryable=True,
                ) from error
            if not waiting:
                wanted.say(f"Another process is updating this index; waiting up to {_LOCK_SECONDS:.0f} s.")
                waiting = True
    try:
        yield
    finally:
        lock.release()


def _in_folder(folder: Path, wanted: Wanted, found: _Found) -> Kept:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "version").write_text(str(INDEX_VERSION))
    manifest = Manifest(folder / "manifest.sqlite")
    try:
        index = Index(folder / "tantivy")
        rows = _bring_in_step(index, manifest, wanted, found)
    finally:
        manifest.close()
    if not _in_step(index, rows):
        raise Damaged(f"it holds {index.size} passages, not the {sum(row.passages for row in rows.values())} it should")
    return _kept(index, rows, found, folder)


def _in_memory(wanted: Wanted, found: _Found) -> Kept:
    manifest = Manifest(None)
    try:
        index = Index(None)
        return _kept(index, _bring_in_step(index, manifest, wanted, found), found)
    finally:
        manifest.close()


def _bring_in_step(index: Index, manifest: Manifest, wanted: Wanted, found: _Found) -> dict[str, Row]:
    rows = manifest.rows()
    changed, gone = _changed(rows, found), _gone(rows, found)
    if not changed and not gone:
        return rows
    manifest.announce(changed)
    with index.writing() as writer:
        for file in gone:
            writer.remove(file)
        done: dict[str, Row] = {}
        passages, last = 0, time.monotonic()
        for number, file in enumerate(changed, start=1):
            wanted.check()
            if file in rows:
                writer.remove(file)
            done[file] = _read_into(writer, file, wanted, found)
            passages += done[file].passages
            wanted.progress("indexing", number, len(changed))
            if passages >= _COMMIT_PASSAGES or time.monotonic() - last > _COMMIT_SECONDS:
                writer.commit()
                manifest.record(done)
                done, passages, last = {}, 0, time.monotonic()
        writer.commit()
        manifest.record(done)
        manifest.forget(gone)
    index.refresh()
    return manifest.rows()


def _read_into(writer: Writer, file: str, wanted: Wanted, found: _Found) -> Row:
    stamp = found.stamps[file]
    try:
        pieces = read_text(wanted.stdin_text or "", "standard input") if file == STDIN else read(Path(file))
    except Unreadable as error:
        if file in found.named:
            raise
        return Row(stamp, 0, str(error).removeprefix(file).strip())
    writer.add(file, pieces, wanted.check)
    return Row(stamp, len(pieces))


def _changed(rows: dict[str, Row], found: _Found) -> list[str]:
    """Files to read: new, changed, half done; and the unreadable that are now named, to fail with their own words."""
    known = {file: row.stamp for file, row in rows.items() if not (row.why and file in found.named)}
    return [file for file, stamp in found.stamps.items() if known.get(file) != stamp]


def _gone(rows: dict[str, Row], found: _Found) -> list[str]:
    return [file for file in rows if file not in found.stamps]


def _in_step(index: Index, rows: dict[str, Row]) -> bool:
    return index.size == sum(row.passages for row in rows.values())


def _kept(index: Index, rows: dict[str, Row], found: _Found, folder: Path | None = None) -> Kept:
    skipped = [Skipped(Path(file), row.why) for file, row in rows.items() if row.why]
    files = tuple(file for file in found.stamps if not rows[file].why)
    return Kept(index, files, (*found.skipped, *skipped), folder)


def _key(wanted: Wanted) -> str:
    named = [sorted(os.path.abspath(root) for root in wanted.roots), wanted.include, wanted.exclude]
    return hashlib.sha256(repr(named).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _version(folder: Path) -> str | None:
    try:
        return (folder / "version").read_text()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
