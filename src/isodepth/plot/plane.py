"""The plane in which two samples differ most: for looking at them."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.core.directions import rng_for
from isodepth.errors import InvalidInputError

_MOST_CANDIDATES = 500
# Of more levels, so many that stand for equal shares.
_MOST_LEVELS = 100
# How far to look around the best direction found so far, and how often at each distance.
_STEPS = (0.5, 0.25, 0.12, 0.06, 0.03, 0.015)
_TRIES = 48


def mean_squared_gaps(comparison: Any, directions: np.ndarray) -> np.ndarray:
    """Squared gap along u, averaged over u and -u and over levels, for directions (B, d).

    Of very many levels a hundred are looked at.
    """
    levels, shares = _levels(comparison.level_widths)
    units = directions.astype(comparison.regions[0].points.dtype, copy=False)
    x, y = (comparison.supports(side, units, levels) for side in (0, 1))
    return (shares @ (x - y) ** 2).reshape(2, -1).mean(axis=0)


def _levels(shares: np.ndarray) -> tuple[Any, np.ndarray]:
    """Which levels to look at, and the share each of them stands for."""
    if len(shares) <= _MOST_LEVELS:
        return slice(None), shares
    middles = (np.arange(_MOST_LEVELS) + 0.5) / _MOST_LEVELS
    places = np.searchsorted(np.cumsum(shares), middles).clip(max=len(shares) - 1)
    return places, np.full(_MOST_LEVELS, 1.0 / _MOST_LEVELS)


def difference_plane(comparison: Any) -> np.ndarray:
    """The direction of the largest mean squared gap, and the best one orthogonal to it.

    The largest is looked for among the directions of the comparison, their weighted average and
    the difference of the centers, and then around the best of these; the same at each call.

    Parameters
    ----------
    comparison : Comparison of samples of at least two columns

    Returns
    -------
    basis : ndarray of shape (d, 2), orthonormal columns
        In two dimensions the axes of the data, in order.
    """
    if not comparison.keeps_rows:
        raise InvalidInputError(
            "the plane of the difference needs the rows of both samples, and these were read in "
            "chunks; compare a part of them that fits into memory"
        )
    d = comparison.regions[0].n_features
    if d == 1:
        raise InvalidInputError(
            "regions are drawn in a plane, and these samples have one column; draw their gaps"
        )
    if d == 2:
        return np.eye(2)
    candidates = _candidates(comparison)
    first = _best(comparison, candidates, np.zeros((0, d)))
    second = _best(comparison, candidates, first[None])
    return np.stack([first, second], axis=1)


def _candidates(comparison: Any) -> np.ndarray:
    vectors = np.asarray(comparison.search_directions, dtype=float)
    vectors = vectors[:: -(-len(vectors) // _MOST_CANDIDATES)]
    d = vectors.shape[1]
    x, y = (regions.points[regions.inside(0.5)].mean(axis=0) for regions in comparison.regions)
    found = [np.eye(d), vectors, (y - x).astype(float)[None]]
    # Refined directions of single levels, averaged as in the shares of columns.
    attained = comparison.direction
    weights = comparison.level_widths * comparison.gaps**2
    found.append(np.linalg.eigh(attained.T @ (attained * weights[:, None]))[1].T[-2:])
    return np.concatenate(found)


def _best(comparison: Any, candidates: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """The best direction orthogonal to those taken, its largest entry positive."""
    tried = _units(candidates, taken)
    gaps = mean_squared_gaps(comparison, tried)
    best, largest = tried[gaps.argmax()], gaps.max()
    rng = rng_for(0, "local search")
    for step in _STEPS:
        near = best + step * _units(rng.standard_normal((_TRIES, len(best))), taken)
        near = _units(near, taken)
        found = mean_squared_gaps(comparison, near)
        if found.max() > largest:
            best, largest = near[found.argmax()], found.max()
    return best * np.sign(best[np.abs(best).argmax()])


def _units(vectors: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """Those parts of the vectors that are orthogonal to what is taken, of length one."""
    # Twice: what rounding leaves of the parts taken away goes the second time.
    for _ in range(2):
        vectors = vectors - vectors @ taken.T @ taken
        length = np.linalg.norm(vectors, axis=1)
        kept = length > 1e-6 * np.sqrt(vectors.shape[1])
        vectors = vectors[kept] / length[kept, None]
    return vectors
