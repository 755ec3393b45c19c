"""What pictures of many samples share: the matrix checked, samples joined, places on a map."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.errors import InvalidInputError
from isodepth.many.distance_matrix import DistanceMatrix


def among_themselves(matrix: Any, fewest: int) -> DistanceMatrix:
    """A symmetric matrix of distances between at least so many samples."""
    found = matrix if isinstance(matrix, DistanceMatrix) else DistanceMatrix.of(matrix)
    values = found.values
    if not found.among_themselves or not np.array_equal(values, values.T):
        raise InvalidInputError(
            "this picture needs distances of samples among themselves, a symmetric matrix; got "
            f"shape {values.shape}"
        )
    if len(found) < fewest:
        raise InvalidInputError(f"this picture needs {fewest} samples or more, got {len(found)}")
    return found


def linkage(matrix: DistanceMatrix) -> np.ndarray:
    """Samples joined step by step, those at the least average distance first, as SciPy has it."""
    from scipy.cluster.hierarchy import linkage as join
    from scipy.spatial.distance import squareform

    condensed = squareform(np.asarray(matrix.values, dtype=float), checks=False)
    return join(condensed, method="average", optimal_ordering=len(matrix) <= 500)


def classical_scaling(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Places (N, 2) whose distances are close to those given, and how much of them they show.

    Classical scaling: the two leading eigenvectors of the doubly centered squares. The share is
    that of their eigenvalues among all positive ones; 1 where there is nothing to show.

    Examples
    --------
    >>> import numpy as np
    >>> places, share = classical_scaling(np.array([[0.0, 3.0, 5.0], [3, 0, 4], [5, 4, 0]]))
    >>> round(float(np.linalg.norm(places[0] - places[1])), 6), round(share, 6)
    (3.0, 1.0)
    """
    squares = np.asarray(values, dtype=float) ** 2
    centered = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    eigenvalues, vectors = np.linalg.eigh(-centered / 2)
    positive = np.clip(eigenvalues, 0, None)
    leading = positive[::-1][:2]
    places = vectors[:, ::-1][:, :2] * np.sqrt(leading)
    # The sign of an eigenvector is a matter of chance.
    places = places * np.where(places[np.abs(places).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return places, float(leading.sum() / positive.sum()) if positive.sum() > 0 else 1.0
