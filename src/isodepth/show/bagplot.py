"""Bagplot, the boxplot of a sample with two columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.base.annotations import DepthLike, TableLike
from isodepth.base.compiled import Resources
from isodepth.errors import InvalidInputError
from isodepth.geometry.depth.resolve import private_copy, resolve_depth
from isodepth.geometry.directions import unit_vectors
from isodepth.geometry.regions import Sample
from isodepth.geometry.trimmed import TrimmedRegions
from isodepth.show.style import FIRST, INK, MARK, PAPER, dress, legend_below, new_axes, short
from isodepth.table.arrays import column_labels
from isodepth.table.validation import check_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Number of directions of the depth. They are equispaced, not random.
_DIRECTIONS = 720
# Factor by which the bag is inflated to obtain the fence, as in the paper.
_FACTOR = 3.0


def bagplot(X: TableLike, *, ax: Axes | None = None, depth: DepthLike = "halfspace") -> Axes:
    """Draw a sample with two columns as a bagplot, the boxplot of Rousseeuw, Ruts and Tukey.

    The bag is the convex hull of the deepest half of the rows. The depth median is the deepest row,
    or the mean of the deepest rows. The fence, which is not drawn, is the bag inflated by the
    factor 3 around the depth median. Rows outside the fence are marked as outliers. The loop is the
    convex hull of the rows that are not outliers.

    Parameters
    ----------
    X : array-like or data frame of shape (n, 2)
        Sample without missing values.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.
    depth : str or estimator, default "halfspace"
        Depth, as in :class:`isodepth.Metric`.

    Returns
    -------
    ax : matplotlib.axes.Axes

    References
    ----------
    P. J. Rousseeuw, I. Ruts and J. W. Tukey, The bagplot: a bivariate boxplot, The American
    Statistician 53 (1999), 382-387.

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.plot import bagplot
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[3] = 9
    >>> ax = bagplot(X)
    >>> ax.get_legend_handles_labels()[1][-2]
    '5 outliers'
    """
    points, names = check_points(X)
    if points.shape[1] != 2:
        raise InvalidInputError(
            f"a bagplot needs two columns, got {points.shape[1]}; select two columns of X"
        )
    ax = ax or new_axes(6.4, 5.2)
    points = points.astype(float, copy=False)
    median, bag = _median_and_bag(points, depth)
    outlying = _outside(points, median + _FACTOR * (bag - median))
    ax.fill(*_hull(points[~outlying]).T, facecolor=FIRST, alpha=0.12, edgecolor="none",
            label="loop: rows inside the fence")  # fmt: skip
    ax.fill(*bag.T, facecolor=FIRST, alpha=0.3, edgecolor=FIRST, linewidth=1.5,
            label="bag: deepest half of the rows")  # fmt: skip
    ax.plot(*points[~outlying].T, "o", color=INK, alpha=0.5, markersize=2.5, markeredgewidth=0,
            rasterized=True)  # fmt: skip
    if outlying.any():
        count = int(outlying.sum())
        ax.plot(*points[outlying].T, "x", color=MARK, markersize=6, markeredgewidth=1.5,
                label=f"{count} outlier{'s' * (count > 1)}")  # fmt: skip
    ax.plot(*median, "P", color=PAPER, markeredgecolor=INK, markersize=10, label="depth median")
    x, y = (short(name) for name in names or column_labels(2))
    dress(ax, "Bagplot", x=x, y=y, grid=None)
    legend_below(ax, ncols=2)
    return ax


def _median_and_bag(points: np.ndarray, depth: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the depth median (2,) and the vertices (k, 2) of the bag; see `bagplot`."""
    source = resolve_depth(private_copy(depth))
    sample = Sample.of(points, resources=Resources.of())
    source._warn_if_uninformative(sample)
    distinct, depths = source._all_depths(
        sample, unit_vectors(2, _DIRECTIONS, directions="equispaced")
    )
    regions = TrimmedRegions.of(source._nested(sample, distinct), depths)
    median = points[regions.indices(0.0)].mean(axis=0)
    return median, _hull(points[regions.indices(0.5)])


def _hull(points: np.ndarray) -> np.ndarray:
    """Return the vertices (k, 2) of the convex hull of points (n, 2), counterclockwise.

    The hull of points on a line has two vertices, and that of a single point has one.
    """
    ordered = np.unique(points, axis=0)
    chains = []
    for side in (ordered, ordered[::-1]):  # lower and upper part, by Andrew's monotone chain
        chain: list[np.ndarray] = []
        for point in side:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains += chain[:-1]
    return np.array(chains or ordered)


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Return the signed area of a, b, c, times two: positive if the path a, b, c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _outside(points: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Return an array (n,) of bool: whether each of the points (n, 2) is outside a polygon.

    The polygon is convex, with `vertices` (k, 2) in counterclockwise order.
    """
    edges = np.roll(vertices, -1, axis=0) - vertices
    outward = np.stack([edges[:, 1], -edges[:, 0]], axis=1)
    # The bounding box is implied by the edges, except if the polygon is a segment or a point.
    normals = np.concatenate([outward, np.eye(2), -np.eye(2)])
    limits = (vertices @ normals.T).max(axis=0)
    # Rows on the boundary are not outside, even if rounding moves them.
    slack = 1e-9 * np.abs(vertices).max() * np.abs(normals).sum(axis=1)
    return (points @ normals.T > limits + slack).any(axis=1)
