"""Exact halfspace depth by combinatorial algorithms.

P. J. Rousseeuw and I. Ruts (1996), Bivariate location depth.
R. Dyckerhoff and P. Mozharovskyi (2016), Exact computation of the halfspace depth.

All coordinates of a sample are integer multiples of one power of two. The affine span of the sample
is therefore computed without rounding, with Python integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from isodepth import _core
from isodepth.base.compiled import Resources
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.geometry.regions import Sample
from isodepth.geometry.weights import trailing_zeros

#: Maximum number of elementary steps of one computation, about ten minutes on one core.
MAX_WORK = 5e10
# Maximum dimension, because determinants without rounding need memory of the order of 2**d.
_MOST_DIMENSIONS = 12

Vector = list[int]


def smallest_masses(sample: Sample, queries: np.ndarray, resources: Resources) -> np.ndarray:
    """Compute, for each query, the minimum mass of a closed halfspace that contains the query.

    The result is exact for the given floats. If rounding could change the sign of a determinant,
    the determinant is computed again without rounding. Collinear, coplanar and repeated points, and
    points on the boundary of a halfspace, are therefore counted correctly. If all points of the
    sample lie in a lower-dimensional flat, masses are computed within the flat. A query off the
    flat has mass 0.

    For n points in d dimensions, the number of elementary steps per query is about ``n log n`` for
    d <= 2, and ``n**(d-1) log n / (d-2)!`` for d > 2. A step takes about ten nanoseconds. If more
    than `MAX_WORK` steps are needed, or the points span more than 12 dimensions, InvalidOptionError
    is raised.

    Parameters
    ----------
    sample : Sample with n distinct points
    queries : float64 ndarray of shape (m, d)
    resources : Resources

    Returns
    -------
    smallest : int64 ndarray of shape (m,)
        Minimum mass for each query. The halfspace depth is this mass divided by ``sample.total``.

    Examples
    --------
    >>> import numpy as np
    >>> corners = Sample.of(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]))
    >>> smallest_masses(corners, np.array([[0.0, 0], [1, 1], [1, 0], [3, 3]]), Resources.of())
    array([1, 2, 1, 0])
    """
    distinct, inverse = _core.distinct_rows(np.ascontiguousarray(queries))[:2]
    rows, targets = _scale_columns(sample.points.astype(np.float64), distinct)
    columns, inside = _restrict(rows, targets)
    smallest = np.zeros(len(distinct), dtype=np.int64)
    if inside.any():
        rows, targets = rows[:, columns], targets[inside][:, columns]
        work = len(targets) * _steps(*rows.shape)
        if work > MAX_WORK:
            raise InvalidOptionError(
                f"algorithm='exact' takes about {work:.2g} steps for {len(targets)} points in a "
                f"sample of {len(rows)} distinct points that span {len(columns)} dimensions, and "
                f"the maximum is {MAX_WORK:.2g}; use algorithm='directions', or fewer points",
                option="algorithm",
            )
        smallest[inside] = _in_full_span(rows, sample.unit_masses, targets, resources.n_threads)
    return smallest[inverse]


def _steps(n: int, d: int) -> float:
    """Return the number of elementary steps of the exact algorithm for one query.

    The sample has n points in d dimensions, see `smallest_masses`.
    """
    sweeps = math.comb(n, d - 2) if d > 2 else 1
    return sweeps * n * max(1.0, math.log2(n))


def _scale_columns(*tables: np.ndarray) -> tuple[np.ndarray, ...]:
    """Divide each column by a power of two, which is the same in all `tables` of d columns.

    The power of two exceeds all absolute values in the column. If a division would lose digits by
    underflow, the tables are returned unchanged.
    """
    largest = np.max([np.abs(table).max(axis=0) for table in tables], axis=0)
    exponents = np.frexp(largest)[1]
    scaled = tuple(np.ldexp(table, -exponents) for table in tables)
    pairs = zip(scaled, tables, strict=True)
    exact = all(np.array_equal(np.ldexp(new, exponents), old) for new, old in pairs)
    return scaled if exact else tables


def _in_full_span(
    rows: np.ndarray, masses: np.ndarray, queries: np.ndarray, n_threads: int
) -> np.ndarray:
    """Return for each of `queries` (m, d) the minimum mass of a halfspace that contains it, (m,).

    The distinct rows (n, d) of the sample, with `masses` (n,), must span all d dimensions.
    """
    d = rows.shape[1]
    if d == 0:
        return np.full(len(queries), masses.sum())
    if d == 1:
        return _on_a_line(rows[:, 0], masses, queries[:, 0])
    if d > _MOST_DIMENSIONS:
        raise InvalidOptionError(
            f"algorithm='exact' of the halfspace depth is for up to {_MOST_DIMENSIONS} dimensions, "
            f"got points that span {d}; use algorithm='directions'",
            option="algorithm",
        )
    if not _products_are_exact(d, rows, queries):
        raise InvalidInputError(
            "algorithm='exact' needs coordinates whose products are exact floats, got too many "
            "orders of magnitude; replace negligible coordinates by zero"
        )
    rows, queries = np.ascontiguousarray(rows), np.ascontiguousarray(queries)
    return _core.halfspace_masses(rows, masses, queries, n_threads)


def _on_a_line(rows: np.ndarray, masses: np.ndarray, queries: np.ndarray) -> np.ndarray:
    order = np.argsort(rows)
    below = np.concatenate([[0], np.cumsum(masses[order])])
    at_most = below[np.searchsorted(rows[order], queries, side="right")]
    at_least = below[-1] - below[np.searchsorted(rows[order], queries, side="left")]
    return np.minimum(at_most, at_least)


def _products_are_exact(d: int, *arrays: np.ndarray) -> bool:
    """Return whether products of d coordinate differences neither overflow nor underflow.

    `arrays` have the coordinates. The compiled core needs such products to compute determinants
    without rounding.
    """
    # Absolute values of coordinates must be at most 1. Differences are then at most 2, and products
    # cannot overflow. If all coordinates are multiples of 2**e, all products are multiples of
    # 2**(d * e). Products cannot underflow if 2**(d * e) is a normal number.
    largest = max(float(np.abs(array).max(initial=0.0)) for array in arrays)
    return largest <= 1.0 and d * _lowest_bit(*arrays) >= -1022


# -- span of a sample, without rounding -----------------------------------------------------------


def _restrict(rows: np.ndarray, queries: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Find the fewest columns whose values determine a point in the affine span of `rows` (n, d).

    Return the indices of these columns, and a mask (m,) of the queries (m, d) that lie in the span.
    """
    exponent = _lowest_bit(rows, queries)
    points = _as_integers(rows, exponent)
    origin = next(points)
    basis = _echelon_basis(origin, points)
    if len(basis) == rows.shape[1]:
        return list(range(rows.shape[1])), np.ones(len(queries), dtype=bool)
    inside = [not any(_reduce(query, origin, basis)) for query in _as_integers(queries, exponent)]
    return sorted(basis), np.array(inside, dtype=bool)


