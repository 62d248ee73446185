"""Groups among vectors, for latent topics (S5): principal components, then k-means. Seeded, so the same run groups the same.

PCA        the right singular vectors of the centred rows, strongest first
k-means    Lloyd's iteration from k-means++ seeds (Arthur & Vassilvitskii 2007)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

_MAX_ITERATIONS = 50  # Small groups settle in a handful of steps.


def project_pca(rows: "numpy.ndarray", components: int) -> "numpy.ndarray":
    """The rows in their first principal components; never more than the rows or their dimensions allow."""
    import numpy

    centred = rows - rows.mean(axis=0)
    _, _, directions = numpy.linalg.svd(centred, full_matrices=False)
    projected: numpy.ndarray = centred @ directions[:components].T
    return projected


def kmeans(rows: "numpy.ndarray", k: int, seed: int = 0) -> "numpy.ndarray":
    """The number of its group for each row. Fewer rows than groups, or equal rows, give fewer groups."""
    import numpy

    if not len(rows):
        return numpy.zeros(0, int)
    random = numpy.random.default_rng(seed)
    centres = _choose_seeds(rows, k, random)
    group = numpy.zeros(len(rows), int)
    for step in range(_MAX_ITERATIONS):
        nearest = _squared_distances(rows, centres).argmin(axis=1)
        if step and (nearest == group).all():
            break
        group = nearest
        # A group that lost its last row keeps its centre: it may win rows back, and an empty one is nobody's topic.
        centres = numpy.array(
            [rows[group == j].mean(axis=0) if (group == j).any() else centres[j] for j in range(len(centres))]
        )
    return group


def cluster_rows(rows: "numpy.ndarray", components: int = 10, k: int = 8, seed: int = 0) -> list[list[int]]:
    """The row numbers of each group, largest group first; within a group, nearest to its centre first."""
    import numpy

    if not len(rows):
        return []
    flat = project_pca(rows, components)
    labels = kmeans(flat, k, seed)
    found = []
    for label in numpy.unique(labels):
        members = numpy.flatnonzero(labels == label)
        away = numpy.linalg.norm(flat[members] - flat[members].mean(axis=0), axis=1)
        found.append([int(member) for member in members[numpy.argsort(away, kind="stable")]])
    return sorted(found, key=lambda members: (-len(members), members[0]))


def _choose_seeds(rows: "numpy.ndarray", k: int, random: "numpy.random.Generator") -> "numpy.ndarray":
    """k-means++: each further seed is drawn in proportion to its squared distance from those there are."""
    import numpy

    chosen = [int(random.integers(len(rows)))]
    while len(chosen) < min(k, len(rows)):
        away = _squared_distances(rows, rows[chosen]).min(axis=1)
        total = away.sum()
        if total <= 1e-12:  # Only copies of the seeds are left.
            break
        chosen.append(int(random.choice(len(rows), p=away / total)))
    seeds: numpy.ndarray = rows[chosen]
    return seeds


def _squared_distances(rows: "numpy.ndarray", centres: "numpy.ndarray") -> "numpy.ndarray":
    squares: numpy.ndarray = ((rows[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    return squares
