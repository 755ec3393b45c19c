"""Spectral clustering of distance matrices, and how well it finds the classes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

#: The graph of the nearest neighbors, which no change of scale affects.
MAIN = "knn"
#: `rbf` is the literal default of scikit-learn, on distances as they are.
AFFINITIES = (MAIN, "std", "median", "rbf")
N_CLUSTERS = 10
N_NEIGHBOURS = 10


def jobs(count: int) -> int:
    """For joblib: all cores, but no processes where starting them takes longer than the work."""
    return -1 if count >= 400 else 1


def scores(
    distances: Mapping[str, np.ndarray], labels: np.ndarray, affinities: Sequence[str], seed: int
) -> dict[str, list[float]]:
    """NMI and ARI of each method: for one affinity after the other, nmi and ari."""
    from joblib import Parallel, delayed

    tasks = [(name, affinity) for name in distances for affinity in affinities]
    found = Parallel(n_jobs=jobs(len(labels)))(
        delayed(agreement)(distances[name], labels, affinity, seed) for name, affinity in tasks
    )
    result: dict[str, list[float]] = {name: [] for name in distances}
    for (name, _), pair in zip(tasks, found, strict=True):
        result[name] += pair
    return result


def agreement(
    distances: np.ndarray, labels: np.ndarray, affinity: str, seed: int
) -> tuple[float, float]:
    """NMI and ARI of the clusters with the classes."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    found = clusters(distances, affinity, seed)
    return (
        float(normalized_mutual_info_score(labels, found)),
        float(adjusted_rand_score(labels, found)),
    )


def clusters(distances: np.ndarray, affinity: str, seed: int) -> np.ndarray:
    """The cluster of each row of a distance matrix (N, N)."""
    from sklearn.cluster import SpectralClustering

    with warnings.catch_warnings():
        # A graph in pieces, or too few clusters, is what some affinities give: the scores tell.
        warnings.simplefilter("ignore")
        if affinity == MAIN:
            model = SpectralClustering(
                N_CLUSTERS,
                affinity="precomputed_nearest_neighbors",
                n_neighbors=N_NEIGHBOURS,
                random_state=seed,
            )
            return model.fit_predict(distances)
        model = SpectralClustering(N_CLUSTERS, affinity="precomputed", random_state=seed)
        return model.fit_predict(similarity(distances, affinity))


def similarity(distances: np.ndarray, affinity: str) -> np.ndarray:
    """Similarities from distances, by a kernel."""
    if affinity == "rbf":
        return np.exp(-(distances**2))
    apart = distances[np.triu_indices_from(distances, 1)]
    scale = apart.std() if affinity == "std" else np.median(apart)
    return np.exp(-distances / scale)
