"""MiniLM: meaningful unit vectors that do not depend on the batch."""

import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from suffice.errors import ModelError
from suffice.models.embeddings import minilm
from suffice.models.embeddings.minilm import MiniLM


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


TEXTS = ["A cat sleeps.", "A kitten naps.", "Shares fell in Tokyo on Monday.", "", "word " * 400]


def test_vectors_have_length_one_and_similar_texts_are_close(model: MiniLM) -> None:
    vectors = model.embed(TEXTS)
    assert vectors.shape == (5, model.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]


def test_a_vector_does_not_depend_on_its_batch(model: MiniLM) -> None:
    together = model.embed(TEXTS)
    alone = np.concatenate([model.embed([text]) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-5
    assert np.array_equal(together, model.embed(TEXTS))


def test_threads_share_a_model() -> None:
    fresh = MiniLM()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: fresh.embed(TEXTS[:2]), range(4)))
    assert all(np.array_equal(results[0], result) for result in results)


@pytest.mark.skipif(
    sys.platform != "linux" or platform.libc_ver()[0] != "glibc", reason="only glibc has heaps for threads"
)
def test_all_threads_share_one_heap(tmp_path: Path) -> None:
    """With a heap for each thread, a service keeps the memory of a model's run once for every thread that ran it."""
    code = """if True:
        import ctypes, sys
        from concurrent.futures import ThreadPoolExecutor
        from suffice.models.embeddings.minilm import MiniLM
        libc = ctypes.CDLL(None)
        model = MiniLM()
        model.embed(["loaded"])
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda number: model.embed([f"text {number} " * 90] * 3), range(8)))
        libc.fopen.restype = ctypes.c_void_p
        file = libc.fopen(sys.argv[1].encode(), b"w")
        libc.malloc_info(0, ctypes.c_void_p(file))
        libc.fclose(ctypes.c_void_p(file))
    """
    written = tmp_path / "heaps.xml"
    subprocess.run([sys.executable, "-c", code, str(written)], check=True, timeout=120)
    assert written.read_text().count("<heap nr=") == 1


def test_no_texts_give_no_rows(model: MiniLM) -> None:
    assert model.embed([]).shape == (0, 384)


def test_an_unexpected_model_file_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_CRC32", 0)
    with pytest.raises(ModelError, match="not the expected model"):
        MiniLM().embed(["a"])


def test_a_missing_model_file_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes((minilm.FOLDER / "tokenizer.json").read_bytes())
    monkeypatch.setattr(minilm, "FOLDER", tmp_path)
    with pytest.raises(ModelError, match="install suffice again"):
        MiniLM().embed(["a"])


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, suffice.search.corpus, suffice.models.embeddings;"
        "print([name for name in ('numpy', 'onnxruntime', 'tokenizers', 'tantivy') if name in sys.modules])"
    )
    root = Path(minilm.__file__).parents[3]
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(root)}
    )
    assert result.stdout.strip() == "[]"
