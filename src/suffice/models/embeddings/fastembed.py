"""Embeddings by the optional package ``fastembed``: many models on this machine, downloaded from a hub at first use."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.errors import InputError, ModelError, describe_install
from suffice.models.embeddings.base import normalize_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class FastEmbedEmbedder:
    """Embeds texts with a fastembed model, loaded at first use. ``offline`` forbids downloads. Thread-safe."""

    is_remote = False

    def __init__(self, model: str, folder: Path, *, offline: bool = False) -> None:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise InputError(f"fastembed is not installed; install it with: {describe_install('fastembed')}") from error
        known = {item["model"].lower(): item["dim"] for item in TextEmbedding.list_supported_models()}
        if model.lower() not in known:
            raise InputError(f"fastembed has no model {model!r}; it has: {', '.join(sorted(known)[:5])} and others")
        self.name = f"fastembed:{model}"
        self.dimension: int = known[model.lower()]
        self._model = model
        self._folder = folder
        self._offline = offline
        self._model_class: Any = TextEmbedding
        self._lock = threading.Lock()
        self._loaded: Any = None

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        try:
            rows = np.array(list(self._load().embed(list(texts))), np.float32)
            return normalize_rows(rows)
        except ValueError as error:
            raise ModelError(f"{self.name} cannot embed these texts ({error})") from error

    def _load(self) -> Any:
        with self._lock:
            if self._loaded is None:
                try:
                    self._loaded = self._model_class(
                        model_name=self._model, cache_dir=str(self._folder), local_files_only=self._offline
                    )
                except Exception as error:  # The hub's client raises errors of many kinds.
                    raise ModelError(
                        f"{self.name} could not be downloaded ({error}); "
                        "connect to the network once, or unset SUFFICE_EMBEDDINGS"
                    ) from error
            return self._loaded
