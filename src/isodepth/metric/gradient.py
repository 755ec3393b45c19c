"""How the distance changes when rows move.

Depths only decide the order of the rows. At each level the gap is <u, x - y> for two support points
x and y along the best direction u. Among given directions these are two rows, and the gradient is a
sum of unit vectors at both; it exists wherever no two rows, levels or directions are tied, which is
almost everywhere. The supremum over all directions is different: it is the distance from a row x to
the other hull, and y, the nearest point of that, is a mixture of up to d rows that all lie on the
face across u. They share what pulls at y as they share y. A mean over directions (q < inf) pulls at
two rows along every direction, and so at far more rows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.directions import mean_of_direction
from isodepth.core.regions import TrimmedRegions
from isodepth.core.scaling import SCALES
from isodepth.engine import direction_index, direction_sign, support_rows
from isodepth.errors import InvalidOptionError
from isodepth.gap.gaps import Gaps
from isodepth.hull import project_to_hull
from isodepth.metric.signature import Signature

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


def gradient_of_comparison(comparison: Any) -> Gradient:
    """What `Comparison.gradient` gives, or an error that says why there is none."""
    signature = Signature.parse(comparison.signature)
    gaps, regions, missing = comparison._gaps, comparison.regions, comparison.missing
    check_has_gradient(
        scale=signature.scale,
        refine=signature.refine if regions[0].n_features > 1 and not gaps.exact else 0,
    )
    slopes = mean_slopes(gaps.values, gaps.plan.shares, *comparison._power)
    rows = [own.ordered.astype(np.float64, copy=False) for own in regions]
    if signature.q < math.inf:
        pulls = _pulls_of_means(gaps, rows, slopes, signature.q)
    elif gaps.exact:
        pulls = _pulls_of_hulls(gaps, rows, slopes)
    else:
        pulls = _pulls_of_gaps(gaps, rows, slopes)
    found = [_by_row(own, pull) for own, pull in zip(regions, pulls, strict=True)]
    if regions[0].origin.scale is not None:
        found = [slope / regions[0].origin.scale for slope in found]
    if missing is not None and missing.kept is not None:
        # 0 for rows that were left out.
        whole = [np.zeros((len(kept), found[0].shape[1])) for kept in missing.kept]
        for slopes, kept, some in zip(whole, missing.kept, found, strict=True):
            slopes[kept] = some
        found = whole
    return Gradient(*found)


def check_has_gradient(*, scale: Any, refine: int) -> None:
    """Raise where a distance with these settings has no gradient by rows."""
    if isinstance(scale, str) and scale in SCALES:
        raise InvalidOptionError(
            f"scale={scale!r} is taken from the data and is not differentiated, so that there is "
            "no gradient; give the scale as an array"
        )
    if refine:
        raise InvalidOptionError(
            f"a distance that is refined has no gradient, got refine={refine}: where it ends a "
            "support point is a mixture of many rows; use refine=0 or gap='exact'"
        )


def mean_slopes(gaps: Any, shares: Any, p: float, length: float) -> Any:
    """The derivative (L,) of `power_mean` by each gap, for arrays and tensors."""
    slopes = 0.0 * gaps
    largest = float(gaps.max())
    if largest == 0:
        return slopes
    if math.isinf(p):
        slopes[gaps.argmax()] = 1.0
        return slopes
    # A gap of 0 among others pulls without end for p < 1, in no direction: it has no say.
    positive = gaps > 0
    ratios, weights = gaps[positive] / largest, length * shares[positive]
    total = float((weights * ratios**p).sum())
    slopes[positive] = weights * ratios ** (p - 1.0) * total ** (1.0 / p - 1.0)
    return slopes


def _pulls_of_gaps(gaps: Gaps, rows: list[np.ndarray], slopes: np.ndarray) -> list[np.ndarray]:
    """What pulls at the ordered points of both samples, if the distance changes by `slopes` (L,).

    These are the derivatives of the distance by the gap of each level.
    """
    pulls = [np.zeros(points.shape) for points in rows]
    sizes = gaps.plan.prefix_sizes
    indices, signs = direction_index(gaps.where), direction_sign(gaps.where)
    asked = np.unique(indices[slopes > 0])
    size = max(1, _HELD // max(len(gaps.values), *map(len, rows)))
    for first in range(0, len(asked), size):
        chosen = asked[first : first + size]
        vectors = gaps.vectors[chosen].astype(np.float64)
        supports = [support_rows(*pair, vectors) for pair in zip(rows, sizes, strict=True)]
        levels = np.flatnonzero(np.isin(indices, chosen) & (slopes > 0))
        column = np.searchsorted(chosen, indices[levels])
        # Largest projections where u is meant, smallest where -u is; either way the gap is their
        # difference along u.
        at = levels, column
        upward = signs[levels] > 0
        reach = [np.where(upward, found.tops[at], found.lows[at]) for found in supports]
        ahead = np.where(reach[0] >= reach[1], 1.0, -1.0)
        toward = (slopes[levels] * ahead)[:, None] * vectors[column]
        for found, pull, sign in zip(supports, pulls, (1.0, -1.0), strict=True):
            furthest = np.where(upward, found.top_rows[at], found.low_rows[at])
            np.add.at(pull, furthest, sign * toward)
    return pulls


def _pulls_of_means(
    gaps: Gaps, rows: list[np.ndarray], slopes: np.ndarray, q: float
) -> list[np.ndarray]:
    """The same where the gap is the L_q mean over all directions and their opposites."""
    pulls = [np.zeros(points.shape) for points in rows]
    sizes = gaps.plan.prefix_sizes
    unit = mean_of_direction(rows[0].shape[1], q)
    means = gaps.values * unit
    share = np.divide(slopes, 2 * len(gaps.vectors) * unit, where=means > 0, out=0 * slopes)
    size = max(1, _HELD // max(len(means), *map(len, rows)))
    for first in range(0, len(gaps.vectors), size):
        vectors = gaps.vectors[first : first + size].astype(np.float64)
        column = np.arange(len(vectors))
        supports = [support_rows(*pair, vectors) for pair in zip(rows, sizes, strict=True)]
        # Tops and their rows along u, lows and theirs along -u.
        for side, outward in ((0, 1.0), (1, -1.0)):
            apart = outward * (supports[0][side] - supports[1][side])
            ratio = np.divide(
                np.abs(apart), means[:, None], where=means[:, None] > 0, out=0 * apart
            )
            each = share[:, None] * ratio ** (q - 1.0) * np.sign(apart)
            for found, pull, sign in zip(supports, pulls, (outward, -outward), strict=True):
                weight = np.zeros((len(pull), len(vectors)))
                np.add.at(weight, (found[2 + side], column), each)
                pull += sign * (weight @ vectors)
    return pulls


def _pulls_of_hulls(gaps: Gaps, rows: list[np.ndarray], slopes: np.ndarray) -> list[np.ndarray]:
    """The same where the gaps are Hausdorff distances of convex hulls."""
    pulls = [np.zeros(points.shape) for points in rows]
    sizes = gaps.plan.prefix_sizes
    for level in np.flatnonzero(slopes > 0):
        inside = [points[: size[level]] for points, size in zip(rows, sizes, strict=True)]
        u = gaps.directions(slice(level, level + 1))[0]
        along = [points @ u for points in inside]
        ahead = 0 if along[0].max() >= along[1].max() else 1
        top = int(along[ahead].argmax())
        nearest = project_to_hull(inside[1 - ahead], inside[ahead][top])
        away = inside[ahead][top] - nearest.nearest
        pull = slopes[level] / np.linalg.norm(away) * away
        pulls[ahead][top] += pull
        pulls[1 - ahead][: sizes[1 - ahead][level]] -= nearest.weights[:, None] * pull
    return pulls


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