def _lowest_bit(*arrays: np.ndarray) -> int:
    """Return the maximum integer e for which all numbers are integer multiples of 2**e.

    Return 0 if all numbers are zero.
    """
    values = np.concatenate([array[array != 0] for array in arrays])
    if not len(values):
        return 0
    mantissas, exponents = np.frexp(values)
    return int((exponents + trailing_zeros(mantissas)).min()) - 53


def _as_integers(array: np.ndarray, exponent: int) -> Iterator[Vector]:
    """Yield the rows of `array` (n, d), divided by 2**exponent, as lists of integers.

    All entries must be integer multiples of 2**exponent.
    """
    for row in array.tolist():
        fractions = [x.as_integer_ratio() for x in row]
        if exponent > 0:
            yield [whole >> exponent for whole, _ in fractions]
        else:
            yield [(whole << -exponent) // below for whole, below in fractions]


def _echelon_basis(origin: Vector, points: Iterable[Vector]) -> dict[int, Vector]:
    """Return an echelon basis of the linear span of the vectors `point - origin`.

    The result maps the pivot column of each basis vector to the vector. A vector is zero in the
    pivot columns of the vectors before it, and nonzero in its own.
    """
    basis: dict[int, Vector] = {}
    for point in points:
        rest = _reduce(point, origin, basis)
        column = next((k for k, value in enumerate(rest) if value), None)
        if column is not None:
            basis[column] = rest
            if len(basis) == len(origin):
                break
    return basis


def _reduce(point: Vector, origin: Vector, basis: dict[int, Vector]) -> Vector:
    """Eliminate the pivot columns of `basis` from the vector `point - origin`.

    `basis` maps the pivot column of each vector of an echelon basis to the vector. Return a
    multiple of the remaining vector, with integer entries. The result is zero if and only if `point
    - origin` is a linear combination of the basis vectors.
    """
    rest = [x - o for x, o in zip(point, origin, strict=True)]
    for column, vector in basis.items():
        a, b = vector[column], rest[column]
        rest = [a * x - b * y for x, y in zip(rest, vector, strict=True)]
    return rest
