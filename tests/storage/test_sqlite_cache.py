"""Caches survive reopening, sharing, corruption and unusable files."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suffice.storage.sqlite_cache import SqliteCache

NOISE = b"this is no database, whatever it was before" * 100


def make_cache(path: Path | None, messages: list[str] | None = None) -> SqliteCache:
    return SqliteCache(path, "test cache", ([] if messages is None else messages).append)


def test_stored_values_survive_reopening(tmp_path: Path) -> None:
    many = {str(i).encode(): bytes(i % 7) for i in range(1200)}
    first = make_cache(tmp_path / "deep" / "cache.sqlite")
    first.put(many)
    first.put({b"1": b"newer"})
    first.close()
    second = make_cache(tmp_path / "deep" / "cache.sqlite")
    assert second.get([*many, b"unknown"]) == many | {b"1": b"newer"}
    second.clear()
    assert second.get(many) == {}


def test_cache_without_path_stores_nothing() -> None:
    cache = make_cache(None)
    cache.put({b"a": b"1"})
    assert cache.get([b"a"]) == {}


def test_corrupt_file_is_moved_aside_and_reported_once(tmp_path: Path) -> None:
    path, messages = tmp_path / "cache.sqlite", list[str]()
    path.write_bytes(NOISE)
    damaged = make_cache(path, messages)
    assert damaged.get([b"a"]) == {}
    damaged.put({b"a": b"1"})
    assert damaged.get([b"a"]) == {b"a": b"1"}
    assert len(messages) == 1
    assert "test cache was damaged" in messages[0]
    assert (tmp_path / "cache.damaged").read_bytes() == NOISE


@pytest.mark.parametrize("place", range(0, 12288, 512))
def test_overwritten_bytes_never_raise(tmp_path: Path, place: int) -> None:
    """Wherever a file is corrupt, reading returns stored values or nothing."""
    path = tmp_path / "cache.sqlite"
    items = {str(i).encode(): b"v" * 40 for i in range(100)}
    first = make_cache(path)
    first.put(items)
    first.close()
    data = bytearray(path.read_bytes())
    data[place % len(data) : place % len(data) + 64] = b"\xff" * 64
    path.write_bytes(data)
    second = make_cache(path)
    assert all(isinstance(value, bytes) for value in second.get(items).values())
    second.put({b"new": b"1"})
    assert second.get([b"new"]) in ({b"new": b"1"}, {})


def test_unusable_path_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where a folder should be")
    messages: list[str] = []
    unusable = make_cache(tmp_path / "file" / "cache.sqlite", messages)
    unusable.put({b"a": b"1"})
    assert unusable.get([b"a"]) == unusable.get([b"b"]) == {}
    assert len(messages) == 1
    assert "going on without" in messages[0]


def test_full_disk_is_reported_once(tmp_path: Path) -> None:
    messages: list[str] = []
    full = make_cache(tmp_path / "cache.sqlite", messages)
    full.put({b"a": b"1"})
    assert full._database is not None
    full._database.execute("PRAGMA max_page_count=3")
    for _ in range(3):
        full.put({str(i).encode(): b"v" * 50 for i in range(2000)})
    assert len(messages) == 1
    assert "full" in messages[0]


def test_threads_and_processes_share_a_cache(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    code = (
        "import sys; from pathlib import Path; from suffice.storage.sqlite_cache import SqliteCache\n"
        "cache = SqliteCache(Path(sys.argv[1]), 'test cache', sys.exit)\n"
        "for i in range(100): cache.put({f'{sys.argv[2]}-{i}'.encode(): b'1'})\n"
    )
    others = [subprocess.Popen([sys.executable, "-c", code, str(path), str(own)]) for own in range(3)]
    messages: list[str] = []
    ours = make_cache(path, messages)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: ours.put({f"ours-{i}".encode(): b"1"}), range(100)))
    assert [other.wait(60) for other in others] == [0, 0, 0]
    assert messages == []
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM shelf").fetchone() == (400,)
