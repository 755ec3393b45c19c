"""Projection depth in the plane without directions: the supremum of the outlyingness."""

from __future__ import annotations

import numpy as np

from isodepth import _core
from isodepth.depth.exact.inputs import WeightedPoints, check_work, merge_points, merge_queries
from isodepth.engine import available_cores
from isodepth.errors import InvalidInputError

#: About a minute of one core.
MAX_WORK = 1e9


def exact_projection_depth_2d(
    points: np.ndarray,
    masses: np.ndarray,
    queries: np.ndarray,
    *,
    max_work: float = MAX_WORK,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Projection depth of points in the plane, over all directions.

    The depth is ``1 / (1 + sup_u |<u, x> - med| / MAD)``, with the median of the positive
    deviations where the MAD is zero. Off a line that holds more than half of the mass (counting
    points that are off it by no more than rounding) the supremum is infinite and the depth 0:
    directions near the normal of the line have a MAD as small as one likes.

    Parameters
    ----------
    points : array of shape (n, 2)
        Repeated points count with the sum of their masses.
    masses : int array of shape (n,)
        None negative, not all zero. Points of mass zero do not belong to the sample.
    queries : array of shape (m, 2)
    max_work : float
        How many elementary steps may be taken; about ``n**3`` are, whatever the number of queries:
        half a second for n = 200, the limit being n = 1000.
    n_jobs : int or None
        Threads; None for all cores.

    Returns
    -------
    depths : float64 ndarray of shape (m,)
        Exact up to rounding: relative errors are a few units of 1e-16 times the ratio of the size
        of the data, far points included, to the MAD in the worst direction.

    Examples
    --------
    >>> import numpy as np
    >>> cross = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> exact_projection_depth_2d(cross, np.ones(5, dtype=int), [[0, 0], [1, 0], [1, 1]])
    array([1., 0., 0.])
    """
    sample = merge_points(points, masses)
    if sample.points.shape[1] != 2 or sample.total == 0:
        raise InvalidInputError(
            "the exact projection depth needs points in the plane, some of positive mass; got "
            f"points of shape {np.shape(points)} and total mass {sample.total}"
        )
    distinct, inverse = merge_queries(queries, 2)
    n = len(sample.points)
    check_work(
        float(n) ** 3, max_work, f"the exact projection depth in a sample of {n} distinct points"
    )
    if n == 1:
        depths = (distinct == sample.points[0]).all(axis=1).astype(np.float64)
    else:
        depths = 1.0 / (1.0 + _outlyingness(sample, distinct, n_jobs))
    return depths[inverse]


def _outlyingness(sample: WeightedPoints, queries: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Supremum over all directions, of shape (m,), for a sample of two points or more."""
    # Moving and scaling each coordinate changes no depth, and makes angles and sizes comparable.
    n = len(sample.points)
    middle = np.sort(sample.points, axis=0)[n // 2]
    everything = np.concatenate([sample.points, queries])
    # Halves, so that differences of the largest floats do not overflow.
    exponents = np.frexp(np.abs(sample.points / 2 - middle / 2).max(axis=0))[1] + 1
    sizes = np.abs(everything / 2) + np.abs(middle / 2)
    with np.errstate(over="ignore"):
        moved = np.ldexp(everything / 2 - middle / 2, 1 - exponents)
        rounding = np.ldexp(sizes, 1 - exponents) * np.finfo(np.float64).eps

    # What the scale is the median of: all deviations, or those that are not always zero.
    spread_masses = sample.masses.copy()
    heavy = int(sample.masses.argmax())
    if 2 * int(sample.masses[heavy]) > sample.total:
        spread_masses[heavy] = 0
    else:
        heavy = -1
    worst = _core.planar_outlyingness(
        np.ascontiguousarray(moved),
        np.ascontiguousarray(rounding),
        sample.masses,
        spread_masses,
        heavy=heavy,
        n_threads=available_cores() if n_jobs is None else n_jobs,
    )
    if heavy >= 0:
        # The median itself, which rounding must not move away from itself.
        worst[(queries == sample.points[heavy]).all(axis=1)] = 0.0
    return worst
