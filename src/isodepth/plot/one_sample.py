"""Figures of one sample in the plane: the bagplot, and contours of depth."""

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

#: Contours contain these fractions of the rows.
FRACTIONS = (0.9, 0.75, 0.5, 0.25)
_GRID = 80
_DIRECTIONS = 360
_ROWS: dict[str, Any] = {"color": INK, "markersize": 2.2, "markeredgewidth": 0, "rasterized": True}


def bagplot(
    sample: Any,
    ax: Axes | None = None,
    *,
    columns: Sequence[Any] | None = None,
    depth: Any = "halfspace",
    factor: float = 3.0,
) -> Axes:
    """Draw one sample in the plane as a bagplot (Rousseeuw, Ruts and Tukey).

    The bag is the region of the deepest half of the sample. The cross is its deepest point, or the
    mean of the deepest points. Rows outside the bag enlarged by `factor` around this point are
    outliers. The loop is the hull of all other rows.

    Parameters
    ----------
    sample : array-like or data frame of shape (n, d)
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.
    columns : pair of names or indices, optional
        The two columns; required if the sample has more than two.
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
    # <x - center, u> <= factor * <b - center, u>, b the point of the bag with maximum <b, u>.
    along = points @ directions.T
    fence = factor * (bag - center @ directions.T) + center @ directions.T
    outlying = (along > fence + 1e-9 * np.abs(fence).max()).any(axis=1)
    loop = outline(along[~outlying].max(axis=0), directions)
    ax.fill(*loop.T, facecolor=FIRST, alpha=0.12, edgecolor="none", label="loop: all but outliers")
    ax.fill(*outline(bag, directions).T, facecolor=FIRST, alpha=0.3, edgecolor=FIRST,
            linewidth=1.5, label="bag: the deepest half")  # fmt: skip
    ax.plot(*points[~outlying].T, "o", alpha=0.5, **_ROWS)
    if outlying.any():
        ax.plot(*points[outlying].T, "x", color=MARK, markersize=6, markeredgewidth=1.5,
                label=f"outliers: {int(outlying.sum())}")  # fmt: skip
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

    Each contour is labeled with the fraction of the rows inside it.

    Parameters
    ----------
    sample : array-like or data frame of shape (n, d)
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.
    columns : pair of names or indices, optional
        The two columns; required if the sample has more than two.
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
            f"contours need the depth of any point, which {depth_text(source)} does not compute; "
            f"use one of {', '.join(BY_NAME)}"
        )
    ax = ax or new_axes(6.4, 5.2)
    points = regions.points.astype(float, copy=False)
    kept = points[regions.inside(0.95)]
    low, high = kept.min(axis=0), kept.max(axis=0)
    margin = 0.15 * np.where(high > low, high - low, 1.0)
    axes = [np.linspace(low[j] - margin[j], high[j] + margin[j], _GRID) for j in (0, 1)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    grid = grid.astype(regions.points.dtype, copy=False)
    depths = source.point_depth(regions.sample, grid, _projections()).reshape(_GRID, _GRID)
    levels = {regions.alpha(fraction): fraction for fraction in reversed(FRACTIONS)}
    top = max(float(depths.max()), *levels) + 1e-9
    for level in sorted(levels):
        # Areas overlap, so that deeper ones are darker.
        ax.contourf(*axes, depths, levels=[level, top], colors=FIRST, alpha=0.1)
        lines = ax.contour(*axes, depths, levels=[level], colors=FIRST, linewidths=1.3)
        ax.clabel(lines, fmt={level: f"{levels[level]:.0%}"}, fontsize=8, colors=INK)
    ax.plot(*points.T, "o", alpha=0.4, **_ROWS)
    ax.set(xlim=axes[0][[0, -1]], ylim=axes[1][[0, -1]])
    beyond = int(((points < low - margin) | (points > high + margin)).any(axis=1).sum())
    title = "Depth, by the fraction of the rows inside"
    dress(ax, title, x=short(names[0]), y=short(names[1]), grid=None)
    if beyond:
        text = f"{beyond} of {len(points)} rows outside the frame"
        note(ax, text, (1, 0), (-4, 4), xycoords="axes fraction", ha="right")
    return ax


def _projections() -> Projections:
    return Projections(unit_vectors(2, _DIRECTIONS, "equispaced"), Resources())


def _planar_regions(
    sample: Any, columns: Sequence[Any] | None, depth: Any
) -> tuple[TrimmedRegions, tuple[str, ...], DepthSource]:
    """Return the regions of two columns of a sample, the names of the columns, and the depth."""
    points, names = check_points(sample, "sample")
    known = tuple(names or column_labels(points.shape[1]))
    if columns is None and len(known) != 2:
        raise InvalidInputError(
            f"a plane has two columns, and the sample has {len(known)}; choose two, such as "
            f"columns=({known[0]!r}, {known[-1]!r})"
        )
    chosen = [0, 1] if columns is None else _column_indices(columns, known)
    points = np.ascontiguousarray(points[:, chosen])
    source = resolve_depth(private_copy(depth))
    merged = Sample.of(points)
    source.warn_if_uninformative(merged)
    regions = source.regions(merged, points, None, _projections())
    return regions, tuple(known[j] for j in chosen), source


def _column_indices(columns: Sequence[Any], known: tuple[str, ...]) -> list[int]:
    if isinstance(columns, str) or len(columns) != 2:
        raise InvalidOptionError(f"columns must be two names or indices, got {columns!r}")
    by_name: dict[Any, int] = {
        **dict(enumerate(range(len(known)))),
        **{name: j for j, name in enumerate(known)},
    }
    for column in columns:
        if column not in by_name:
            raise InvalidOptionError(
                f"there is no column {column!r}; the columns are {', '.join(map(repr, known[:20]))}"
            )
    return [by_name[column] for column in columns]
