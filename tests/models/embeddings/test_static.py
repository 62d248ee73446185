"""Static embeddings: unit vectors that do not depend on the batch, near for texts that mean the same."""

import numpy as np

from suffice.models.embeddings.static import embed_static


def test_vectors_have_length_one_and_do_not_depend_on_the_batch() -> None:
    texts = ["The heron waits by the river.", "", "🦩", "a " * 2000]
    together = embed_static(texts)
    assert together.shape == (4, 256)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.allclose(together, np.concatenate([embed_static([text]) for text in texts]), atol=1e-6)
    assert embed_static([]).shape == (0, 256)


def test_texts_that_mean_the_same_are_nearer() -> None:
    query, same, other = embed_static(
        ["How do I make a copy of a file?", "Duplicating documents on disk", "The heron waits by the river."]
    )
    assert query @ same > query @ other + 0.1
