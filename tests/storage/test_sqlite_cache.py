"""A shelf keeps values for whoever comes next, and never stands in the way."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suffice.storage.sqlite_cache import SqliteCache

NOISE = b"this is no database, whatever it was before" * 100


def shelf(path: Path | None, said: list[str] | None = None) -> SqliteCache:
    return SqliteCache(path, "test cache", ([] if said is None else said).append)


def test_what_is_put_is_there_for_the_next(tmp_path: Path) -> None:
    many = {str(i).encode(): bytes(i % 7) for i in range(1200)}
    first = shelf(tmp_path / "deep" / "kept.sqlite")
    first.put(many)
    first.put({b"1": b"newer"})
    first.close()
    second = shelf(tmp_path / "deep" / "kept.sqlite")
    assert second.get([*many, b"unknown"]) == many | {b"1": b"newer"}
    second.clear()
    assert second.get(many) == {}


def test_without_a_place_nothing_is_kept() -> None:
    nowhere = shelf(None)
    nowhere.put({b"a": b"1"})
    assert nowhere.get([b"a"]) == {}


def test_a_damaged_file_is_moved_aside_and_said_once(tmp_path: Path) -> None:
    path, said = tmp_path / "kept.sqlite", list[str]()
    path.write_bytes(NOISE)
    damaged = shelf(path, said)
    assert damaged.get([b"a"]) == {}
    damaged.put({b"a": b"1"})
    assert damaged.get([b"a"]) == {b"a": b"1"}
    assert len(said) == 1
    assert "test cache was damaged" in said[0]
    assert (tmp_path / "kept.damaged").read_bytes() == NOISE


@pytest.mark.parametrize("place", range(0, 12288, 512))
def test_no_flipped_byte_stops_a_shelf(tmp_path: Path, place: int) -> None:
    """Wherever a file is damaged: what is found is what was put, or nothing."""
    path = tmp_path / "kept.sqlite"
    items = {str(i).encode(): b"v" * 40 for i in range(100)}
    first = shelf(path)
    first.put(items)
    first.close()
    data = bytearray(path.read_bytes())
    data[place % len(data) : place % len(data) + 64] = b"\xff" * 64
    path.write_bytes(data)
    second = shelf(path)
    assert all(isinstance(value, bytes) for value in second.get(items).values())
    second.put({b"new": b"1"})
    assert second.get([b"new"]) in ({b"new": b"1"}, {})


def test_an_unusable_place_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where a folder should be")
    said: list[str] = []
    unusable = shelf(tmp_path / "file" / "kept.sqlite", said)
    unusable.put({b"a": b"1"})
    assert unusable.get([b"a"]) == unusable.get([b"b"]) == {}
    assert len(said) == 1
    assert "going on without" in said[0]


def test_a_full_disk_is_said_once(tmp_path: Path) -> None:
    said: list[str] = []
    full = shelf(tmp_path / "kept.sqlite", said)
    full.put({b"a": b"1"})
    assert full._database is not None
    full._database.execute("PRAGMA max_page_count=3")
    for _ in range(3):
        full.put({str(i).encode(): b"v" * 50 for i in range(2000)})
    assert len(said) == 1
    assert "full" in said[0]


def test_threads_and_processes_share_a_shelf(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    code = (
        "import sys; from pathlib import Path; from suffice.shelf import Shelf\n"
        "shelf = Shelf(Path(sys.argv[1]), 'test cache', lambda said: sys.exit(said))\n"
        "for i in range(100): shelf.put({f'{sys.argv[2]}-{i}'.encode(): b'1'})\n"
    )
    others = [subprocess.Popen([sys.executable, "-c", code, str(path), str(own)]) for own in range(3)]
    said: list[str] = []
    ours = shelf(path, said)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: ours.put({f"ours-{i}".encode(): b"1"}), range(100)))
    assert [other.wait(60) for other in others] == [0, 0, 0]
    assert said == []
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM shelf").fetchone() == (400,)
