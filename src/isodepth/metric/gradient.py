"""Gradient of the distance with respect to the rows of both samples.

A sufficiently small change of the rows does not change their order by depth, except for ties. At
each level the gap between both regions is <u, x - y>. Here u is the maximizing direction, and x and
y are the support points of the regions along u: the points with the maximum projection on u.

- For a maximum over sampled directions, x and y are rows. The gradient of the gap is u with respect
  to x and -u with respect to y. It exists unless several rows or directions attain the maximum.
- For the supremum over all directions, the gap is the distance from a row x to the other convex
  hull. The nearest point y of the hull is a convex combination of up to d rows. The gradient with
  respect to each of them is -u times its coefficient.
- For a mean over directions (q < inf), two rows per direction have a nonzero gradient.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

from isodepth.base.readonly import read_only
from isodepth.errors import InvalidOptionError
from isodepth.geometry.directions import mean_of_direction
from isodepth.geometry.hull import project_to_hull
from isodepth.geometry.regions import Gaps, Nested, decode


class _Gradients(NamedTuple):
    x: np.ndarray
    y: np.ndarray


class Gradient(_Gradients):
    """Gradient of a distance with respect to the rows of both samples, a named tuple.

    Attributes
    ----------
    x : float64 ndarray of shape (n, d)
        Derivatives with respect to the rows of X. If rows are equal, the derivative of their common
        point is divided equally among them.
    y : float64 ndarray of shape (m, d)
        Derivatives with respect to the rows of Y.
    """

    __slots__ = ()

    def __new__(cls, x: np.ndarray, y: np.ndarray) -> Self:
        return super().__new__(cls, read_only(x), read_only(y))


def gradients_of_rows(x: Nested, y: Nested, gaps: Gaps, metric: Any) -> list[Any]:
    """Compute the gradient of a distance with respect to the rows of both samples.

    `metric` has the options p, q and normalize. Results are arrays of the backend of the samples,
    float64 of shape (n, d) and (m, d).
    """
    slopes = mean_slopes(gaps.values, gaps.plan.shares, metric.p, metric._length)
    if metric.q < math.inf:
        ordered = _gradients_of_means(x, y, gaps, slopes, metric.q)
    else:
        find = _gradients_of_hulls if gaps.exact else _gradients_of_gaps
        found = find(gaps, x, y, slopes)
        ordered = [x.sample.from_host(each) for each in found]
    return [_by_row(nested, each) for nested, each in zip((x, y), ordered, strict=True)]


def gradient_of_comparison(comparison: Any) -> Gradient:
    """Compute the gradient that `Comparison.gradient` returns.

    Raise InvalidOptionError if the distance has no gradient, because of refinement or the scale.
    """
    settings = comparison._fitted.metric
    gaps, regions, missing = comparison._gaps, comparison.regions, comparison.missing
    refined = regions[0].n_features > 1 and not gaps.exact
    check_has_gradient(scale=settings.scale, refine=settings._steps if refined else 0)
    x, y = (each._nested for each in regions)
    gradients = gradients_of_rows(x, y, gaps, settings)
    if regions[0]._origin.scale is not None:
        gradients = [each / regions[0]._origin.scale for each in gradients]
    if missing is not None and missing.kept is not None:
        # Rows that were dropped because of missing values have gradient 0.
        complete = [np.zeros((len(kept), gradients[0].shape[1])) for kept in missing.kept]
        for out, kept, each in zip(complete, missing.kept, gradients, strict=True):
            out[kept] = each
        gradients = complete
    return Gradient(*gradients)


def check_has_gradient(*, scale: Any, refine: int) -> None:
    """Raise InvalidOptionError if a distance with these settings has no gradient.

    `refine` is the number of steps of refinement, and `scale` the option of `Metric`.
    """
    if isinstance(scale, str):
        raise InvalidOptionError(
            f"scale={scale!r} is estimated from the data and has no gradient; use an array",
            option="scale",
        )
    if refine:
        raise InvalidOptionError(
            f"a refined distance has no gradient, got refine={refine}; use refine=0 or gap='exact'",
            option="refine",
        )


def mean_slopes(gaps: np.ndarray, shares: np.ndarray, p: float, length: float) -> np.ndarray:
    """Return the derivatives (L,) of the distance with respect to the gaps (L,) of its levels.

    The distance is the `power_mean` of order p of the gaps, with weights `shares` (L,) and the
    factor `length`.
    """
    slopes = 0.0 * gaps
    largest = float(gaps.max())
    if largest == 0:
        return slopes
    if math.isinf(p):
        slopes[gaps.argmax()] = 1.0
        return slopes
    # For p < 1 the derivative at a gap of 0 is infinite. Levels with a gap of 0 therefore get the
    # derivative 0.
    positive = gaps > 0
    ratios, weights = gaps[positive] / largest, length * shares[positive]
    total = float((weights * ratios**p).sum())
    slopes[positive] = weights * ratios ** (p - 1.0) * total ** (1.0 / p - 1.0)
    return slopes


def _gradients_of_gaps(gaps: Gaps, x: Nested, y: Nested, slopes: np.ndarray) -> list[np.ndarray]:
    """Return the gradient of the distance with respect to points, for the maximum over directions.

    The gap of a level is then attained along one sampled direction. `x` and `y` are the nested
    regions of the samples, and `slopes` (L,) the derivatives of the distance with respect to the
    gaps of L levels. The results have the points of each sample, deepest first.
    """
    sides, backend = (x, y), x.sample
    gradients = [np.zeros(tuple(side.points.shape)) for side in sides]
    indices, signs = decode(gaps.codes)
    maximizing = np.unique(indices[slopes > 0])
    size = backend.block_size(max(len(gaps.values), *(len(side.points) for side in sides)))
    for first in range(0, len(maximizing), size):
        chosen = maximizing[first : first + size]
        vectors = gaps.vectors[chosen].astype(np.float64)
        levels = np.flatnonzero(np.isin(indices, chosen) & (slopes > 0))
        column = np.searchsorted(chosen, indices[levels])
        upward, reach, furthest = signs[levels] > 0, [], []
        for side, sizes in zip(sides, gaps.plan.prefix_sizes, strict=True):
            supports = backend.support_rows(side.points, sizes, vectors)
            # The support point along u has the maximum projection on u, and the support point along
            # -u has the minimum projection on u.
            tops, lows, top_rows, low_rows = (
                backend.to_host(each[levels, column]) for each in supports
            )
            reach.append(np.where(upward, tops, lows))
            furthest.append(np.where(upward, top_rows, low_rows))
        ahead = np.where(reach[0] >= reach[1], 1.0, -1.0)
        toward = (slopes[levels] * ahead)[:, None] * vectors[column]
        for rows, gradient, sign in zip(furthest, gradients, (1.0, -1.0), strict=True):
            np.add.at(gradient, rows, sign * toward)
    return gradients


def _gradients_of_means(
    x: Nested, y: Nested, gaps: Gaps, slopes: np.ndarray, q: float
) -> list[Any]:
    """Return the gradient of the distance with respect to points, for a finite q.

    The gap of a level is then the mean of order q over all directions and their opposites. The
    arguments are those of `_gradients_of_gaps`. The results are arrays of the backend.
    """
    sides, backend = (x, y), x.sample
    xp, (n_vectors, d) = backend.xp, gaps.vectors.shape
    gradients = [backend.from_host(np.zeros(tuple(side.points.shape))) for side in sides]
    unit = mean_of_direction(d, q)
    means = gaps.values * unit
    divisors = backend.from_host(np.where(means > 0, means, 1.0)[:, None])
    share = np.divide(slopes, 2 * n_vectors * unit, where=means > 0, out=0 * slopes)
    shares = backend.from_host(share[:, None])
    size = backend.block_size(max(len(means), *(len(side.points) for side in sides)))
    for first in range(0, n_vectors, size):
        vectors = gaps.vectors[first : first + size].astype(np.float64)
        supports = [
            backend.support_rows(side.points, sizes, vectors)
            for side, sizes in zip(sides, gaps.plan.prefix_sizes, strict=True)
        ]
        moved = backend.from_host(vectors)
        for end in (0, 1):  # along the directions, and along their opposites
            apart = supports[0][end] - supports[1][end]
            lengths = shares * (abs(apart) / divisors) ** (q - 1.0) * xp.sign(apart)
            for each, gradient, sign in zip(supports, gradients, (1.0, -1.0), strict=True):
                weight = backend.scattered(lengths, each[2 + end], len(gradient))
                gradient += sign * (weight @ moved)
    return gradients


def _gradients_of_hulls(gaps: Gaps, x: Nested, y: Nested, slopes: np.ndarray) -> list[np.ndarray]:
    """Return the gradient of the distance with respect to points, for ``gap="exact"``.

    The gap of a level is then the Hausdorff distance of the convex hulls of both regions. The
    arguments are those of `_gradients_of_gaps`.
    """
    rows = [side.points.astype(np.float64, copy=False) for side in (x, y)]
    gradients = [np.zeros(points.shape) for points in rows]
    sizes = gaps.plan.prefix_sizes
    for level in np.flatnonzero(slopes > 0):
        inside = [points[: size[level]] for points, size in zip(rows, sizes, strict=True)]
        u = gaps.directions(slice(level, level + 1))[0]
        along = [points @ u for points in inside]
        ahead = 0 if along[0].max() >= along[1].max() else 1
        top = int(along[ahead].argmax())
        _, nearest, weights, _ = project_to_hull(inside[1 - ahead], inside[ahead][top : top + 1])
        away = inside[ahead][top] - nearest[0]
        gradient = slopes[level] / np.linalg.norm(away) * away
        gradients[ahead][top] += gradient
        gradients[1 - ahead][: sizes[1 - ahead][level]] -= weights[0, :, None] * gradient
    return gradients


def _by_row(nested: Nested, ordered: Any) -> Any:
    """Distribute a gradient with respect to the u distinct points over the rows (n, d) of a sample.

    `ordered` (u, d) has one row per distinct point, deepest first. The gradient of a point is
    divided equally among the rows that are equal to it. Rows of weight zero have gradient 0.
    """
    xp, index = nested.sample.xp, nested.sample.index_of_rows()
    distinct = xp.zeros_like(ordered)
    distinct[nested.order] = ordered
    present = index >= 0
    repeats = xp.bincount(index[present], minlength=len(distinct))
    result = nested.sample.from_host(np.zeros((len(index), ordered.shape[1])))
    result[present] = (distinct / repeats[:, None])[index[present]]
    return result
