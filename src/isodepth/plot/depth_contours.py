"""How deep each place of the plane lies in a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.core.regions import TrimmedRegions
from isodepth.depth import BY_NAME
from isodepth.depth.base import Depth
from isodepth.engine.resources import Resources
from isodepth.errors import InvalidOptionError
from isodepth.plot.one_sample import planar_regions
from isodepth.plot.style import FIRST, INK, dress, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Contours are drawn at the depths that these shares of the sample reach.
MASSES = (0.9, 0.75, 0.5, 0.25)
_GRID = 80


def depth_contours(
    sample: Any,
    ax: Axes | None = None,
    *,
    columns: Sequence[Any] | None = None,
    depth: Any = "projection",
) -> Axes:
    """Draw the depth of every place of the plane in one sample, as contours around it.

    Each contour is labeled with the share of the rows that are at least as deep.

    Parameters
    ----------
    sample : array-like or data frame of shape (n, d)
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    columns : pair of names or places, optional
        Which two columns; needed where there are others.
    depth : str or estimator
        As in `isodepth.Metric`.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.plot import depth_contours
    >>> points = np.random.default_rng(0).standard_normal((200, 2))
    >>> depth_contours(points).get_xlabel()
    'column 0'
    """
    regions, names = planar_regions(sample, columns, depth)
    if ax is None:
        ax = new_axes(6.4, 5.2)
    points = regions.points.astype(float, copy=False)
    kept = points[regions.inside(0.95)]
    low, high = kept.min(axis=0), kept.max(axis=0)
    room = 0.15 * np.where(high > low, high - low, 1.0)
    axes = [np.linspace(low[j] - room[j], high[j] + room[j], _GRID) for j in (0, 1)]
    places = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    heights = _depths(regions, places).reshape(_GRID, _GRID)
    at = np.array([regions.alpha(mass) for mass in MASSES])
    distinct = np.unique(at)
    top = max(float(heights.max()), float(distinct[-1])) + 1e-9
    for level in distinct:
        # One above the other: the deeper, the darker.
        ax.contourf(*axes, heights, levels=[level, top], colors=FIRST, alpha=0.1)
        drawn = ax.contour(*axes, heights, levels=[level], colors=FIRST, linewidths=1.3)
        mass = MASSES[int(np.argmax(at == level))]
        ax.clabel(drawn, fmt=lambda _, share=mass: f"{share:.0%}", fontsize=8, colors=INK)
    ax.plot(
        *points.T, "o", color=INK, markersize=2.2, alpha=0.4, markeredgewidth=0, rasterized=True
    )
    ax.set_xlim(axes[0][0], axes[0][-1])
    ax.set_ylim(axes[1][0], axes[1][-1])
    beyond = int(((points < low - room) | (points > high + room)).any(axis=1).sum())
    ax.set_xlabel(short(names[0]))
    ax.set_ylabel(short(names[1]))
    dress(ax, "Depth, by the share of the rows inside", grid=None)
    if beyond:
        ax.annotate(
            f"{beyond} of {len(points)} rows outside the frame", (1, 0), xycoords="axes fraction",
            xytext=(-4, 4), textcoords="offset points", ha="right", color=INK, fontsize="small",
        )  # fmt: skip
    return ax


def _depths(regions: TrimmedRegions, places: np.ndarray) -> np.ndarray:
    """Depths of places (m, 2) in the sample of the regions."""
    origin: Any = regions.origin
    if not isinstance(origin.source, Depth):
        raise InvalidOptionError(
            f"contours need the depth of any place, which {origin.depth} does not give; use one of "
            f"{', '.join(BY_NAME)}"
        )
    used = origin.directions.astype(regions.points.dtype, copy=False)
    wanted = places.astype(regions.points.dtype, copy=False)
    return origin.source.point_depth(regions.sample, wanted, used, Resources())
