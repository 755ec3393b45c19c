"""The bagplot: a boxplot in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.plot.one_sample import planar_regions
from isodepth.plot.outline import outline, plane_directions
from isodepth.plot.style import FIRST, INK, MARK, dress, legend, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bagplot(
    sample: Any,
    ax: Axes | None = None,
    *,
    columns: Sequence[Any] | None = None,
    depth: Any = "halfspace",
    factor: float = 3.0,
) -> Axes:
    """Draw one sample in the plane as a bagplot (Rousseeuw, Ruts and Tukey).

    The bag is the region that holds the deepest half of the sample, the cross its deepest point
    (the mean of them, where there are several). Blown up by `factor` around that point the bag is
    the fence, which is not drawn: rows outside are outliers, and the loop is around all others.

    Parameters
    ----------
    sample : array-like or data frame of shape (n, d)
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    columns : pair of names or places, optional
        Which two columns; needed where there are others.
    depth : str or estimator
        As in `isodepth.Metric`.
    factor : float

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
    regions, names = planar_regions(sample, columns, depth)
    if ax is None:
        ax = new_axes(6.4, 5.2)
    points = regions.points.astype(float, copy=False)
    directions = plane_directions()
    center = points[regions.inside(0.0)].mean(axis=0)
    bag = regions.support(directions, 0.5)
    # <x - center, u> <= factor * <b - center, u> for the furthest point b of the bag along u.
    along = points @ directions.T
    fence = factor * (bag - center @ directions.T) + center @ directions.T
    outlying = (along > fence + 1e-9 * np.abs(fence).max()).any(axis=1)
    loop = outline(along[~outlying].max(axis=0), directions)
    ax.fill(*loop.T, facecolor=FIRST, alpha=0.12, edgecolor="none", label="loop: all but outliers")
    ax.fill(*outline(bag, directions).T, facecolor=FIRST, alpha=0.3, edgecolor=FIRST,
            linewidth=1.5, label="bag: the deepest half")  # fmt: skip
    ax.plot(*points[~outlying].T, "o", color=INK, markersize=2.2, alpha=0.5, markeredgewidth=0,
            rasterized=True)  # fmt: skip
    if outlying.any():
        ax.plot(*points[outlying].T, "x", color=MARK, markersize=6, markeredgewidth=1.5,
                label=f"{int(outlying.sum())} outlier(s)")  # fmt: skip
    ax.plot(*center, "P", color="white", markeredgecolor=INK, markersize=10, label="deepest point")
    ax.set_xlabel(short(names[0]))
    ax.set_ylabel(short(names[1]))
    dress(ax, "Bagplot", grid=None)
    legend(ax, loc="best")
    return ax
