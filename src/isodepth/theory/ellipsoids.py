"""The Hausdorff distance between two ellipsoids, and where it is attained.

How far one ellipsoid E sticks out of another, F, is the maximum over x in E of the distance to F:
a convex function, maximized, so a problem that may have several local solutions. It is made
one-dimensional as follows. By convex duality, for F = {y : y' A^{-1} y <= r^2} (A may be singular),

    dist(x, F)^2 = max over t >= 0 of  t x'(A + t I)^{-1} x - t r^2,

so that the two maxima, over x and over t, can be taken in any order. For a fixed t the maximum over
x in E is that of a quadratic function over a ball, which has a global solution by an
eigendecomposition and one scalar equation, however the matrices lie to each other. The solution of
the whole problem is among these as t runs from 0 to infinity. So they are tabulated for many t, and
every branch that the table shows is climbed to its top.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Values of t tabulated in each decade: a branch of solutions covers about a decade or more.
_TABLE_DENSITY = 8
# Neighbors in the table whose solutions enclose a larger angle belong to different branches.
_BRANCH_COSINE = 0.95
_CLIMB_STEPS = 100
_SECULAR_STEPS = 60


def norm(vector: np.ndarray) -> float:
    """Euclidean length, without overflow or underflow of the squares."""
    largest = float(np.abs(vector).max(initial=0.0))
    return largest * float(np.linalg.norm(vector / largest)) if largest > 0 else 0.0


def hausdorff(
    shift: np.ndarray, first: np.ndarray, second: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """sup over unit u of |<u, shift> + r (sqrt(u' first u) - sqrt(u' second u))|, for each r.

    Parameters
    ----------
    shift : ndarray of shape (d,)
        From the center of the second ellipsoid to that of the first.
    first, second : ndarrays of shape (d, d), symmetric, positive semi-definite
        Squared shapes: the ellipsoids are r times first^(1/2) and second^(1/2) of the unit ball.
    radii : ndarray of shape (n,), not negative

    Returns
    -------
    gaps : ndarray of shape (n,)
    directions : ndarray of shape (n, d), unit vectors where they are attained
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
    # Ellipsoids so small that they do not change the sum are points.
    size = np.sqrt(max(np.abs(first).max(), np.abs(second).max()))
    grown = np.flatnonzero(radii * size > 1e-20 * distance)
    # Concentric ellipsoids only differ in scale.
    common = np.ones(1) if distance == 0 else radii[grown]
    for outer, inner, offset in ((first, second, shift), (second, first, -shift)):
        if len(grown):
            heights, found = Protrusion(offset, outer, inner).farthest(common)
            heights = np.broadcast_to(heights, grown.shape) * (radii[grown] / common)
            higher = heights > gaps[grown]
            gaps[grown[higher]] = heights[higher]
            directions[grown[higher]] = np.broadcast_to(found, (len(grown), len(shift)))[higher]
    return gaps, directions


class _Climbers(NamedTuple):
    """Points of the outer ellipsoid, and how they lie to the inner one."""

    w: np.ndarray  # (n, d), on the unit sphere
    points: np.ndarray  # (n, d), offset + r * factor @ w
    multipliers: np.ndarray  # (n,), the best t for the point; 0 if straight above the inside
    share: np.ndarray  # (n, d), t / (squares + t)
    distances: np.ndarray  # (n,)

    @property
    def leaving(self) -> np.ndarray:
        """From the nearest points of the inner ellipsoid to the points, of shape (n, d)."""
        return self.share * self.points

    def at(self, rows: np.ndarray) -> _Climbers:
        """Some of the climbers."""
        return _Climbers(*(part[rows] for part in self))


