"""The embedding model that needs no network and no key.

``MiniLM`` runs all-MiniLM-L6-v2 (int8, ONNX; ``training/minilm`` made the file). It was trained on English: vectors of other
languages are poor. This module stores nothing on disk.
"""

import ctypes
import os
import sys
import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from suffice.errors import ModelError
from suffice.models.embeddings.base import normalize_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

P = ParamSpec("P")
T = TypeVar("T")
Input = TypeVar("Input")

_CRC32 = 3414196871
FOLDER = Path(__file__).parents[1] / "minilm"
# The length the model was trained with. It accepts 256, but on a processor without fast int8 a token costs a millisecond.
_MAX_TOKENS = 128
_REMEMBERED = 4_000  # Vectors, some ten megabytes with their texts.
_MAX_THREADS = 8  # Each takes the memory of one run of a model, some ten megabytes.
_M_ARENA_MAX = -8  # glibc's number for the most heaps of a process.


def load_once(load: Callable[P, T]) -> Callable[P, T]:
    """Remember what a loader returned; threads that need it at the same time wait for the first of them."""
    lock, remembered = threading.Lock(), cache(load)

    def load_locked(*args: P.args, **named: P.kwargs) -> T:
        with lock:
            return remembered(*args, **named)  # type: ignore[arg-type]

    return load_locked


class MiniLM:
    """all-MiniLM-L6-v2: 384 dimensions, English, the first 128 tokens of a text. Loads at first use; thread-safe.

    Texts are embedded one by one: the int8 weights scale their inputs by the largest value of a batch, so in batches a
    text's vector would depend on its neighbours.
    """

    name = "minilm-asked-2-128"
    dimension = 384
    is_remote = False
    is_english_only = True

    def __init__(self) -> None:
        # What the search compared, the answer compares again.
        self._embed_once = lru_cache(maxsize=_REMEMBERED)(self._embed)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        vectors = np.array(run_on_cores(self._embed_once, texts), np.float32)
        return normalize_rows(vectors.reshape(-1, self.dimension))

    def _embed(self, text: str) -> "NDArray[np.float32]":
        import numpy as np

        tokenizer, session = load_tokenizer(_MAX_TOKENS), open_session(FOLDER / "model.onnx", _CRC32)
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return session.run(None, feed)[0][0].mean(0)  # type: ignore[no-any-return]


def run_on_cores(run: Callable[[Input], T], inputs: Iterable[Input]) -> list[T]:
    """Run a model on each input, each on a core of its own: that is faster than each on all cores, one after the other."""
    return list(_get_threads().map(run, inputs))


@load_once
def _get_threads() -> ThreadPoolExecutor:
    """Return the threads that models run in. They share one heap: with its own, each would keep the memory of its runs."""
    # Of glibc; other C libraries have no heaps for threads.
    if sys.platform == "linux" and (set_option := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        set_option(_M_ARENA_MAX, 1)
    # In a container there are fewer cores than the machine has.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return ThreadPoolExecutor(min(cores, _MAX_THREADS), "model")


@cache
def get_minilm() -> MiniLM:
    """Return the model that all runs and searches of this process share. A loaded model takes about 100 MB."""
    return MiniLM()


@cache
def load_tokenizer(max_tokens: int | None) -> Any:
    """Return the tokenizer that the models of this package share; it cuts texts to ``max_tokens``."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.no_padding()
    if max_tokens is None:
        tokenizer.no_truncation()
    else:
        tokenizer.enable_truncation(max_tokens)
    return tokenizer


@cache
def verify_model_file(path: Path, crc32: int) -> None:
    """Raise ``ModelError`` unless the file has this checksum: cached vectors and thresholds depend on the exact model.

    A cryptographic hash of all models would take most of a second in every process.
    """
    found = 0
    try:
        for piece in _list_pieces(path):
            found = zlib.crc32(piece.read_bytes(), found)
    except OSError as error:
        raise ModelError(f"A model is missing ({error}); install suffice again") from error
    if found != crc32:
        raise ModelError(f"{path} is not the expected model (checksum {found:08x}); install suffice again")


def _list_pieces(path: Path) -> list[Path]:
    """Return a model's file, or its pieces ``NAME.0``, ``NAME.1`` …: many hosts take no file over 100 MB."""
    return sorted(path.parent.glob(f"{path.name}.[0-9]")) or [path]


@load_once
def open_session(path: Path, crc32: int) -> Any:
    """Load a model to run on this machine's processor, after checking its file."""
    import onnxruntime

    verify_model_file(path, crc32)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # ``run_on_cores`` uses the others.
    # Both keep memory for every shape of input that was seen, and texts have many lengths. They saved no time.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    pieces = _list_pieces(path)
    # From its path a model takes half of the memory while it loads.
    model = str(path) if pieces == [path] else b"".join(piece.read_bytes() for piece in pieces)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
