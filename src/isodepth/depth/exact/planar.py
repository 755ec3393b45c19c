"""Trimmed regions of the halfspace depth in the plane, as polygons.

The regions of :class:`isodepth.TrimmedRegions` are known by the sample points inside:
their hull. The full region of level alpha holds all points of the plane that deep, whether in the
sample or not. It is the intersection of the halfplanes of mass greater than ``1 - alpha``, and
its corners are in general no sample points; it contains the hull of the sample points inside, and
can be not empty where there are none.
"""

from __future__ import annotations

from bisect import bisect_left
from math import gcd

import numpy as np

from isodepth import _core
from isodepth.data.validation import check_number
from isodepth.depth.exact.inputs import WeightedPoints, merge_points, scale_columns
from isodepth.depth.exact.rational import (
    AffineSpan,
    Vector,
    as_integers,
    check_magnitudes,
    lowest_bit,
)
from isodepth.errors import InvalidInputError

#: A corner of a polygon in homogeneous coordinates: (x, y, w) stands for (x / w, y / w); w > 0.
Corner = tuple[int, int, int]

# Lines looked at between two looks at which of the others may still cut the polygon.
_BATCH = 64
# Far more than the rounding errors of one value of a linear form.
_FORM_ERROR = 2.0**-47


def halfspace_region_vertices(points: np.ndarray, masses: np.ndarray, alpha: float) -> np.ndarray:
    """Corners of the region of all points of the plane whose halfspace depth is at least `alpha`.

    Which lines bound the region, and whether it is empty, a point or a segment, is decided without
    rounding; only the corners are rounded in the end, each to the nearest float.

    Parameters
    ----------
    points : array of shape (n, 2)
        Repeated points count with the sum of their masses.
    masses : int array of shape (n,)
        None negative, not all zero. Points of mass zero do not belong to the sample.
    alpha : float in (0, 1]
        Depths are masses of halfplanes over the total mass, as floats, and compared as such.

    Returns
    -------
    vertices : float64 ndarray of shape (k, 2)
        Counter-clockwise, from the lowest in lexicographic order; no row when the region is empty,
        one when it is a point, two when it is a segment. The support function of the region in
        direction u is ``(vertices @ u).max()``.

    Examples
    --------
    >>> import numpy as np
    >>> corners = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0], [1.0, 1.0]])
    >>> halfspace_region_vertices(corners, np.ones(5, dtype=int), 0.4)
    array([[1. , 1. ],
           [1.5, 1.5]])
    """
    sample = merge_points(points, masses)
    if sample.points.shape[1] != 2 or sample.total == 0:
        raise InvalidInputError(
            "a planar region needs points in the plane, some of positive mass; got points of shape "
            f"{np.shape(points)} and total mass {sample.total}"
        )
    level = mass_of_level(check_number(alpha, "alpha", 0.0, 1.0, low_open=True), sample.total)
    (rows,), exponents = scale_columns(sample.points)
    rows = np.ascontiguousarray(rows)
    check_magnitudes(2, rows)
    sample = sample._replace(points=rows)
    exponent = lowest_bit(rows)
    whole = list(as_integers(rows, exponent))
    if len(AffineSpan.of(whole).columns) < 2:
        vertices = _segment(sample, level)
    else:
        polygon = _polygon(sample, whole, level)
        # Division of integers rounds to the nearest float, as does multiplying by a power of two.
        unit = 2**-exponent if exponent < 0 else 1
        vertices = np.array([[x / (w * unit), y / (w * unit)] for x, y, w in polygon])
    vertices = np.ldexp(vertices.reshape(-1, 2), exponents)
    return _without_repetition(vertices)


def mass_of_level(alpha: float, total: int) -> int:
    """The smallest integer mass whose share of the total, as a float, is at least `alpha`."""
    # As in numpy: both numbers are rounded to floats before they are divided.
    return 1 + bisect_left(range(1, total), alpha, key=lambda mass: float(mass) / float(total))


def _segment(sample: WeightedPoints, level: int) -> np.ndarray:
    """The region of points on one line, which are in order along it."""
    below = np.cumsum(sample.masses)
    first = int(np.searchsorted(below, level))
    above = np.cumsum(sample.masses[::-1])
    last = len(above) - 1 - int(np.searchsorted(above, level))
    return sample.points[sorted({first, last})] if first <= last else np.empty((0, 2))


def _polygon(sample: WeightedPoints, whole: list[Vector], level: int) -> list[Corner]:
    """The region of points not all on one line, in units of the integer points `whole`."""
    rank = sample.total - level + 1
    ends = _core.halfplane_borders(sample.points, sample.masses, rank)
    # Cutting in random order keeps the polygon small from early on.
    ends = ends[np.random.default_rng(0).permutation(len(ends))]
    (left, low), (right, high) = (
        [pick(c) for c in zip(*whole, strict=True)] for pick in (min, max)
    )
    corners = [(left, low, 1), (right, low, 1), (right, high, 1), (left, high, 1)]
    scale = 2.0 ** lowest_bit(sample.points)
    while len(ends) and corners:
        floats = np.array([[x / w * scale, y / w * scale] for x, y, w in corners])
        values, errors = _line_values(sample.points, ends, floats)
        ends = ends[(values < errors).any(axis=1)]
        for first, last in ends[:_BATCH]:
            corners = _cut(corners, whole[first], whole[last])
        ends = ends[_BATCH:]
    return corners


def _line_values(
    points: np.ndarray, ends: np.ndarray, corners: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How far left of each line (L, 2) each corner (k, 2) lies, times a length, and the errors."""
    first, last = points[ends[:, 0]], points[ends[:, 1]]
    dx, dy = (last - first).T[:, :, None]
    x, y = corners.T
    left = dx * (y - first[:, 1:])
    right = dy * (x - first[:, :1])
    sizes = np.abs(dx) * (np.abs(y) + np.abs(first[:, 1:]))
    sizes += np.abs(dy) * (np.abs(x) + np.abs(first[:, :1]))
    return left - right, _FORM_ERROR * sizes


def _cut(corners: list[Corner], first: Vector, last: Vector) -> list[Corner]:
    """What a convex polygon has left of, or on, the line from one point to another.

    The polygon may be shrunk to a segment, a point or nothing; its corners are counter-clockwise.
    """
    a, b = first[1] - last[1], last[0] - first[0]
    c = -(a * first[0] + b * first[1])
    values = [a * x + b * y + c * w for x, y, w in corners]
    kept = []
    for i, (p, value) in enumerate(zip(corners, values, strict=True)):
        before = values[i - 1]
        if (before > 0 and value < 0) or (before < 0 and value > 0):
            kept.append(_crossing(corners[i - 1], before, p, value))
        if value >= 0:
            kept.append(p)
    # Both cuts of a segment are the same.
    return list(dict.fromkeys(kept))


def _crossing(p: Corner, p_value: int, q: Corner, q_value: int) -> Corner:
    """Where a linear form vanishes on the segment from p to q; its values have opposite signs."""
    x, y, w = (q_value * a - p_value * b for a, b in zip(p, q, strict=True))
    common = gcd(x, y, w) if w > 0 else -gcd(x, y, w)
    return x // common, y // common, w // common


def _without_repetition(vertices: np.ndarray) -> np.ndarray:
    """Drop corners that are equal as floats, and start at the lowest in lexicographic order."""
    if len(vertices) < 2:
        return vertices
    kept = vertices[(vertices != np.roll(vertices, 1, axis=0)).any(axis=1)]
    if not len(kept):
        return vertices[:1]
    return np.roll(kept, -int(np.lexsort(kept.T[::-1])[0]), axis=0)
