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
    """Distance to a hull: the nearest point lies inside a simplex of some of the points.

    So try every set of at most d + 1 points: project on its affine span, and keep the result if it
    falls inside. (The sets are 2^n many: only for a handful of points.)
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
    """Distance to a hull, by non-negative least squares.

    Minimizing |sum v_i (p_i - q)|^2 + size^2 (1 - sum v_i)^2 over v >= 0 makes v / sum(v) the
    weights of the nearest point: for any given sum of v, the first term alone decides.
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
    """Hausdorff distance: the largest distance from a point of one set to the hull of the other."""
    return max(
        max(distance(second, point) for point in first),
        max(distance(first, point) for point in second),
    )


def gap_along(first: np.ndarray, second: np.ndarray, u: np.ndarray) -> float:
    """h_first(u) - h_second(u)."""
    return float((first @ u).max() - (second @ u).max())


def searched_hausdorff(first: np.ndarray, second: np.ndarray) -> float:
    """Supremum of |h_first(u) - h_second(u)| over unit u by a general optimizer, from many starts.

    One start for every point of either set: with the point p that attains the larger support held
    fixed, maximize <p, u> - t over u and t under <q, u> <= t for all q of the other set.
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
    """Random unit vectors."""
    for _ in range(count):
        u = rng.normal(size=dim)
        yield u / np.linalg.norm(u)
