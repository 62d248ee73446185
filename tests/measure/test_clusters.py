"""Principal components and k-means by their defining properties."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from suffice.measure.clusters import cluster_rows, kmeans, project_pca

rows = arrays(
    float, st.tuples(st.integers(1, 25), st.integers(1, 12)), elements=st.floats(-10, 10, allow_subnormal=False)
)


def blobs(count, each, spread=0.01, seed=1):
    random = numpy.random.default_rng(seed)
    centres = 10 * numpy.eye(count, 12)
    return numpy.concatenate([centre + spread * random.standard_normal((each, 12)) for centre in centres])


@given(rows, st.integers(1, 12), st.integers(1, 10), st.integers(0, 5))
def test_every_row_is_in_exactly_one_cluster(rows, components, k, seed):
    found = cluster_rows(rows, components, k, seed)
    assert sorted(number for members in found for number in members) == list(range(len(rows)))
    assert len(found) <= min(k, len(rows))
    assert [len(members) for members in found] == sorted((len(members) for members in found), reverse=True)


@given(rows, st.integers(1, 10), st.integers(0, 5))
def test_the_same_seed_gives_the_same_clusters(rows, k, seed):
    assert (kmeans(rows, k, seed) == kmeans(rows, k, seed)).all()


@given(rows, st.integers(1, 12))
def test_all_components_together_lose_nothing(rows, components):
    flat = project_pca(rows, components)
    assert flat.shape == (len(rows), min(components, *rows.shape))
    whole = project_pca(rows, 12)
    centred = rows - rows.mean(axis=0)
    assert numpy.allclose((whole**2).sum(axis=1), (centred**2).sum(axis=1), atol=1e-6)


def test_components_are_strongest_first():
    random = numpy.random.default_rng(0)
    flat = project_pca(random.standard_normal((50, 6)) * [1, 9, 3, 1, 1, 1], 3)
    spread = flat.std(axis=0)
    assert list(spread) == sorted(spread, reverse=True)
    assert spread[0] == pytest.approx(9, rel=0.3)


def test_distant_blobs_are_separated():
    found = cluster_rows(blobs(8, 6))
    assert sorted(sorted(members) for members in found) == [list(range(6 * n, 6 * n + 6)) for n in range(8)]


def test_the_first_row_of_a_cluster_is_nearest_to_its_centre():
    line = numpy.array([[0.0, 0.0], [1.0, 0.0], [2.2, 0.0]])
    assert cluster_rows(line, 2, 1)[0][0] == 1


@pytest.mark.parametrize("count", [0, 1, 3])
def test_fewer_rows_than_clusters(count):
    assert len(cluster_rows(blobs(8, 1)[:count], k=8)) == count


def test_equal_rows_form_one_cluster():
    assert cluster_rows(numpy.ones((9, 4)), k=8) == [list(range(9))]
