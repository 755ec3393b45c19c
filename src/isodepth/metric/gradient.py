"""How the distance changes when rows move.

Depths only decide the order of the rows. At each level the gap is <u, x - y> for two support points
x and y along the best direction u. Among given directions these are two rows, and the gradient is a
sum of unit vectors at both; it exists wherever no two rows, levels or directions are tied, which is
almost everywhere. The supremum over all directions is different: it is the distance from a row x to
the other hull, and y, the nearest point of that, is a mixture of up to d rows that all lie on the
face across u. They share what pulls at y as they share y.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isodepth.core.regions import TrimmedRegions
from isodepth.engine.signed import place_of, sign_of
from isodepth.engine.support_passes import support_points
from isodepth.gap.supremum import Gaps
from isodepth.hull import project_to_hull

# Supports of this many levels and directions are held at a time.
_HELD = 1 << 19


class Gradient(NamedTuple):
    """How the distance changes with each row.

    Attributes
    ----------
    x : float64 ndarray of shape (n, d)
        Its derivative by the rows of X; rows that are equal share theirs.
    y : float64 ndarray of shape (m, d)
        By those of Y.
    """

    x: np.ndarray
    y: np.ndarray


def mean_slopes(gaps: np.ndarray, shares: np.ndarray, p: float, length: float) -> np.ndarray:
    """The derivative (L,) of `power_mean` by each gap; 0 where all gaps are 0."""
    largest = float(gaps.max())
    if largest == 0:
        return np.zeros(len(gaps))
    if math.isinf(p):
        return (np.arange(len(gaps)) == gaps.argmax()).astype(float)
    ratios = gaps / largest
    total = length * float(shares @ ratios**p)
    # A gap of 0 among others pulls without end for p < 1, in no direction: it has no say.
    powers = np.zeros(len(gaps))
    np.power(ratios, p - 1.0, out=powers, where=ratios > 0)
    return length * shares * powers * total ** (1.0 / p - 1.0)


def gradient_of_gaps(
    gaps: Gaps, regions: tuple[TrimmedRegions, TrimmedRegions], slopes: np.ndarray
) -> Gradient:
    """The gradient of a distance whose derivative by the gap of each level is `slopes` (L,)."""
    rows = [r.ordered.astype(np.float64, copy=False) for r in regions]
    if gaps.exact:
        return _gradient_of_hulls(gaps, regions, rows, slopes)
    pulls = [np.zeros(points.shape) for points in rows]
    stops = (gaps.plan.stops_x, gaps.plan.stops_y)
    places, signs = place_of(gaps.where), sign_of(gaps.where)
    asked = np.unique(places[slopes > 0])
    size = max(1, _HELD // max(1, len(gaps.values)))
    for first in range(0, len(asked), size):
        chosen = asked[first : first + size]
        vectors = gaps.vectors[chosen].astype(np.float64)
        supports = [support_points(*pair, vectors) for pair in zip(rows, stops, strict=True)]
        levels = np.flatnonzero(np.isin(places, chosen) & (slopes > 0))
        column = np.searchsorted(chosen, places[levels])
        # Largest projections where u is meant, smallest where -u is; either way the gap is their
        # difference along u. The rows that give them lie two places further.
        side = (signs[levels] < 0).astype(np.intp)
        reach = [found[side, levels, column] for found in supports]
        ahead = np.where(reach[0] >= reach[1], 1.0, -1.0)
        toward = (slopes[levels] * ahead)[:, None] * vectors[column]
        for found, pull, sign in zip(supports, pulls, (1.0, -1.0), strict=True):
            at = found[2 + side, levels, column].astype(np.intp)
            np.add.at(pull, at, sign * toward)
    return Gradient(*(_by_row(r, pull) for r, pull in zip(regions, pulls, strict=True)))


def _gradient_of_hulls(
    gaps: Gaps,
    regions: tuple[TrimmedRegions, TrimmedRegions],
    rows: list[np.ndarray],
    slopes: np.ndarray,
) -> Gradient:
    """The same where the gaps are Hausdorff distances of convex hulls."""
    pulls = [np.zeros(points.shape) for points in rows]
    stops = (gaps.plan.stops_x, gaps.plan.stops_y)
    for level in np.flatnonzero(slopes > 0):
        inside = [points[: stop[level]] for points, stop in zip(rows, stops, strict=True)]
        u = gaps.directions(slice(level, level + 1))[0]
        along = [points @ u for points in inside]
        ahead = 0 if along[0].max() >= along[1].max() else 1
        top = int(along[ahead].argmax())
        nearest = project_to_hull(inside[1 - ahead], inside[ahead][top])
        away = inside[ahead][top] - nearest.nearest
        pull = slopes[level] / np.linalg.norm(away) * away
        pulls[ahead][top] += pull
        pulls[1 - ahead][: stops[1 - ahead][level]] -= nearest.weights[:, None] * pull
    return Gradient(*(_by_row(r, pull) for r, pull in zip(regions, pulls, strict=True)))


def _by_row(regions: TrimmedRegions, pulls: np.ndarray) -> np.ndarray:
    """What pulls at the ordered distinct points (u, d), shared out to the rows as given (n, d)."""
    distinct = np.empty_like(pulls)
    distinct[regions.order] = pulls
    inverse = regions.sample.inverse
    present = inverse >= 0
    repeats = np.bincount(inverse[present], minlength=len(distinct))
    result = np.zeros((len(inverse), pulls.shape[1]))
    result[present] = (distinct / repeats[:, None])[inverse[present]]
    return result
