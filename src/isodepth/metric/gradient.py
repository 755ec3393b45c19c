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

from isodepth.base.compiled import decode, support_rows
from isodepth.base.export import read_only
from isodepth.errors import InvalidOptionError
from isodepth.geometry.directions import mean_of_direction
from isodepth.geometry.hull import project_to_hull
from isodepth.geometry.regions import Gaps
from isodepth.geometry.trimmed import TrimmedRegions

# Maximum number of support values (levels times directions) in memory at a time.
_HELD = 1 << 19


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


def gradient_of_comparison(comparison: Any) -> Gradient:
    """Compute the gradient that `Comparison.gradient` returns.

    Raise InvalidOptionError if the distance has no gradient, because of refinement or the scale.
    """
    settings = comparison._fitted.metric
    gaps, regions, missing = comparison._gaps, comparison.regions, comparison.missing
    refined = regions[0].n_features > 1 and not gaps.exact
    check_has_gradient(scale=settings.scale, refine=settings._steps if refined else 0)
    slopes = mean_slopes(gaps.values, gaps.plan.shares, settings.p, settings._length)
    rows = [each._nested.points.astype(np.float64, copy=False) for each in regions]
    if settings.q < math.inf:
        ordered = _gradients_of_means(gaps, rows, slopes, settings.q)
    elif gaps.exact:
        ordered = _gradients_of_hulls(gaps, rows, slopes)
    else:
        ordered = _gradients_of_gaps(gaps, rows, slopes)
    gradients = [_by_row(each, part) for each, part in zip(regions, ordered, strict=True)]
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


def mean_slopes(gaps: Any, shares: Any, p: float, length: float) -> Any:
    """Return the derivatives (L,) of the distance with respect to the gaps (L,) of its levels.

    The distance is the `power_mean` of order p of the gaps, with weights `shares` (L,) and the
    factor `length`. `gaps` and `shares` are both arrays or both tensors, as is the result.
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


def _gradients_of_gaps(gaps: Gaps, rows: list[np.ndarray], slopes: np.ndarray) -> list[np.ndarray]:
    """Return the gradient of the distance with respect to `rows`, for the maximum over directions.

    The gap of a level is then attained along one sampled direction. `rows` are two arrays with the
    distinct points of each sample, deepest first. `slopes` (L,) are the derivatives of the distance
    with respect to the gaps of L levels. The result has the shapes of `rows`.
    """
    gradients = [np.zeros(points.shape) for points in rows]
    sizes = gaps.plan.prefix_sizes
    indices, signs = decode(gaps.codes)
    maximizing = np.unique(indices[slopes > 0])
    size = max(1, _HELD // max(len(gaps.values), *map(len, rows)))
    for first in range(0, len(maximizing), size):
        chosen = maximizing[first : first + size]
        vectors = gaps.vectors[chosen].astype(np.float64)
        supports = [support_rows(*pair, vectors) for pair in zip(rows, sizes, strict=True)]
        levels = np.flatnonzero(np.isin(indices, chosen) & (slopes > 0))
        column = np.searchsorted(chosen, indices[levels])
        # The support point along u has the maximum projection on u, and the support point along -u
        # has the minimum projection on u.
        at = levels, column
        upward = signs[levels] > 0
        reach = [np.where(upward, each.tops[at], each.lows[at]) for each in supports]
        ahead = np.where(reach[0] >= reach[1], 1.0, -1.0)
        toward = (slopes[levels] * ahead)[:, None] * vectors[column]
        for each, gradient, sign in zip(supports, gradients, (1.0, -1.0), strict=True):
            furthest = np.where(upward, each.top_rows[at], each.low_rows[at])
            np.add.at(gradient, furthest, sign * toward)
    return gradients


def _gradients_of_means(
    gaps: Gaps, rows: list[np.ndarray], slopes: np.ndarray, q: float
) -> list[np.ndarray]:
    """Return the gradient of the distance with respect to `rows`, for a finite q.

    The gap of a level is then the mean of order q over all directions and their opposites. `rows`
    and `slopes` are described in `_gradients_of_gaps`, and the result has the shapes of `rows`.
    """
    gradients = [np.zeros(points.shape) for points in rows]
    sizes = gaps.plan.prefix_sizes
    unit = mean_of_direction(rows[0].shape[1], q)
    means = gaps.values * unit
    share = np.divide(slopes, 2 * len(gaps.vectors) * unit, where=means > 0, out=0 * slopes)
    size = max(1, _HELD // max(len(means), *map(len, rows)))
    for first in range(0, len(gaps.vectors), size):
        vectors = gaps.vectors[first : first + size].astype(np.float64)
        column = np.arange(len(vectors))
        supports = [support_rows(*pair, vectors) for pair in zip(rows, sizes, strict=True)]
        for side in (0, 1):
            apart = supports[0][side] - supports[1][side]
            ratio = np.divide(
                np.abs(apart), means[:, None], where=means[:, None] > 0, out=0 * apart
            )
            lengths = share[:, None] * ratio ** (q - 1.0) * np.sign(apart)
            for each, gradient, sign in zip(supports, gradients, (1.0, -1.0), strict=True):
                weight = np.zeros((len(gradient), len(vectors)))
                np.add.at(weight, (each[2 + side], column), lengths)
                gradient += sign * (weight @ vectors)
    return gradients


def _gradients_of_hulls(gaps: Gaps, rows: list[np.ndarray], slopes: np.ndarray) -> list[np.ndarray]:
    """Return the gradient of the distance with respect to `rows`, for ``gap="exact"``.

    The gap of a level is then the Hausdorff distance of the convex hulls of both regions. `rows`
    and `slopes` are described in `_gradients_of_gaps`, and the result has the shapes of `rows`.
    """
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


def _by_row(regions: TrimmedRegions, ordered: np.ndarray) -> np.ndarray:
    """Distribute a gradient with respect to the u distinct points over the input rows (n, d).

    `regions` are those of the sample. `ordered` (u, d) is the gradient with one row per distinct
    point, deepest first. The gradient of a point is divided equally among the input rows that are
    equal to it. Rows of weight zero have gradient 0.
    """
    distinct = np.empty_like(ordered)
    distinct[regions._nested.order] = ordered
    inverse = regions._nested.sample.inverse
    present = inverse >= 0
    repeats = np.bincount(inverse[present], minlength=len(distinct))
    result = np.zeros((len(inverse), ordered.shape[1]))
    result[present] = (distinct / repeats[:, None])[inverse[present]]
    return result
