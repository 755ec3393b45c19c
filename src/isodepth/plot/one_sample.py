"""Pictures of one sample in the plane: the bagplot, and contours of depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.core.directions import unit_vectors
from isodepth.core.regions import Sample, TrimmedRegions
from isodepth.data.arrays import column_labels
from isodepth.data.validation import check_points
from isodepth.depth import BY_NAME
from isodepth.depth.base import Depth, DepthSource, Projections
from isodepth.depth.resolve import depth_text, private_copy, resolve_depth
from isodepth.engine import Resources
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.plot.regions import outline, plane_directions
from isodepth.plot.style import FIRST, INK, MARK, dress, legend_below, new_axes, note, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Contours are drawn at the depths that these shares of the sample reach.
MASSES = (0.9, 0.75, 0.5, 0.25)
_GRID = 80
_DIRECTIONS = 360


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
    (or the mean of the deepest points). The bag, enlarged by `factor` around that point, is
    the fence, which is not drawn: rows outside it are outliers. The loop is the hull of all others.

    Parameters
    ----------
    sample : array-like or data frame of shape (n, d)
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    columns : pair of names or indices, optional
        Which two columns; needed if there are more than two.
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
    regions, names, _ = _planar_regions(sample, columns, depth)
    ax = ax or new_axes(6.4, 5.2)
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
    dress(ax, "Bagplot", x=short(names[0]), y=short(names[1]), grid=None)
    legend_below(ax)
    return ax


def depth_contours(
    sample: Any,
    ax: Axes | None = None,
    *,
    columns: Sequence[Any] | None = None,
    depth: Any = "projection",
) -> Axes:
    """Draw contours of the depth in the plane, for one sample.

    Each contour is labeled with the share of the rows that are at least as deep.

    Parameters
    ----------
    sample : array-like or data frame of shape (n, d)
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    columns : pair of names or indices, optional
        Which two columns; needed if there are more than two.
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
    regions, names, source = _planar_regions(sample, columns, depth)
    if not isinstance(source, Depth):
        raise InvalidOptionError(
            f"contours need the depth at any point, which {depth_text(source)} does not give; use "
            f"one of {', '.join(BY_NAME)}"
        )
    ax = ax or new_axes(6.4, 5.2)
    points = regions.points.astype(float, copy=False)
    kept = points[regions.inside(0.95)]
    low, high = kept.min(axis=0), kept.max(axis=0)
    margin = 0.15 * np.where(high > low, high - low, 1.0)
    axes = [np.linspace(low[j] - margin[j], high[j] + margin[j], _GRID) for j in (0, 1)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    wanted = grid.astype(regions.points.dtype, copy=False)
    heights = source.point_depth(regions.sample, wanted, _along()).reshape(_GRID, _GRID)
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
    beyond = int(((points < low - margin) | (points > high + margin)).any(axis=1).sum())
    title = "Depth, by the share of the rows inside"
    dress(ax, title, x=short(names[0]), y=short(names[1]), grid=None)
    if beyond:
        text = f"{beyond} of {len(points)} rows outside the frame"
        note(ax, text, (1, 0), (-4, 4), xycoords="axes fraction", ha="right")
    return ax


def _along() -> Projections:
    return Projections(unit_vectors(2, _DIRECTIONS, "equispaced"), Resources())


def _planar_regions(
    sample: Any, columns: Sequence[Any] | None, depth: Any
) -> tuple[TrimmedRegions, tuple[str, ...], DepthSource]:
    """The regions of two columns of a sample, the names of the columns, and the depth."""
    points, names = check_points(sample, "sample")
    known = names or column_labels(points.shape[1])
    if columns is not None:
        if isinstance(columns, str) or len(columns) != 2:
            raise InvalidOptionError(f"columns must be two names or indices, got {columns!r}")
        chosen = [_column_index(column, known) for column in columns]
        points, known = points[:, chosen], tuple(known[j] for j in chosen)
    elif points.shape[1] != 2:
        raise InvalidInputError(
            f"a plane has two columns, and the sample has {points.shape[1]}; say which to draw: "
            f"columns=({known[0]!r}, {known[-1]!r})"
        )
    points = np.ascontiguousarray(points)
    source = resolve_depth(private_copy(depth))
    merged = Sample.of(points)
    source.warn_if_uninformative(merged)
    regions = source.regions(merged, points, None, _along())
    return regions, tuple(known), source


def _column_index(column: Any, known: tuple[str, ...]) -> int:
    if isinstance(column, int) and 0 <= column < len(known):
        return column
    if column in known:
        return known.index(column)
    raise InvalidOptionError(
        f"there is no column {column!r}; the columns are {', '.join(map(repr, known[:20]))}"
    )
