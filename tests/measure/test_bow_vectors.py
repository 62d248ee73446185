"""Bag-of-words vectors: similarity is shared words."""

import numpy
import pytest

from suffice.measure.coverage import bow_vectors


def cosine(left, right):
    rows = bow_vectors([left, right])
    return float(rows[0] @ rows[1])


def test_rows_have_length_one_and_texts_without_words_are_zero():
    rows = bow_vectors(["the bridge was built", "", "of the"])
    assert numpy.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 0])


def test_similarity_is_shared_words_in_any_order_and_form():
    assert cosine("bridges of stone", "a stone bridge") == pytest.approx(1)
    assert cosine("stone bridge", "stone wall") == pytest.approx(0.5)
    assert cosine("stone bridge", "quiet music") == 0
