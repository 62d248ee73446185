"""fastembed is optional and its models come from a hub, so these tests put a stand-in in its place."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from suffice.errors import InputError, ModelError
from suffice.models.embeddings.fastembed import FastEmbedEmbedder


class TextEmbedding:
    made: list[dict[str, Any]] = []  # noqa: RUF012

    @staticmethod
    def list_supported_models() -> list[dict[str, Any]]:
        return [{"model": "BAAI/bge-small-en-v1.5", "dim": 3}, {"model": "other/large", "dim": 9}]

    def __init__(self, **options: Any) -> None:
        if options["local_files_only"]:
            raise RuntimeError("no such file")
        self.made.append(options)

    def embed(self, texts: Sequence[str]) -> Iterator[np.ndarray]:
        return (np.array([len(text), 0, 0], np.float64) for text in texts)


@pytest.fixture
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("fastembed")
    module.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", module)
    monkeypatch.setattr(TextEmbedding, "made", [])


def test_a_missing_package_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(InputError, match=r"pip install 'suffice\[fastembed\]"):
        FastEmbedEmbedder("BAAI/bge-small-en-v1.5", tmp_path)


@pytest.mark.usefixtures("_installed")
def test_the_model_is_loaded_once_at_first_use(tmp_path: Path) -> None:
    model = FastEmbedEmbedder("baai/bge-small-en-v1.5", tmp_path)
    assert (model.dimension, TextEmbedding.made) == (3, [])
    assert model.embed([]).shape == (0, 3)
    assert model.embed(["a", "bb"]).tolist() == [[1, 0, 0], [1, 0, 0]]
    model.embed(["c"])
    assert [made["cache_dir"] for made in TextEmbedding.made] == [str(tmp_path)]


@pytest.mark.usefixtures("_installed")
def test_unknown_models_and_failures_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model 'nope'"):
        FastEmbedEmbedder("nope", tmp_path)
    with pytest.raises(ModelError, match="could not be downloaded"):
        FastEmbedEmbedder("other/large", tmp_path, offline=True).embed(["a"])
    with pytest.raises(ModelError, match="cannot embed"):
        FastEmbedEmbedder("BAAI/bge-small-en-v1.5", tmp_path).embed([""])
