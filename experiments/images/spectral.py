"""Spectral clustering of distance matrices, with scores against the classes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

#: Graph of nearest neighbors, which does not depend on the scale of the distances.
NEIGHBORS = "knn"
#: Graph of all pairs, with the similarity 1 / (1 + D). It was chosen after the scores of the paper
#: had been compared with those of several similarities.
INVERSE = "inverse"
GRAPHS = {NEIGHBORS: "neighbor graph", INVERSE: "1 / (1 + D)"}
#: `rbf` is the default of scikit-learn, on unscaled distances.
AFFINITIES = (*GRAPHS, "std", "median", "rbf")
N_CLUSTERS = 10
N_NEIGHBOURS = 10


def jobs(count: int) -> int:
    """Return the number of jobs of joblib for `count` tasks.

    It is the number of cores, or 1 if starting processes would take longer than the tasks.
    """
    return -1 if count >= 400 else 1


def scores(
    distances: Mapping[str, np.ndarray], labels: np.ndarray, affinities: Sequence[str], seed: int
) -> dict[str, list[float]]:
    """Return NMI and ARI of the clusters by each method, for each affinity.

    `distances` maps a method to its distance matrix. An affinity is the name of a kernel that
    converts distances to similarities.
    """
    from joblib import Parallel, delayed

    tasks = [(name, affinity) for name in distances for affinity in affinities]
    pairs = Parallel(n_jobs=jobs(len(labels)))(
        delayed(agreement)(distances[name], labels, affinity, seed) for name, affinity in tasks
    )
    result: dict[str, list[float]] = {name: [] for name in distances}
    for (name, _), pair in zip(tasks, pairs, strict=True):
        result[name] += pair
    return result


def agreement(
    distances: np.ndarray, labels: np.ndarray, affinity: str, seed: int
) -> tuple[float, float]:
    """Return the agreement of the clusters with the classes `labels`: NMI and ARI.

    NMI is the normalized mutual information, and ARI the adjusted Rand index. `affinity` is the
    kernel that converts distances to similarities.
    """
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    labels_found = clusters(distances, affinity, seed)
    return (
        float(normalized_mutual_info_score(labels, labels_found)),
        float(adjusted_rand_score(labels, labels_found)),
    )


def clusters(distances: np.ndarray, affinity: str, seed: int) -> np.ndarray:
    """Return the cluster of each of N objects by spectral clustering of their distances (N, N).

    `affinity` is the kernel that converts distances to similarities.
    """
    from sklearn.cluster import SpectralClustering

    with warnings.catch_warnings():
        # Some affinities give a disconnected graph or too few clusters; the scores show it.
        warnings.simplefilter("ignore")
        if affinity == NEIGHBORS:
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
    """Convert distances to similarities by the kernel with the name `affinity`."""
    if affinity == INVERSE:
        return 1.0 / (1.0 + distances)
    if affinity == "rbf":
        return np.exp(-(distances**2))
    apart = distances[np.triu_indices_from(distances, 1)]
    scale = apart.std() if affinity == "std" else np.median(apart)
    return np.exp(-distances / scale)