class Protrusion:
    """How far the ellipsoid `outer`, centered at `offset`, sticks out of `inner`, centered at 0.

    All computations are in the principal axes of `inner`. A point of the outer ellipsoid is
    offset + r * factor @ w with w of length at most one, and the farthest has length one.
    """

    def __init__(self, offset: np.ndarray, outer: np.ndarray, inner: np.ndarray) -> None:
        self._given = offset, outer, inner
        self._outer_values, outer_axes = _spectrum(outer)
        self._squares, self._axes = _spectrum(inner)
        self._offset = self._axes.T @ offset
        self._factor = self._axes.T @ (outer_axes * np.sqrt(self._outer_values))

    def farthest(self, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Largest <u, offset> + r (sqrt(u' outer u) - sqrt(u' inner u)), and its u, for each r > 0.

        Where `outer` does not stick out, the height is only a lower bound of that (negative)
        number.

        Returns
        -------
        heights : ndarray of shape (n,)
        directions : ndarray of shape (n, d)
        """
        row, starts = self._starts(radii)
        climbers = self._climb(starts, radii[row])
        leaving = climbers.leaving
        stuck = climbers.distances == 0
        leaving[stuck] = np.eye(leaving.shape[1])[0]
        leaving /= np.where(stuck, 1.0, climbers.distances)[:, None]
        directions = leaving @ self._axes.T
        heights = self._heights(directions, radii[row])
        order = np.lexsort((heights, row))
        last = np.append(row[order][1:] != row[order][:-1], True)
        return heights[order[last]], directions[order[last]]

    def _starts(self, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One w of each branch of solutions in the table: their rows of `radii`, and the w."""
        multipliers = self._multipliers(radii)
        share = self._share(multipliers)
        weighted = self._factor.T * share[:, None, :]
        curvatures, axes = np.linalg.eigh(weighted @ self._factor)
        slopes = ((weighted @ self._offset)[:, None, :] @ axes)[:, 0]
        inner_w = maximize_on_sphere(curvatures, slopes / radii[:, None, None])
        w = (axes @ inner_w[..., None])[..., 0]
        points = self._offset + radii[:, None, None] * (w @ self._factor.T)
        dual = (share * points**2).sum(-1) - multipliers * radii[:, None] ** 2

        cosines = (w[:, :-1] * w[:, 1:]).sum(-1)
        if not self._offset.any():
            cosines = np.abs(cosines)
        breaks = np.pad(cosines < _BRANCH_COSINE, ((0, 0), (1, 1)))
        padded = np.pad(dual, ((0, 0), (1, 1)), constant_values=-np.inf)
        peaks = (dual >= padded[:, :-2]) & (dual >= padded[:, 2:])
        row, column = np.nonzero(peaks | breaks[:, :-1] | breaks[:, 1:])
        return row, w[row, column]

    def _multipliers(self, radii: np.ndarray) -> np.ndarray:
        """Values of t between which the solutions may differ.

        The best t of a point x is at most sqrt(largest square) |x| / r. It is not far below the
        smallest eigenvalues, unless the ellipsoids almost agree: then it is as small as their
        difference.
        """
        offset, outer, inner = self._given
        largest = self._squares.max()
        if largest == 0:
            return np.ones(1)
        size = np.sqrt(max(self._outer_values[-1], largest))
        # An offset that exceeds all widths by far leaves a single branch.
        reach = size * (2.0 + min(norm(offset) / (size * radii.min()), 1e6))
        ceiling = 2 * np.sqrt(largest) * reach
        contrast = norm(offset) / (size * radii.max()) + np.abs(outer - inner).max() / size**2
        smallest = min(v[v > 0].min(initial=largest) for v in (self._squares, self._outer_values))
        floor = 1e-2 * smallest * min(max(contrast, 1e-12), 1.0)
        table = np.geomspace(floor, ceiling, int(_TABLE_DENSITY * np.log10(ceiling / floor)) + 1)
        if self._squares.all():
            return table
        # Out of a flat ellipsoid the other may stick by very little, and then t is as good as 0.
        return np.concatenate([floor * np.logspace(-16, -1, 16), table])

    def _climb(self, starts: np.ndarray, radii: np.ndarray) -> _Climbers:
        """Walk from each start to a local maximum of the distance.

        Each step takes the best of two kinds of moves. The first goes to the point of the outer
        ellipsoid farthest in the direction of leaving the inner one: it never loses height. The
        second is Newton's, upwards also where the distance is not concave: it is fast at the top.
        """
        climbers = self._place(starts, radii)
        active = np.arange(len(starts))
        for _ in range(_CLIMB_STEPS):
            old = climbers.at(active)
            moves = self._moves(old, radii[active])
            new = self._place(np.concatenate(moves), np.tile(radii[active], len(moves)))
            best = new.distances.reshape(len(moves), -1).argmax(axis=0)
            new = new.at(best * len(active) + np.arange(len(active)))
            higher = new.distances > old.distances
            for part, change in zip(climbers, new, strict=True):
                part[active[higher]] = change[higher]
            active = active[new.distances > old.distances * (1 + 1e-15)]
            if not len(active):
                break
        return climbers

    def _moves(self, climbers: _Climbers, radii: np.ndarray) -> list[np.ndarray]:
        w, points, multipliers, share, _ = climbers
        gradient = climbers.leaving @ self._factor
        pushed = np.where(gradient.any(axis=1, keepdims=True), gradient, w)

        # Hessian of half the squared distance in w: the nearest point moves along the boundary.
        reach = self._squares + multipliers[:, None]
        outside = (multipliers > 0)[:, None]
        normal = np.divide(
            self._squares * points, reach**2, out=np.zeros_like(points), where=outside
        )
        bend = np.divide(normal * points, reach, out=np.zeros_like(points), where=outside).sum(1)
        normal /= np.sqrt(np.where(bend > 0, bend, 1.0))[:, None]
        across = normal @ self._factor
        hessian = (self._factor.T * share[:, None, :]) @ self._factor
        hessian = radii[:, None, None] * (hessian + across[:, :, None] * across[:, None, :])

        # Restricted to the sphere.
        radial = (gradient * w).sum(1)
        flat = np.eye(w.shape[1]) - w[:, :, None] * w[:, None, :]
        hessian = flat @ hessian @ flat - radial[:, None, None] * np.eye(w.shape[1])
        tangent = gradient - radial[:, None] * w
        bends, axes = np.linalg.eigh(hessian)
        sizes = np.abs(bends)
        sizes = np.maximum(sizes, 1e-13 * sizes.max(axis=1, keepdims=True) + 1e-300)
        newton = (axes @ ((tangent[:, None, :] @ axes)[:, 0] / sizes)[:, :, None])[:, :, 0]
        newton /= np.maximum(np.linalg.norm(newton, axis=1, keepdims=True), 1.0)
        return [_unit(pushed), _unit(w + newton), _unit(w + 0.3 * newton)]

    def _place(self, w: np.ndarray, radii: np.ndarray) -> _Climbers:
        """Find the nearest points of the inner ellipsoid."""
        points = self._offset + radii[:, None] * (w @ self._factor.T)
        sizes = np.sqrt(self._squares) * np.abs(points)
        # |sizes / (squares + t)| = r; Newton on one over the left side climbs to the root.
        t = np.maximum((sizes / radii[:, None] - self._squares).max(axis=1, keepdims=True), 0.0)
        for _ in range(_SECULAR_STEPS):
            reach = np.where(self._squares > 0, self._squares + t, 1.0)
            feet = sizes / reach
            squared = np.einsum("ni,ni->n", feet, feet)[:, None]
            growth = np.einsum("ni,ni,ni->n", feet, feet, 1.0 / reach)[:, None]
            excess = np.maximum(np.sqrt(squared) / radii[:, None] - 1.0, 0.0)
            step = excess * squared / np.where(growth > 0, growth, 1.0)
            t = t + step
            if (step <= 1e-15 * t).all():
                break
        share = self._share(t[:, 0])
        return _Climbers(w, points, t[:, 0], share, np.linalg.norm(share * points, axis=1))

    def _heights(self, directions: np.ndarray, radii: np.ndarray) -> np.ndarray:
        offset, outer, inner = self._given
        turned = directions @ self._axes
        outer_width = np.linalg.norm(turned @ self._factor, axis=1)
        inner_width = np.linalg.norm(turned * np.sqrt(self._squares), axis=1)
        total = outer_width + inner_width
        # The difference of the squares does not cancel where the widths almost agree; elsewhere
        # the widths are better: in a flat direction rounding would hide them in their squares.
        change = np.einsum("ni,ij,nj->n", directions, outer - inner, directions)
        difference = outer_width - inner_width
        close = np.abs(difference) < 1e-2 * total
        difference[close] = change[close] / total[close]
        return directions @ offset + radii * difference

    def _share(self, multipliers: np.ndarray) -> np.ndarray:
        """t / (squares + t), of shape (n, d); 1 on the flat axes of the inner ellipsoid."""
        t = np.where(self._squares > 0, multipliers[:, None], 1.0)
        return t / (self._squares + t)


def maximize_on_sphere(curvatures: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """The unit w that maximizes sum(curvatures * w**2 + 2 * slopes * w), over the last axis.

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
    # With no slope along the top axis the two solutions mirror each other there: a tiny slope
    # chooses one of them, and keeps the equation below solvable.
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
    """Eigenvalues, those lost in rounding set to zero, and eigenvectors."""
    values, axes = np.linalg.eigh(matrix)
    rounding = len(values) * np.finfo(np.float64).eps * max(values[-1], 0.0)
    return np.where(values > rounding, values, 0.0), axes
