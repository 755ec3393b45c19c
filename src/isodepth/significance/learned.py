"""A direction that is fitted to the difference between the samples, separately for each labeling.

A labeling assigns each row to X or to Y: the given labels, or one of B permutations of them. All
labelings are treated alike, so that p-values remain exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isodepth.significance.permutations import Permutations, map_rows
from isodepth.significance.samples import PooledSample

# Rows whose distance from the center is more than this multiple of the median distance have no
# influence on a direction.
_FAR_ROW = 3.0
# Coordinates of whitened rows are clipped at _SOUGHT standard deviations in the search for a
# direction. Projections on the direction are clipped at _MEASURED standard deviations.
_SOUGHT, _MEASURED = 2.5, 0.7
_STEPS = 2
# Maximum number of rows to which directions are fitted. If there are more rows, a random subset is
# used.
_LEARNING_ROWS = 20_000


def learned_direction(rows: PooledSample) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences (B + 1,) between the samples along directions that are fitted to them.

    The first entry belongs to the given labels, the others to B permutations. Each labeling has its
    own direction, which `_ascend` fits to the difference of its samples. Projections on it are
    clipped to [-0.7, 0.7]. An entry is the absolute difference of their sample means, divided by
    the length 1.4 of this interval. Also return the direction (d,) of the given labels.

    All directions are found by the same few steps, so that all labelings are treated alike. If
    there are more than 20,000 rows, directions are fitted to a random subset, which is the same for
    all labelings. The differences always use all rows, because the tolerance is a share of all
    rows.
    """
    permutations = rows.permutations
    points, to_rows = _whitened(rows.points)
    radius = np.linalg.norm(points, axis=1)
    if radius.any():
        points[radius > _FAR_ROW * np.median(radius[radius > 0])] = 0.0
    if len(points) <= _LEARNING_ROWS:
        values, directions = _ascend(points, permutations, rows.n_threads)
    else:
        chosen = np.sort(rows.rng.choice(len(points), _LEARNING_ROWS, replace=False))
        fewer = permutations.restricted(chosen, rows.rng)
        _, directions = _ascend(points[chosen], fewer, rows.n_threads)
        values, _ = _ascend(points, permutations, rows.n_threads, directions, steps=0)
    return values, _unit(directions[:1] @ to_rows)[0]


def _ascend(
    points: np.ndarray,
    permutations: Permutations,
    n_threads: int,
    start: np.ndarray | None = None,
    steps: int = _STEPS,
) -> tuple[np.ndarray, np.ndarray]:
    """Approximate the unit vector whose clipped projections have the most different sample means.

    Projections of `points` (n, d) are clipped to [-0.7, 0.7]. The search is separate for the given
    labels and for each of B permutations. The first direction is the row of `start` (B + 1, d), by
    default the difference of the sample means of the coordinates, clipped to [-2.5, 2.5]. In each
    of `steps` steps, the next direction is the gradient at the present one plus 0.3 times the row
    of `start`, scaled to length one.

    Return the largest absolute differences that were found (B + 1,), divided by the length 1.4 of
    the interval, and their directions (B + 1, d).
    """
    clipped = points.clip(-_SOUGHT, _SOUGHT)
    if start is None:
        start = _weighted_sums(
            permutations, lambda block, weights: weights @ clipped[block], n_threads
        )
    directions = leaders = _unit(start)
    best = np.zeros(permutations.count)
    for step in range(steps + 1):

        def differences(
            block: slice, weights: np.ndarray, directions: np.ndarray = directions, step: int = step
        ) -> np.ndarray:
            along = directions @ points[block].T
            values = np.einsum("bn,bn->b", weights, along.clip(-_MEASURED, _MEASURED))
            if step == steps:
                return values[:, None]
            ascent = (weights * (np.abs(along) < _MEASURED)) @ clipped[block]
            return np.column_stack([values, ascent])

        found = _weighted_sums(permutations, differences, n_threads)
        values = np.abs(found[:, 0]) / (2 * _MEASURED)
        leaders = np.where((values > best)[:, None], directions, leaders)
        best = np.maximum(best, values)
        if step < steps:
            directions = _unit(0.3 * start + found[:, 1:])
    return best, leaders


def _weighted_sums(
    permutations: Permutations,
    function: Callable[[slice, np.ndarray], np.ndarray],
    n_threads: int,
) -> np.ndarray:
    """Return the sum of function(rows, weights) over blocks of rows.

    `rows` is a slice of row indices. `weights` (B + 1, length of the slice) are the weights of
    these rows in a difference of sample means, for the given labels and B permutations: 1 / n_x for
    the n_x rows of the first sample, and -1 / n_y for the n_y rows of the second.
    """
    n_x, n_y = permutations.sizes.astype(np.float32)
    blocks = permutations.blocks_of_rows()

    def part(k: int) -> np.ndarray:
        labels = permutations.labels(blocks[k], dtype=np.float32)
        weights = np.ascontiguousarray((labels * (1 / n_x + 1 / n_y) - 1 / n_y).T)
        return function(blocks[k], weights)

    parts = map_rows(part, len(blocks), permutations.n_rows, n_threads)
    return np.stack(parts).sum(axis=0, dtype=np.float64)


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Divide vectors (k, d) by their lengths; the result is float32."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
    return (vectors / lengths).astype(np.float32)


def _whitened(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, d) divided by 1.4826 and whitened, and the whitening matrix (d, d).

    The number 1.4826 is the standard deviation of a normal distribution with MAD 1. The covariance
    of the whitened points is about the identity, if points far from the median are clipped. The
    matrix is the identity if there are at most 10 d rows, too few to estimate a covariance.
    """
    n, d = points.shape
    points = points * (1 / 1.4826)
    to_rows = np.eye(d)
    if n > 10 * d:
        covariance = np.cov(points.clip(-_SOUGHT, _SOUGHT), rowvar=False)
        values, vectors = np.linalg.eigh(covariance + 1e-3 * np.eye(d))
        to_rows = (vectors / np.sqrt(values)) @ vectors.T
    # Clipping at 1e6 prevents overflow of squares in float32. It has no effect on the result,
    # because projections are later clipped at much smaller values.
    return (points.clip(-1e6, 1e6) @ to_rows).astype(np.float32), to_rows
