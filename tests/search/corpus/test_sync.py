"""The index stays in step with its files: changes, crashes, corruption, and several processes at once."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from suffice.errors import InputError, SearchError
from suffice.search.corpus import sync
from suffice.search.corpus.search import CorpusSearch
from suffice.types import Query

OPEN = """
import asyncio, sys
from pathlib import Path
from suffice.search.corpus import sync
from suffice.search.corpus.search import CorpusSearch
sync._COMMIT_EVERY_PASSAGES = 10
report = (lambda stage, done, total: print(done, flush=True)) if "-v" in sys.argv else None
corpus = asyncio.run(CorpusSearch.open([Path(sys.argv[1])], cache_dir=Path(sys.argv[2]), alpha=1.0, progress=report))
print("size", corpus.size)
"""


class Folder:
    """A folder of notes, its cache, and the messages and files of its last opening."""

    def __init__(self, path: Path) -> None:
        self.docs = path / "docs"
        self.docs.mkdir()
        self.cache = path / "cache"
        self.messages: list[str] = []
        self.files_read = 0

    def write(self, name: str, text: str) -> None:
        (self.docs / name).write_text(text)

    def open(self, **options: object) -> CorpusSearch:
        self.files_read = 0
        self.messages.clear()

        def progress(stage: str, done: int, total: int) -> None:
            self.files_read += 1

        settings: dict[str, object] = {"cache_dir": self.cache, "alpha": 1.0, **options}
        return asyncio.run(CorpusSearch.open([self.docs], notify=self.messages.append, progress=progress, **settings))  # type: ignore[arg-type]

    def index(self) -> Path:
        [folder] = [path for path in (self.cache / "index").iterdir() if path.is_dir()]
        return folder

    def command(self, *extra: str) -> list[str]:
        return [sys.executable, "-c", OPEN, str(self.docs), str(self.cache), *extra]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    notes = Folder(tmp_path)
    for i in range(5):
        notes.write(f"{i}.md", f"# Note {i}\n\nThe heron number{i} waits.\n")
    return notes


def contents(corpus: CorpusSearch) -> list[tuple[str, str]]:
    found = asyncio.run(corpus(Query("heron"), 10_000))
    return sorted((passage.id, passage.text) for passage in found)


def test_only_changed_files_are_read(folder: Folder) -> None:
    assert folder.open().size == folder.files_read == 5
    assert len(contents(folder.open())) == 5
    assert folder.files_read == 0
    folder.write("2.md", "# Note\n\nAn otter replaced the bird.\n")
    folder.write("new.md", "# New\n\nOne more heron.\n")
    (folder.docs / "4.md").unlink()
    corpus = folder.open()
    assert folder.files_read == 2
    assert contents(corpus) == contents(folder.open(cache_dir=None))
    assert asyncio.run(corpus(Query("otter"), 5))
    assert not asyncio.run(corpus(Query("number4"), 5))
    assert folder.messages == []


def test_edit_with_same_size_and_mtime_is_noticed(folder: Folder) -> None:
    folder.open()
    state = (folder.docs / "0.md").stat()
    time.sleep(0.02)
    folder.write("0.md", "# Note 0\n\nThe otter number0 waits.\n")
    os.utime(folder.docs / "0.md", ns=(state.st_atime_ns, state.st_mtime_ns))
    assert asyncio.run(folder.open()(Query("otter"), 5))


def test_unreadable_file_in_a_folder_is_skipped_but_fails_if_named(folder: Folder) -> None:
    folder.write("bad.jsonl", '{"id": "1", "text": "heron"}\n{not json')
    for _ in range(2):
        corpus = folder.open()
        [skipped] = corpus.skipped
        assert skipped.path.name == "bad.jsonl"
        assert "line 2" in skipped.why
        assert len(corpus.files) == 5
    assert folder.files_read == 0
    with pytest.raises(InputError, match=r"bad\.jsonl, line 2"):
        asyncio.run(CorpusSearch.open([folder.docs / "bad.jsonl"], cache_dir=folder.cache))


def test_each_combination_of_patterns_has_its_own_index(folder: Folder) -> None:
    assert folder.open(exclude=["0.md"]).size == 4
    assert folder.open().size == 5
    assert folder.open(exclude=["0.md"]).size == 4
    assert folder.files_read == 0


@pytest.mark.parametrize("name", ["meta.json", "*.store", "*.term", "manifest", "tantivy"])
def test_corrupt_index_is_rebuilt(folder: Folder, name: str) -> None:
    before = contents(folder.open())
    for path in folder.index().rglob(name):
        if path.is_dir():
            for file in path.iterdir():
                file.unlink()
        else:
            path.write_bytes(b"not what it was, and long enough to be read as something")
    assert contents(folder.open()) == before
    assert len(folder.messages) == 1
    assert "damaged" in folder.messages[0]
    assert contents(folder.open()) == before
    assert folder.messages == []


def test_corruption_found_by_a_search_is_repaired_on_the_next_opening(folder: Folder) -> None:
    before = contents(folder.open())
    [store] = list(folder.index().rglob("*.store"))[:1]
    data = bytearray(store.read_bytes())
    data[2:60] = bytes(58)
    store.write_bytes(data)
    corpus = folder.open()
    with pytest.raises(SearchError, match="damaged"):
        contents(corpus)
    assert contents(folder.open()) == before


def test_index_of_another_version_is_rebuilt(folder: Folder) -> None:
    before = contents(folder.open())
    (folder.index() / "version").write_text("0")
    assert contents(folder.open()) == before
    assert len(folder.messages) == 1
    assert "another version" in folder.messages[0]
    folder.open()
    assert folder.messages == []


def test_unwritable_cache_falls_back_to_memory(folder: Folder) -> None:
    folder.cache.write_text("a file where a folder should be")
    assert folder.open().size == 5
    assert len(folder.messages) == 1
    assert "in memory" in folder.messages[0]


def test_several_processes_index_at_once(folder: Folder) -> None:
    for i in range(60):
        folder.write(f"more{i}.md", f"A heron{i}.")
    running = [subprocess.Popen(folder.command(), stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=300)[0].strip() for process in running] == ["size 65"] * 3
    assert folder.open().size == 65
    assert folder.files_read == 0


def test_reader_takes_no_lock_and_survives_a_rebuild(folder: Folder) -> None:
    from filelock import FileLock

    corpus = folder.open()
    with FileLock(folder.index().with_suffix(".lock")):
        assert folder.open().size == 5
    folder.write("0.md", "changed")
    (folder.index() / "version").write_text("0")
    folder.open()
    assert len(contents(corpus)) == 5


def test_waiting_for_the_lock_is_reported_and_bounded(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    from filelock import FileLock

    folder.open()
    folder.write("new.md", "heron")
    monkeypatch.setattr(sync, "_LOCK_TIMEOUT_SECONDS", 2)
    with FileLock(folder.index().with_suffix(".lock")), pytest.raises(SearchError, match="Another process"):
        folder.open()
    assert "waiting" in folder.messages[0]
    assert folder.open().size == 6


@pytest.mark.parametrize("after", [1, 17, 45])
def test_index_is_complete_after_a_kill(folder: Folder, after: int) -> None:
    for i in range(60):
        folder.write(f"more{i}.md", f"A heron of the kind{i}.")
    process = subprocess.Popen(folder.command("-v"), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == str(after):
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    (folder.docs / "more0.md").unlink()
    corpus = folder.open()
    assert contents(corpus) == contents(folder.open(cache_dir=None))
    assert folder.messages == []


@pytest.mark.parametrize("write", [1, 2])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_index_is_complete_after_a_crash_around_each_manifest_write(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, write: int, moment: str
) -> None:
    folder.open()
    (folder.docs / "0.md").unlink()
    folder.write("1.md", "Changed heron.\n")
    folder.write("new.jsonl", json.dumps({"id": "r", "text": "A heron record."}))
    original, writes = sync.save_manifest, []

    class Died(BaseException):
        pass

    def die(path: Path | None, rows: sync.Manifest) -> None:
        writes.append(path)
        if len(writes) < write or moment == "after":
            original(path, rows)
        if len(writes) == write:
            raise Died

    monkeypatch.setattr(sync, "save_manifest", die)
    with pytest.raises(Died):
        folder.open()
    monkeypatch.undo()
    (folder.docs / "new.jsonl").unlink()
    assert contents(folder.open()) == contents(folder.open(cache_dir=None))
    assert folder.messages == []


def test_searches_of_one_process_share_the_open_index(folder: Folder) -> None:
    folder.write("a.txt", "Bees dance.")
    folder.open()
    first, second = folder.open(), folder.open()
    assert first._index is second._index
    folder.write("b.txt", "Bees hum.")
    folder.open()
    changed = folder.open()
    assert changed._index is not first._index
    assert changed.size == first.size + 1  # A run keeps the state that it started with.
