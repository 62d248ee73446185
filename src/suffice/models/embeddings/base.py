"""The Embedder seam: texts to vectors of length one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors of length one, so that a dot product is the cosine.

    ``name`` identifies the model and its version: vectors of the same name and dimension are interchangeable and may be
    cached by them. Behind a model with ``is_remote`` a server may change the model without changing the name. A model that
    has a true ``is_english_only`` is not used for passages in other languages.
    """

    @property
    def name(self) -> str: ...
    @property
    def is_remote(self) -> bool: ...
    @property
    def dimension(self) -> int:
        """Return the length of a vector; this may embed a text to find out."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row for each text, in order; raise ``ModelError`` on failure."""


def normalize_rows(rows: "NDArray[np.floating[Any]]") -> "NDArray[np.float32]":
    """Return the rows scaled to length one; raise ``ValueError`` for a row that is zero or not finite."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ValueError("a vector is zero or not finite")
    return np.asarray(rows / lengths, np.float32)
