"""Slow and simple reference implementations of functions of convex hulls."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
import scipy
from scipy.optimize import minimize, nnls

#: Before 1.16 the result of `nnls` may be far from the minimum.
SOUND_NNLS = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 16)


def enumerated_distance(points: np.ndarray, query: np.ndarray) -> float:
    """Return the distance of a point from the convex hull of points, by enumeration of simplices.

    The nearest point of the hull is in a simplex of at most d + 1 of the points. Each set of at
    most d + 1 points is tried: the query is projected on its affine span, and the projection is
    kept if it is in the simplex. There are up to 2^n sets, so n must be small.
    """
    n, dim = points.shape
    best = np.inf
    for size in range(1, min(n, dim + 1) + 1):
        for chosen in combinations(range(n), size):
            corner, *others = points[list(chosen)]
            edges = np.array(others).reshape(-1, dim) - corner
            shares = np.linalg.lstsq(edges.T, query - corner, rcond=None)[0]
            if (shares >= 0).all() and shares.sum() <= 1:
                best = min(best, float(np.linalg.norm(corner + shares @ edges - query)))
    return best


def distance(points: np.ndarray, query: np.ndarray) -> float:
    """Return the distance of a point q from the convex hull of points p_i, by least squares.

    Minimizing |sum v_i (p_i - q)|^2 + size^2 (1 - sum v_i)^2 over v >= 0 gives the weights v /
    sum(v) of the nearest point, because only the first term depends on v for a given sum. `size` is
    the minimum distance of a point from the query.
    """
    offsets = points - query
    size = np.linalg.norm(offsets, axis=1).min()
    if size == 0:
        return 0.0
    matrix = np.vstack([offsets.T, np.full(len(points), size)])
    target = np.zeros(len(matrix))
    target[-1] = size
    if not SOUND_NNLS:
        pytest.skip("scipy.optimize.nnls is wrong before SciPy 1.16")
    shares, _ = nnls(matrix, target, maxiter=100 * len(points))
    return float(np.linalg.norm(shares / shares.sum() @ offsets))


def hausdorff(first: np.ndarray, second: np.ndarray) -> float:
    """Return the Hausdorff distance of two convex hulls, given by two sets of points.

    This is the maximum distance from a point of one set to the hull of the other set.
    """
    return max(
        max(distance(second, point) for point in first),
        max(distance(first, point) for point in second),
    )


def gap_along(first: np.ndarray, second: np.ndarray, u: np.ndarray) -> float:
    """Return h_first(u) - h_second(u) for a vector u.

    h_first and h_second are the support functions of two sets of points.
    """
    return float((first @ u).max() - (second @ u).max())


def searched_hausdorff(first: np.ndarray, second: np.ndarray) -> float:
    """Return the supremum of |h_first(u) - h_second(u)| over unit u, by a general optimizer.

    There is one start per point of both sets. For a fixed point p that attains the larger support,
    <p, u> - t is maximized over u and t, subject to <q, u> <= t for all q of the other set.
    """
    return max(
        _largest_step_ahead(point, other)
        for points, other in ((first, second), (second, first))
        for point in points
    )


def _largest_step_ahead(point: np.ndarray, other: np.ndarray) -> float:
    offsets = other - point
    scale = np.abs(offsets).max()
    if scale == 0:
        return 0.0
    offsets = offsets / scale
    start = -offsets.mean(axis=0)
    start = start / (np.linalg.norm(start) or 1.0)
    gradient = np.append(np.zeros(len(point)), 1.0)
    result = minimize(
        lambda z: z[-1],
        np.append(start, (offsets @ start).max()),
        jac=lambda z: gradient,
        method="SLSQP",
        constraints=[
            {
                "type": "ineq",
                "fun": lambda z: z[-1] - offsets @ z[:-1],
                "jac": lambda z: np.column_stack([-offsets, np.ones(len(offsets))]),
            },
            {
                "type": "ineq",
                "fun": lambda z: 1.0 - z[:-1] @ z[:-1],
                "jac": lambda z: np.append(-2.0 * z[:-1], 0.0),
            },
        ],
        options={"maxiter": 1000, "ftol": 1e-15},
    )
    u = result.x[:-1]
    length = np.linalg.norm(u)
    # The value is computed from the unit vector, because the optimum of the solver has an error.
    return 0.0 if length == 0 else max(0.0, -float((offsets @ (u / length)).max()) * scale)


def unit_vectors(rng: np.random.Generator, count: int, dim: int) -> Iterator[np.ndarray]:
    """Yield `count` random unit vectors of dimension `dim`."""
    for _ in range(count):
        u = rng.normal(size=dim)
        yield u / np.linalg.norm(u)
