"""Cluster vectors into latent topics: principal components, then k-means. Seeded, so that a run is reproducible.

PCA        the right singular vectors of the centred rows, strongest first
k-means    Lloyd's iteration from k-means++ seeds (Arthur & Vassilvitskii 2007)
"""

import numpy

_MAX_ITERATIONS = 50  # Small clusters converge in a few steps.


def project_pca(rows: numpy.ndarray, components: int) -> numpy.ndarray:
    """Project the rows onto their first principal components, as many as the rows and their dimensions allow."""
    centred = rows - rows.mean(axis=0)
    _, _, directions = numpy.linalg.svd(centred, full_matrices=False)
    return numpy.asarray(centred @ directions[:components].T)


def kmeans(rows: numpy.ndarray, k: int, seed: int = 0) -> numpy.ndarray:
    """Return the cluster number of each row. Fewer rows than ``k``, or equal rows, give fewer clusters."""
    if not len(rows):
        return numpy.zeros(0, int)
    random = numpy.random.default_rng(seed)
    centres = _choose_seeds(rows, k, random)
    labels = numpy.zeros(len(rows), int)
    for step in range(_MAX_ITERATIONS):
        nearest = _squared_distances(rows, centres).argmin(axis=1)
        if step and (nearest == labels).all():
            break
        labels = nearest
        # A cluster that lost its last row keeps its centre and may win rows back.
        centres = numpy.array(
            [rows[labels == j].mean(axis=0) if (labels == j).any() else centres[j] for j in range(len(centres))]
        )
    return labels


def cluster_rows(rows: numpy.ndarray, components: int = 10, k: int = 8, seed: int = 0) -> list[list[int]]:
    """Return the row numbers of each cluster: largest cluster first, rows nearest to its centre first."""
    if not len(rows):
        return []
    flat = project_pca(rows, components)
    labels = kmeans(flat, k, seed)
    clusters = []
    for label in numpy.unique(labels):
        members = numpy.flatnonzero(labels == label)
        distances = numpy.linalg.norm(flat[members] - flat[members].mean(axis=0), axis=1)
        clusters.append([int(member) for member in members[numpy.argsort(distances, kind="stable")]])
    return sorted(clusters, key=lambda members: (-len(members), members[0]))


def _choose_seeds(rows: numpy.ndarray, k: int, random: numpy.random.Generator) -> numpy.ndarray:
    """Draw seeds as k-means++ does: in proportion to the squared distance from the nearest seed so far."""
    chosen = [int(random.integers(len(rows)))]
    while len(chosen) < min(k, len(rows)):
        distances = _squared_distances(rows, rows[chosen]).min(axis=1)
        total = distances.sum()
        if total <= 1e-12:  # Only copies of the seeds are left.
            break
        chosen.append(int(random.choice(len(rows), p=distances / total)))
    return numpy.asarray(rows[chosen])


def _squared_distances(rows: numpy.ndarray, centres: numpy.ndarray) -> numpy.ndarray:
    return numpy.asarray(((rows[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2))
