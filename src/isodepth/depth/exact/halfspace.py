"""Halfspace depth without directions: the smallest closed halfspace, found by combinatorics."""

from __future__ import annotations

import math

import numpy as np

from isodepth import _core
from isodepth.depth.exact.inputs import check_work, merge_points, merge_queries, scale_columns
from isodepth.depth.exact.rational import AffineSpan, as_integers, lowest_bit, products_are_exact
from isodepth.engine import available_cores
from isodepth.errors import InvalidInputError, InvalidOptionError

#: About ten minutes of one core.
MAX_WORK = 5e10

# Determinants without rounding need memory of the order of 2**d.
_MOST_DIMENSIONS = 12


def exact_halfspace_depth(
    points: np.ndarray,
    masses: np.ndarray,
    queries: np.ndarray,
    *,
    max_work: float = MAX_WORK,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Smallest mass of a closed halfspace that contains each query.

    The result is exact for the floats given: signs that rounding leaves open are decided without
    rounding, so collinear, coplanar and repeated points, and queries on the border of a
    halfspace, are counted as they are. Points in a lower-dimensional flat are treated inside it;
    a query off the flat has depth 0.

    Parameters
    ----------
    points : array of shape (n, d)
        Repeated points count with the sum of their masses.
    masses : int array of shape (n,)
        None negative. Points of mass zero do not belong to the sample.
    queries : array of shape (m, d)
    max_work : float
        How many elementary steps may be taken: ``n log n`` a query for d <= 2, and
        ``n**(d-1) log n / (d-2)!`` for d > 2. A step takes some ten nanoseconds: 2000 points of
        the plane in one another, or 200 points in three dimensions, take about a second.
    n_jobs : int or None
        Threads; None for all cores.

    Returns
    -------
    smallest : int64 ndarray of shape (m,)
        Divided by the total mass, the halfspace depth.

    Raises
    ------
    InvalidOptionError
        When the work would exceed `max_work`.

    References
    ----------
    P. J. Rousseeuw and I. Ruts (1996), Bivariate location depth.
    R. Dyckerhoff and P. Mozharovskyi (2016), Exact computation of the halfspace depth.

    Examples
    --------
    >>> import numpy as np
    >>> corners = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> exact_halfspace_depth(corners, np.ones(4, dtype=int), [[0, 0], [1, 1], [1, 0], [3, 3]])
    array([1, 2, 1, 0])
    """
    sample = merge_points(points, masses)
    distinct, inverse = merge_queries(queries, sample.points.shape[1])
    if sample.total == 0:
        return np.zeros(len(inverse), dtype=np.int64)
    rows, asked = scale_columns(sample.points, distinct)
    columns, inside = _restrict(rows, asked)
    smallest = np.zeros(len(distinct), dtype=np.int64)
    if not inside.any():
        return smallest[inverse]
    rows, asked = rows[:, columns], asked[inside][:, columns]
    check_work(
        len(asked) * _steps(*rows.shape),
        max_work,
        f"the exact halfspace depth of {len(asked)} points in a sample of {len(rows)} distinct "
        f"points spanning {len(columns)} dimensions",
    )
    threads = available_cores() if n_jobs is None else n_jobs
    smallest[inside] = _in_full_span(rows, sample.masses, asked, threads)
    return smallest[inverse]


def _steps(n: int, d: int) -> float:
    """Elementary steps for one query."""
    sweeps = math.comb(n, d - 2) if d > 2 else 1
    return sweeps * n * max(1.0, math.log2(n))


def _restrict(rows: np.ndarray, asked: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Coordinates that tell the points of the sample's flat apart, and which queries lie in it."""
    exponent = lowest_bit(rows, asked)
    span = AffineSpan.of(as_integers(rows, exponent))
    if len(span.columns) == rows.shape[1]:
        return list(range(rows.shape[1])), np.ones(len(asked), dtype=bool)
    inside = [span.contains(query) for query in as_integers(asked, exponent)]
    return sorted(span.columns), np.array(inside, dtype=bool)


def _in_full_span(
    rows: np.ndarray, masses: np.ndarray, asked: np.ndarray, n_threads: int
) -> np.ndarray:
    """The smallest masses at `asked` (m, d) where distinct `rows` (n, d) span all d dimensions."""
    d = rows.shape[1]
    if d == 0:
        return np.full(len(asked), masses.sum())
    if d == 1:
        return _on_a_line(rows[:, 0], masses, asked[:, 0])
    if d > _MOST_DIMENSIONS:
        raise InvalidOptionError(
            f"method='exact' of the halfspace depth is for up to {_MOST_DIMENSIONS} dimensions, "
            f"got points that span {d}; use method='directions' with refine"
        )
    if not products_are_exact(d, rows, asked):
        raise InvalidInputError(
            "the coordinates of the points span more orders of magnitude than products of floats "
            "can hold; set those that are next to nothing to zero"
        )
    rows, asked = np.ascontiguousarray(rows), np.ascontiguousarray(asked)
    return _core.halfspace_masses(rows, masses, asked, n_threads)


def _on_a_line(rows: np.ndarray, masses: np.ndarray, asked: np.ndarray) -> np.ndarray:
    order = np.argsort(rows)
    below = np.concatenate([[0], np.cumsum(masses[order])])
    at_most = below[np.searchsorted(rows[order], asked, side="right")]
    at_least = below[-1] - below[np.searchsorted(rows[order], asked, side="left")]
    return np.minimum(at_most, at_least)
