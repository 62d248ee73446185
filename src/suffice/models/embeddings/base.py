"""The Embedder seam: texts to vectors of length one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors of length one, so that a dot product is the cosine.

    ``name`` identifies the model and its version: vectors of equal name and dimension are interchangeable and may be cached
    by them. Behind a ``served`` one a server may change the model and keep the name.
    """

    @property
    def name(self) -> str: ...
    @property
    def is_remote(self) -> bool: ...
    @property
    def dimension(self) -> int:
        """How long a vector is; may have to ask for one first."""
        ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row a text, in order; raises ``ModelError`` when there is none."""
        ...


def normalize_rows(rows: "NDArray[np.floating[Any]]") -> "NDArray[np.float32]":
    """The rows at length one; raises ``ValueError`` for one that points nowhere or holds what is no number."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ValueError("a vector is empty or holds what is no number")
    return np.asarray(rows / lengths, np.float32)
