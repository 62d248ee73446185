"""Incremental coverage equals coverage over all chunks at once."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.measure.coverage import CoverageTracker


def units(seed, count):
    rows = numpy.random.default_rng(seed).standard_normal((count, 5))
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def direct(topics, chunks):
    return numpy.maximum(0, (topics @ chunks.T).max(axis=1))


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.integers(1, 5), st.integers(0, 99))
def test_adding_in_steps_equals_adding_at_once(sizes, topics, seed):
    topic_rows, chunks = units(seed, topics), units(seed + 1, sum(sizes))
    cover, start = CoverageTracker(), 0
    cover.set_topics(topic_rows)
    last = cover.values
    for size in sizes:
        gain = cover.add_chunks(chunks[start : start + size])
        start += size
        assert (cover.values >= last).all(), "coverage never falls"
        assert gain == pytest.approx(float(numpy.linalg.norm(cover.values - last)))
        last = cover.values
    expected = direct(topic_rows, chunks) if len(chunks) else numpy.zeros(topics)
    assert numpy.allclose(cover.values, expected)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_changed_and_added_topics_are_compared_with_all_chunks(count, first, more, seed):
    chunks, old, new = units(seed, count), units(seed + 1, first), units(seed + 2, more)
    cover = CoverageTracker()
    cover.set_topics(old)
    cover.add_chunks(chunks)
    cover.add_topics(new)
    assert numpy.allclose(cover.values, direct(numpy.concatenate([old, new]), chunks))
    cover.set_topics(new)
    assert numpy.allclose(cover.values, direct(new, chunks))


def test_adding_chunks_compares_the_new_ones_only():
    """The cost of a round does not grow with the chunks of earlier rounds."""
    cover = CoverageTracker()
    cover.set_topics(units(1, 3))
    for seed in range(20):
        cover.add_chunks(units(seed, 4))
    compared = []
    original = CoverageTracker._max_similarities

    class Watched(CoverageTracker):
        @staticmethod
        def _max_similarities(topics, chunks):
            compared.append(len(chunks))
            return original(topics, chunks)

    cover.__class__ = Watched
    cover.add_chunks(units(99, 2))
    assert compared == [2]


def test_without_chunks_nothing_is_covered():
    cover = CoverageTracker()
    assert cover.chunks is None
    assert cover.add_chunks(numpy.zeros((0, 5))) == 0.0
    cover.add_topics(units(0, 2))
    assert list(cover.values) == [0.0, 0.0]
