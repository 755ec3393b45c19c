"""Hausdorff distance between two ellipsoids, with the points that attain it.

The excess of one ellipsoid E over another, F, is the maximum over x in E of the distance to F. This
maximum of a convex function may have several local solutions. It is reduced to one dimension as
follows. By convex duality, for F = {y : y' A^{-1} y <= r^2} (A may be singular),

    dist(x, F)^2 = max over t >= 0 of  t x'(A + t I)^{-1} x - t r^2.

The maxima over x and over t can therefore be taken in any order. For a fixed t, the maximum over x
in E is that of a quadratic function over a ball. It has a global solution by an eigendecomposition
and one scalar equation, for any two matrices. The solution of the whole problem is one of these
solutions for some t from 0 to infinity. They are tabulated for many t, and every local maximum in
the table is refined by finding a root of the derivative.
"""

from __future__ import annotations

import numpy as np

# Number of tabulated values of t per decade; a branch of solutions covers about a decade or more.
_TABLE_DENSITY = 8
# Maximum angle between neighboring solutions of the same branch.
_BRANCH_COSINE = 0.95
_SECULAR_STEPS = 60


def norm(vector: np.ndarray) -> float:
    """Return the Euclidean length, without overflow or underflow of squares."""
    largest = float(np.abs(vector).max(initial=0.0))
    return largest * float(np.linalg.norm(vector / largest)) if largest > 0 else 0.0


