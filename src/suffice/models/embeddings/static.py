"""Static embeddings: one vector for each token, a text is the mean of its tokens.

The table was fitted to all-MiniLM-L6-v2 (``training/static``): it gives texts nearly the same cosines, about a thousand times
faster and without loading a model, so that all passages are embedded when they are indexed. Like that model it knows English
only.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.models.embeddings.minilm import FOLDER, load_once, load_tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A long passage gains nothing from more.
_MAX_TOKENS = 512
_BATCH_SIZE = 512
_UNKNOWN = 100  # The token ``[UNK]``, for a text without tokens.


class StaticEmbedder:
    """Embeds texts by a table of 30,522 tokens, 256 dimensions, 8 MB. Loads at first use; thread-safe."""

    name = "static-minilm-1"
    dimension = 256
    is_remote = False
    is_english_only = True

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        tokenizer, (table, scales) = load_tokenizer(_MAX_TOKENS), _load_table()
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _BATCH_SIZE):
            encodings = tokenizer.encode_batch_fast(list(texts[start : start + _BATCH_SIZE]), add_special_tokens=False)
            rows = [encoding.ids or [_UNKNOWN] for encoding in encodings]
            for number, ids in enumerate(rows, start):
                vectors[number] = scales[ids] @ table[ids]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-9), np.float32)


@load_once
def _load_table() -> "tuple[NDArray[np.int8], NDArray[np.float32]]":
    import numpy as np

    with np.load(FOLDER / "static.npz") as stored:
        return stored["vectors"], stored["scales"]


embed_static = StaticEmbedder().embed  # Of the embedder that all runs and searches of this process share.
