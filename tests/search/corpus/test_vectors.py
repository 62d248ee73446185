"""The embedding cache embeds each text once and survives corruption."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from suffice.search.corpus.vectors import EmbeddingCache


class Counting:
    name = "counting/1"
    dimension = 3
    is_remote = False

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.embedded.extend(texts)
        raw = np.array([[len(text) + 1, 1 / 3, 1] for text in texts], np.float32).reshape(len(texts), 3)
        return raw / np.linalg.norm(raw, axis=1, keepdims=True)


def test_each_text_is_embedded_once_across_openings(tmp_path: Path) -> None:
    embedder = Counting()
    first = EmbeddingCache(embedder, tmp_path, print)
    cold = first.embed(["a", "bb", "a"])
    assert embedder.embedded == ["a", "bb"]
    warm = EmbeddingCache(embedder, tmp_path, print).embed(["bb", "a", "ccc"])
    assert embedder.embedded == ["a", "bb", "ccc"]
    assert warm.dtype == np.float32
    assert np.array_equal(warm[:2], cold[[1, 0]])
    assert np.array_equal(cold[0], cold[2])


def test_no_texts_give_no_vectors(tmp_path: Path) -> None:
    assert EmbeddingCache(Counting(), tmp_path, print).embed([]).shape == (0, 3)


def test_vectors_are_cached_in_memory_without_a_folder() -> None:
    embedder = Counting()
    vectors = EmbeddingCache(embedder, None, print)
    vectors.embed(["a"])
    vectors.embed(["a", "\ud800"])
    assert embedder.embedded == ["a", "\ud800"]


def test_embedders_do_not_share_vectors(tmp_path: Path) -> None:
    one, two = Counting(), Counting()
    two.name = "counting:1"
    EmbeddingCache(one, tmp_path, print).embed(["a"])
    EmbeddingCache(two, tmp_path, print).embed(["a"])
    assert two.embedded == ["a"]


def test_corrupt_file_loses_only_its_vectors(tmp_path: Path) -> None:
    messages: list[str] = []
    EmbeddingCache(Counting(), tmp_path, messages.append).embed(["a"])
    [path] = (tmp_path / "vectors").glob("*.sqlite")
    path.write_bytes(b"this is no database, whatever it was before" * 100)
    for extra in (tmp_path / "vectors").glob("*-wal"):
        extra.unlink()
    embedder = Counting()
    assert EmbeddingCache(embedder, tmp_path, messages.append).embed(["a"]).shape == (1, 3)
    assert embedder.embedded == ["a"]
    assert len(messages) == 1


def test_another_dimension_is_another_file(tmp_path: Path) -> None:
    EmbeddingCache(Counting(), tmp_path, print).embed(["a"])
    wider = Counting()
    wider.dimension = 4
    wider.embed = lambda texts: np.ones((len(texts), 4), np.float32) / 2  # type: ignore[method-assign]
    assert EmbeddingCache(wider, tmp_path, print).embed(["a"]).shape == (1, 4)
    assert len(list((tmp_path / "vectors").glob("*.sqlite"))) == 2


class Swapped(Counting):
    """A server that replaced the model behind its name."""

    is_remote = True
    turn = 1.0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return super().embed(texts) * np.array([1, 1, self.turn], np.float32)


def test_vectors_are_discarded_if_the_server_changes_its_model(tmp_path: Path) -> None:
    messages: list[str] = []
    EmbeddingCache(Swapped(), tmp_path, messages.append).embed(["a"])
    same = Swapped()
    EmbeddingCache(same, tmp_path, messages.append).embed(["a"])
    assert "a" not in same.embedded
    assert messages == []
    other = Swapped()
    other.turn = -1.0
    turned = EmbeddingCache(other, tmp_path, messages.append).embed(["a"])
    assert turned[0, 2] < 0
    assert len(messages) == 1
    assert "has changed" in messages[0]


def test_interruption_keeps_finished_vectors(tmp_path: Path) -> None:
    embedder = Counting()
    vectors = EmbeddingCache(embedder, tmp_path, print)

    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    texts = [f"text {i}" for i in range(300)]
    with pytest.raises(KeyboardInterrupt):
        vectors.embed(texts, interrupt)
    done = len(embedder.embedded)
    EmbeddingCache(embedder, tmp_path, print).embed(texts)
    assert len(embedder.embedded) == 300 > done
