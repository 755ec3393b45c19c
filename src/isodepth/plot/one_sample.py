"""Bagplot: a boxplot of one sample in the plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.core.directions import unit_vectors
from isodepth.core.regions import Sample
from isodepth.data.arrays import column_labels
from isodepth.data.validation import check_points
from isodepth.depth.base import Projections
from isodepth.depth.resolve import private_copy, resolve_depth
from isodepth.engine import Resources
from isodepth.errors import InvalidInputError
from isodepth.plot.regions import outline, plane_directions
from isodepth.plot.style import FIRST, INK, MARK, dress, legend_below, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DIRECTIONS = 360
# Rows outside the bag enlarged by this factor are outliers.
_FACTOR = 3.0


def bagplot(sample: Any, ax: Axes | None = None, *, depth: Any = "halfspace") -> Axes:
    """Draw one sample in the plane as a bagplot (Rousseeuw, Ruts and Tukey).

    The bag is the region of the deepest half of the sample. The cross is its deepest point, or the
    mean of the deepest points. Rows outside the bag enlarged three times around this point are
    outliers. The loop is the hull of all other rows.

    Parameters
    ----------
    sample : array-like or data frame of shape (n, 2)
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.
    depth : str or estimator
        As in `isodepth.Metric`.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.plot import bagplot
    >>> points = np.random.default_rng(0).standard_normal((200, 2))
    >>> bagplot(points).get_xlabel()
    'column 0'
    """
    points, names = check_points(sample, "sample")
    if points.shape[1] != 2:
        raise InvalidInputError(
            f"a bagplot needs two columns, got a sample of {points.shape[1]}; select two of them"
        )
    source = resolve_depth(private_copy(depth))
    merged = Sample.of(points)
    source.warn_if_uninformative(merged)
    projections = Projections(unit_vectors(2, _DIRECTIONS, "equispaced"), Resources())
    regions = source.regions(merged, points, None, projections)
    ax = ax or new_axes(6.4, 5.2)
    points = points.astype(float, copy=False)
    directions = plane_directions()
    center = points[regions.inside(0.0)].mean(axis=0)
    bag = regions.support(directions, 0.5)
    # <x - center, u> <= factor * <b - center, u>, b the point of the bag with maximum <b, u>.
    along = points @ directions.T
    fence = _FACTOR * (bag - center @ directions.T) + center @ directions.T
    outlying = (along > fence + 1e-9 * np.abs(fence).max()).any(axis=1)
    loop = outline(along[~outlying].max(axis=0), directions)
    ax.fill(*loop.T, facecolor=FIRST, alpha=0.12, edgecolor="none", label="loop: all but outliers")
    ax.fill(*outline(bag, directions).T, facecolor=FIRST, alpha=0.3, edgecolor=FIRST,
            linewidth=1.5, label="bag: the deepest half")  # fmt: skip
    ax.plot(*points[~outlying].T, "o", color=INK, alpha=0.5, markersize=2.2, markeredgewidth=0,
            rasterized=True)  # fmt: skip
    if outlying.any():
        ax.plot(*points[outlying].T, "x", color=MARK, markersize=6, markeredgewidth=1.5,
                label=f"outliers: {int(outlying.sum())}")  # fmt: skip
    ax.plot(*center, "P", color="white", markeredgecolor=INK, markersize=10, label="deepest point")
    x, y = (short(name) for name in names or column_labels(2))
    dress(ax, "Bagplot", x=x, y=y, grid=None)
    legend_below(ax)
    return ax
