"""The vector cache: asks the embedder once, and never stands in the way."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from suffice.search.vectors import Vectors


class Counting:
    name = "counting/1"
    dimension = 3

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.texts.extend(texts)
        raw = np.array([[len(text) + 1, 1 / 3, 1] for text in texts], np.float32).reshape(len(texts), 3)
        return raw / np.linalg.norm(raw, axis=1, keepdims=True)


def test_each_text_is_embedded_once_across_openings(tmp_path: Path) -> None:
    embedder = Counting()
    first = Vectors(embedder, tmp_path, print)
    cold = first.get(["a", "bb", "a"])
    assert embedder.texts == ["a", "bb"]
    first.close()
    warm = Vectors(embedder, tmp_path, print).get(["bb", "a", "ccc"])
    assert embedder.texts == ["a", "bb", "ccc"]
    assert warm.dtype == np.float32
    assert np.array_equal(warm[:2], cold[[1, 0]])
    assert np.array_equal(cold[0], cold[2])


def test_nothing_asked_nothing_answered(tmp_path: Path) -> None:
    assert Vectors(Counting(), tmp_path, print).get([]).shape == (0, 3)


def test_memory_alone_remembers() -> None:
    embedder = Counting()
    vectors = Vectors(embedder, None, print)
    vectors.get(["a"])
    vectors.get(["a", "\ud800"])
    assert embedder.texts == ["a", "\ud800"]


def test_embedders_do_not_share_vectors(tmp_path: Path) -> None:
    one, two = Counting(), Counting()
    two.name = "counting:1"
    Vectors(one, tmp_path, print).get(["a"])
    Vectors(two, tmp_path, print).get(["a"])
    assert two.texts == ["a"]


def test_a_damaged_file_is_moved_aside(tmp_path: Path) -> None:
    said: list[str] = []
    Vectors(Counting(), tmp_path, said.append).get(["a"])
    [path] = (tmp_path / "vectors").glob("*.sqlite")
    path.write_bytes(b"this is no database, whatever it was before" * 100)
    for extra in (tmp_path / "vectors").glob("*-wal"):
        extra.unlink()
    vectors = Vectors(Counting(), tmp_path, said.append)
    vectors.get(["a"])
    vectors.close()
    assert len(said) == 1
    assert "damaged" in said[0]
    assert list((tmp_path / "vectors").glob("*.damaged"))
    assert sqlite3.connect(path).execute("SELECT count(*) FROM vectors").fetchone() == (1,)


def test_an_unusable_place_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("a file where a folder should be")
    said: list[str] = []
    vectors = Vectors(Counting(), tmp_path, said.append)
    assert vectors.get(["a"]).shape == vectors.get(["b"]).shape == (1, 3)
    assert len(said) == 1


def test_a_full_disk_is_said_once(tmp_path: Path) -> None:
    said: list[str] = []
    vectors = Vectors(Counting(), tmp_path, said.append)
    vectors.get(["a"])
    assert vectors._database is not None
    vectors._database.execute("PRAGMA max_page_count=3")
    many = [str(i) * 50 for i in range(2000)]
    assert vectors.get(many).shape == (2000, 3)
    assert len(said) == 1
    assert "full" in said[0]


def test_an_interruption_keeps_what_was_done(tmp_path: Path) -> None:
    embedder = Counting()
    vectors = Vectors(embedder, tmp_path, print)

    def tick(done: int) -> None:
        raise KeyboardInterrupt

    texts = [f"text {i}" for i in range(300)]
    with pytest.raises(KeyboardInterrupt):
        vectors.get(texts, tick)
    done = len(embedder.texts)
    vectors.close()
    Vectors(embedder, tmp_path, print).get(texts)
    assert len(embedder.texts) == 300 > done
