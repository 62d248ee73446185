"""Coverage grows chunk by chunk to what it would be over all chunks at once."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.measure.coverage import CoverageTracker

quick = settings(max_examples=40, deadline=None)


def units(seed, count):
    rows = numpy.random.default_rng(seed).standard_normal((count, 5))
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def direct(topics, chunks):
    return numpy.maximum(0, (topics @ chunks.T).max(axis=1))


@quick
@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.integers(1, 5), st.integers(0, 99))
def test_in_steps_is_as_at_once(sizes, topics, seed):
    wanted, every = units(seed, topics), units(seed + 1, sum(sizes))
    cover, start = CoverageTracker(), 0
    cover.set_topics(wanted)
    last = cover.values
    for size in sizes:
        gain = cover.add_chunks(every[start : start + size])
        start += size
        assert (cover.values >= last).all(), "coverage never falls"
        assert gain == pytest.approx(float(numpy.linalg.norm(cover.values - last)))
        last = cover.values
    expected = direct(wanted, every) if len(every) else numpy.zeros(topics)
    assert numpy.allclose(cover.values, expected)


@quick
@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_changed_and_further_topics_are_held_against_everything_gathered(count, first, more, seed):
    chunks, old, new = units(seed, count), units(seed + 1, first), units(seed + 2, more)
    cover = CoverageTracker()
    cover.set_topics(old)
    cover.add_chunks(chunks)
    cover.add_topics(new)
    assert numpy.allclose(cover.values, direct(numpy.concatenate([old, new]), chunks))
    cover.set_topics(new)
    assert numpy.allclose(cover.values, direct(new, chunks))


def test_a_round_costs_only_what_is_new():
    """Topics are compared with the new chunks alone, whatever came before."""
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


def test_nothing_gathered_covers_nothing():
    cover = CoverageTracker()
    assert cover.chunks is None
    assert cover.add_chunks(numpy.zeros((0, 5))) == 0.0
    cover.add_topics(units(0, 2))
    assert list(cover.values) == [0.0, 0.0]
