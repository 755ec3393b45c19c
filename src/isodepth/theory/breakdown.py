"""Lower bounds of the breakdown point of the distance with the halfspace depth."""

from __future__ import annotations

import bisect
from fractions import Fraction
from typing import Any

import numpy as np

from isodepth.base.options import Choice, Integer, Number
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.table.validation import check_points
from isodepth.theory.radii import check_eps, kept_mass


def breakdown_from_levels(n: int, alpha: float, alpha_max: float) -> float:
    """Return the lower bound of the breakdown point of the paper, from two depths.

    The bound is o / (n + o), where o is the smaller of ceil(n alpha / (1 - alpha)) and n alpha_max.
    These two terms are the two cases of the proposition.

    Parameters
    ----------
    n : int
        Size of the sample.
    alpha : float in [0, 1]
        alpha(1-eps), the minimum depth in the outermost region that is compared.
    alpha_max : float in [alpha, 1]
        Maximum halfspace depth of any point of the space, or a lower bound on this maximum.

    Returns
    -------
    bound : float in [0, 1/2]

    Examples
    --------
    >>> from isodepth.theory import breakdown_from_levels
    >>> round(breakdown_from_levels(100, alpha=0.05, alpha_max=0.4), 6)  # 6 / 106
    0.056604
    >>> round(breakdown_from_levels(100, alpha=0.35, alpha_max=0.4), 6)  # 40 / 140
    0.285714
    """
    n = Integer(1).check("n", n)
    level = _depth_fraction(Number(0.0, 1.0).check("alpha", alpha), n)
    deepest = _depth_fraction(Number(0.0, 1.0).check("alpha_max", alpha_max), n)
    if level > deepest:
        raise InvalidInputError(
            f"alpha must not exceed alpha_max, the largest depth there is, got alpha={alpha!r} and "
            f"alpha_max={alpha_max!r}"
        )
    if level * (1 + deepest) <= deepest:
        outliers = -(-n * level // (1 - level))
        return float(outliers / (n + outliers))
    return float(deepest / (1 + deepest))


def breakdown_bound(
    X: Any,
    eps: float = 0.1,
    *,
    depth: Any = None,
    alpha_max: float | None = None,
    statement: str = "proved",
) -> float:
    """Return a lower bound on the breakdown point of DR_{p,eps} with the halfspace depth.

    The breakdown point at a sample is the minimum share o / (n + o) of added points for which the
    distance between the samples with and without these points is unbounded. For two samples, the
    breakdown point of the distance is the smaller of their two breakdown points.

    Parameters
    ----------
    X : array-like of shape (n, d)
    eps : float in (0, 1], default 0.1
    depth : None, array-like of shape (n,), or HalfspaceDepth
        Halfspace depths of the rows of `X`, or an estimator that computes them, by default
        ``HalfspaceDepth(random_state=0)``. In one dimension exact depths are always used. A minimum
        over finitely many directions is an upper bound on the depth, so the result may be too
        large: pass exact depths, or use many directions.
    alpha_max : float or None
        Maximum depth of any point of the space, only with ``statement="paper"``. The default is the
        maximum of the depths in the sample and ceil(n/(d+1))/n, which some point always reaches.
        The default is exact in one dimension. In other dimensions it is a lower bound, which makes
        the result smaller than that of the proposition.
    statement : {"proved", "paper"}, default "proved"
        "proved" is the bound derived in the notes, which needs no assumption. "paper" is the
        proposition of the paper, which is larger and does not always hold.

    Returns
    -------
    bound : float

    Notes
    -----
    The bound of the paper does not always hold. Its proof considers the region of a fixed *depth*,
    alpha(1-eps) of the clean sample. But the distance compares regions of a fixed *mass*, and the
    added points change the depth of such a region. In one dimension this matters only for rounding.
    For example, ten distinct numbers with eps = 0.1 have alpha = 1/10, and the bound requires two
    outliers (2/12). But a single outlier is in all regions with beta between 9/11 and 0.9, so the
    breakdown point is 1/11. In the plane the bound may be wrong by a factor of two: a core with
    little more than 1-eps of the mass, inside a wide ring with the rest, has alpha = eps/2, but a
    share of about eps/4 at one distant point is enough.

    The following holds. A point outside the convex hull of `X` has a depth of at most o/(n+o) in
    the contaminated sample, and a row of `X` of depth k/n has a depth of at least k/(n+o). If the
    rows with k > o are 1-eps of all n + o points, every region is therefore inside the hull. The
    first o for which this is false gives the bound "proved". `alpha_max` has no effect on this
    bound, because a region of given mass is never empty.

    Examples
    --------
    >>> from isodepth.theory import breakdown_bound
    >>> sample = [[float(i)] for i in range(100)]
    >>> round(breakdown_bound(sample, eps=0.2), 4)  # 8 / 108
    0.0741
    >>> round(breakdown_bound(sample, eps=0.2, statement="paper"), 4)  # 12 / 112
    0.1071
    """
    points, _ = check_points(X, "X")
    n, d = points.shape
    kept = kept_mass(check_eps(eps))
    Choice(("paper", "proved")).check("statement", statement)
    if statement == "proved" and alpha_max is not None:
        raise InvalidOptionError(
            f"alpha_max does not enter the bound that is proved, got alpha_max={alpha_max!r}; "
            "drop it, or ask for statement='paper'"
        )
    counts = _depth_counts(points, depth)
    if statement == "proved":
        return _proved_bound(counts, kept)
    # The region {D >= alpha(1-eps)} is the smallest with mass > 1-eps; for any eps > 0 one exists.
    falling = np.sort(counts)[::-1]
    alpha = float(falling[int(n * kept)]) / n
    if alpha_max is None:
        alpha_max = max(int(falling[0]), -(-n // (d + 1))) / n
    return breakdown_from_levels(n, alpha, alpha_max)


def _proved_bound(counts: np.ndarray, kept: Fraction) -> float:
    n = len(counts)
    rising = np.sort(counts)

    def may_break(outliers: int) -> bool:
        safe = n - int(np.searchsorted(rising, outliers, "right"))
        return safe == 0 or safe < kept * (n + outliers)

    outliers = 1 + bisect.bisect_left(range(1, n + 1), True, key=may_break)
    return outliers / (n + outliers)


def _depth_counts(points: np.ndarray, depth: Any) -> np.ndarray:
    """Return the halfspace depths of the rows times n, which are integers."""
    n, d = points.shape
    if depth is None and d == 1:
        values = np.sort(points[:, 0])
        below = np.searchsorted(values, points[:, 0], "right")
        above = n - np.searchsorted(values, points[:, 0], "left")
        return np.minimum(below, above)
    if depth is None or hasattr(depth, "fit"):
        from isodepth.geometry.depth.estimators import HalfspaceDepth

        if depth is not None and not isinstance(depth, HalfspaceDepth):
            raise InvalidInputError(
                "depth must be a HalfspaceDepth or an array of depths, got "
                f"{type(depth).__name__}: the bound is only known for the halfspace depth"
            )
        depth = (HalfspaceDepth(random_state=0) if depth is None else depth).fit(points).depth_
    depths, _ = check_points(np.asarray(depth).reshape(-1, 1), "depth", "float64")
    if len(depths) != n:
        raise InvalidInputError(
            f"depth must hold one number for each of the {n} rows of X, got {len(depths)}"
        )
    counts = np.rint(n * depths[:, 0])
    if np.abs(n * depths[:, 0] - counts).max() > 1e-6 or counts.min() < 1 or counts.max() > n:
        raise InvalidInputError(
            "depth must hold the halfspace depths of the rows of X with equal weights, which are "
            f"multiples of 1/n = {1 / n:g} in [1/n, 1]; got values from {depths.min():g} to "
            f"{depths.max():g}"
        )
    return counts.astype(np.int64)


def _depth_fraction(depth: float, n: int) -> Fraction:
    """Convert a depth to an exact fraction: a multiple of 1/n if it is one up to rounding."""
    count = round(n * depth)
    return Fraction(count, n) if abs(n * depth - count) <= 1e-9 * n else Fraction(depth)