def hausdorff(
    shift: np.ndarray, first: np.ndarray, second: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the supremum over unit u of |<u, shift> + r (sqrt(u' first u) - sqrt(u' second u))|.

    Parameters
    ----------
    shift : ndarray of shape (d,)
        From the center of the second ellipsoid to that of the first.
    first, second : ndarrays of shape (d, d), symmetric, positive semi-definite
        Squared shapes: the ellipsoids are r times first^(1/2) and second^(1/2) of the unit ball.
    radii : ndarray of shape (n,), not negative
        Values of r.

    Returns
    -------
    gaps : ndarray of shape (n,)
    directions : ndarray of shape (n, d), unit vectors that attain the suprema
    """
    distance = norm(shift)
    gaps = np.full(len(radii), distance)
    directions = np.zeros((len(radii), len(shift)))
    directions[:, 0] = 1.0
    if distance > 0:
        directions[:] = shift / np.abs(shift).max()
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    if np.array_equal(first, second):
        return gaps, directions
    # Ellipsoids that are too small to change the sum are treated as points.
    size = np.sqrt(max(np.abs(first).max(), np.abs(second).max()))
    grown = np.flatnonzero(radii * size > 1e-20 * distance)
    # For concentric ellipsoids the gap is proportional to r.
    common = np.ones(1) if distance == 0 else radii[grown]
    for outer, inner, offset in ((first, second, shift), (second, first, -shift)):
        if len(grown):
            heights, vectors = Protrusion(offset, outer, inner).farthest(common)
            heights = np.broadcast_to(heights, grown.shape) * (radii[grown] / common)
            higher = heights > gaps[grown]
            gaps[grown[higher]] = heights[higher]
            directions[grown[higher]] = np.broadcast_to(vectors, (len(grown), len(shift)))[higher]
    return gaps, directions


class Protrusion:
    """Excess of the ellipsoid `outer`, centered at `offset`, over `inner`, centered at 0.

    The excess is the maximum distance of a point of `outer` from `inner`. Both are given by their
    squared shapes (d, d), and are multiplied by a radius r. All computations are in the principal
    axes of `inner`. A point of the outer ellipsoid is offset + r * factor @ w, where the length of
    w is at most one. The farthest point has a w of length one.
    """

    def __init__(self, offset: np.ndarray, outer: np.ndarray, inner: np.ndarray) -> None:
        self._given = offset, outer, inner
        self._outer_values, outer_axes = _spectrum(outer)
        self._squares, self._axes = _spectrum(inner)
        self._offset = self._axes.T @ offset
        self._factor = self._axes.T @ (outer_axes * np.sqrt(self._outer_values))

    def farthest(self, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Maximize <u, offset> + r (sqrt(u' outer u) - sqrt(u' inner u)), for each r > 0.

        If `outer` lies inside `inner`, the height is only a lower bound of that (negative)
        number.

        Returns
        -------
        heights : ndarray of shape (n,)
        directions : ndarray of shape (n, d)
        """
        row, multipliers = self._maxima(radii)
        leaving = self._best(multipliers, radii[row])[2]
        leaving[~leaving.any(axis=1), 0] = 1.0
        leaving = _unit(leaving)
        directions = leaving @ self._axes.T
        heights = self._heights(directions, radii[row])
        order = np.lexsort((heights, row))
        last = np.append(row[order][1:] != row[order][:-1], True)
        return heights[order[last]], directions[order[last]]

    def _best(
        self, multipliers: np.ndarray, radii: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the farthest point of the outer ellipsoid for a fixed t, for each of `radii` (n,).

        `multipliers` (n,) are the values of t, see the docstring of the module.

        Returns
        -------
        w : ndarray of shape (n, d)
            On the unit sphere.
        slopes : ndarray of shape (n,)
            Derivatives of the dual function in t, divided by r^2.
        leaving : ndarray of shape (n, d)
            From the inner ellipsoid to the points, normal to it if the slope is zero.
        """
        share = self._share(multipliers)
        weighted = self._factor.T * share[:, None, :]
        curvatures, axes = np.linalg.eigh(weighted @ self._factor)
        slopes = ((weighted @ self._offset)[:, None, :] @ axes)[:, 0] / radii[:, None]
        w = (axes @ maximize_on_sphere(curvatures, slopes)[:, :, None])[:, :, 0]
        leaving = share * (self._offset / radii[:, None] + w @ self._factor.T)
        feet = np.sqrt(self._squares) * leaving / multipliers[:, None]
        return w, np.einsum("ni,ni->n", feet, feet) - 1.0, leaving

    def _maxima(self, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the local maxima of the dual function in t for each of `radii` (n,).

        The dual function is defined in the docstring of the module. Return two arrays: the indices
        of the maxima in `radii`, and their values of t.
        """
        from scipy.optimize.elementwise import find_root

        table = self._multipliers(radii)
        row = np.repeat(np.arange(len(radii)), len(table))
        t = np.tile(table, len(radii))
        w, slopes, _ = self._best(t, radii[row])
        rises = (slopes > 0).reshape(len(radii), -1)
        breaks = ~self._same_branch(w[:-1], w[1:])
        breaks = np.append(breaks, False).reshape(rises.shape)[:, :-1]
        ends = np.arange(len(t)).reshape(rises.shape)
        # Start where the function rises to the right, and where it falls to the left. The latter
        # start finds the same maximum, unless the branch changes in between.
        right = rises[:, :-1] & (breaks | ~rises[:, 1:])
        left = ~rises[:, 1:] & breaks
        start = np.concatenate([ends[:, :-1][right], ends[:, 1:][left]])
        stop = np.concatenate([ends[:, 1:][right], ends[:, :-1][left]])

        def signed_slope(log_t: np.ndarray, which: np.ndarray) -> np.ndarray:
            """Return the derivative of the dual function at exp(`log_t`), on the branch of a root.

            Outside of the branch, the sign is the opposite, so that a root finder returns to it.
            """
            begin = start[which]
            point, slope, _ = self._best(np.exp(log_t), radii[row[begin]])
            return np.where(self._same_branch(point, w[begin]), slope, -np.sign(slopes[begin]))

        roots = find_root(
            signed_slope, (np.log(t[start]), np.log(t[stop])), args=(np.arange(len(start)),)
        )
        first = ends[:, 0]
        return np.concatenate([row[first], row[start]]), np.concatenate([t[first], np.exp(roots.x)])

    def _same_branch(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        cosines = (first * second).sum(axis=1)
        return (cosines if self._offset.any() else np.abs(cosines)) >= _BRANCH_COSINE

    def _multipliers(self, radii: np.ndarray) -> np.ndarray:
        """Return values of t between which the dual function may have different local maxima.

        The best t of a point x is at most sqrt(largest square) |x| / r. It is not far below the
        smallest eigenvalues, unless the ellipsoids almost agree: then it is as small as their
        difference.
        """
        offset, outer, inner = self._given
        largest = self._squares.max()
        if largest == 0:
            return np.ones(1)
        size = np.sqrt(max(self._outer_values[-1], largest))
        # If the offset is much larger than all widths there is a single branch.
        reach = size * (2.0 + min(norm(offset) / (size * radii.min()), 1e6))
        ceiling = 2 * np.sqrt(largest) * reach
        contrast = norm(offset) / (size * radii.max()) + np.abs(outer - inner).max() / size**2
        smallest = min(v[v > 0].min(initial=largest) for v in (self._squares, self._outer_values))
        floor = 1e-2 * smallest * min(max(contrast, 1e-12), 1.0)
        table = np.geomspace(floor, ceiling, int(_TABLE_DENSITY * np.log10(ceiling / floor)) + 1)
        if self._squares.all():
            return table
        # A flat ellipsoid may be exceeded by very little, and t is then close to 0.
        return np.concatenate([floor * np.logspace(-16, -1, 16), table])

    def _heights(self, directions: np.ndarray, radii: np.ndarray) -> np.ndarray:
        offset, outer, inner = self._given
        turned = directions @ self._axes
        outer_width = np.linalg.norm(turned @ self._factor, axis=1)
        inner_width = np.linalg.norm(turned * np.sqrt(self._squares), axis=1)
        total = outer_width + inner_width
        # The difference of the squares does not cancel if the widths almost agree; otherwise
        # the widths are better: in a flat direction rounding would hide them in their squares.
        change = np.einsum("ni,ij,nj->n", directions, outer - inner, directions)
        difference = outer_width - inner_width
        close = np.abs(difference) < 1e-2 * total
        difference[close] = change[close] / total[close]
        return directions @ offset + radii * difference

    def _share(self, multipliers: np.ndarray) -> np.ndarray:
        """Return t / (squares + t) for each multiplier t, (n, d); 1 on the flat axes of `inner`."""
        t = np.where(self._squares > 0, multipliers[:, None], 1.0)
        return t / (self._squares + t)


def maximize_on_sphere(curvatures: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Maximize over unit vectors w sum(curvatures * w**2 + 2 * slopes * w), over the last axis.

    Parameters
    ----------
    curvatures : ndarray of shape (..., k), not negative, ascending
    slopes : ndarray of shape (..., k)

    Returns
    -------
    w : ndarray of shape (..., k)
    """
    drops = curvatures[..., -1:] - curvatures
    slopes = slopes.copy()
    # Without a slope along the top axis there are two symmetric solutions. A tiny slope selects
    # one of them and keeps the equation below solvable.
    tiny = 1e-14 * (curvatures[..., -1:] + np.abs(slopes).max(-1, keepdims=True)) + 1e-300
    top = slopes[..., -1:]
    slopes[..., -1:] = np.where(np.abs(top) >= tiny, top, np.where(top < 0, -tiny, tiny))
    sizes = np.abs(slopes)
    # |slopes / (drops + s)| = 1; Newton on one over the left side climbs to the root.
    s = (sizes - drops).max(-1, keepdims=True)
    for _ in range(_SECULAR_STEPS):
        reach = 1.0 / (drops + s)
        w = sizes * reach
        squared = np.einsum("...i,...i->...", w, w)[..., None]
        growth = np.einsum("...i,...i,...i->...", w, w, reach)[..., None]
        step = np.maximum((np.sqrt(squared) - 1.0) * squared / growth, 0.0)
        s = s + step
        if (step <= 1e-12 * s).all():
            break
    return _unit(slopes / (drops + s))


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def _spectrum(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, with values at the level of rounding set to zero, and eigenvectors."""
    values, axes = np.linalg.eigh(matrix)
    rounding = len(values) * np.finfo(np.float64).eps * max(values[-1], 0.0)
    return np.where(values > rounding, values, 0.0), axes
