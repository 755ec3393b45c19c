"""Figures with a common style, without a window system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.framework.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Dots per inch of the files: legible, and below 200 kB.
DPI = 100


def panels(
    rows: int, columns: int, width: float = 5.0, height: float = 3.9, **options: Any
) -> tuple[Figure, np.ndarray]:
    """Return a figure and an array (rows, columns) of axes; `width` and `height` are in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    for axes in grid.flat:
        axes.grid(color="0.9")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, grid


def curve(
    axes: Axes, table: Table, along: str, value: str, label: str, band: bool = True, **style: Any
) -> None:
    """Plot the mean of the column `value` of a table for each value of the column `along`.

    If `band`, the range from the 25% to the 75% quantile is shaded.
    """
    places = table.distinct(along)
    groups = [table.where(**{along: place})[value] for place in places]
    means = [group.mean() for group in groups]
    (line,) = axes.plot(places, means, marker=style.pop("marker", "o"), ms=4, label=label, **style)
    if band:
        low, high = np.array([np.quantile(group, [0.25, 0.75]) for group in groups]).T
        axes.fill_between(places, low, high, color=line.get_color(), alpha=0.15, linewidth=0)


def as_percent(axes: Axes, decimals: int = 0) -> None:
    """Format the numbers of the vertical axis as percentages, with this number of decimals."""
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    if axes.get_yscale() != "log":
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=decimals))
        return
    # Ticks at 1, 2 and 5 times powers of ten, with the digits they need.
    axes.yaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * x:.3g}%"))
    axes.yaxis.set_minor_formatter(
        FuncFormatter(lambda x, _: f"{100 * x:.3g}%" if f"{x:e}"[0] in "25" else "")
    )


def legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    """Draw one legend for all panels below them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def hull_outline(points: np.ndarray) -> np.ndarray:
    """Return the closed boundary of the convex hull of points (n, 2)."""
    from scipy.spatial import ConvexHull, QhullError

    if len(points) < 3:
        return points
    try:
        corners = points[ConvexHull(points).vertices]
    except QhullError:
        return points
    return np.concatenate([corners, corners[:1]])


def save(figure: Figure, path: Path) -> None:
    """Write a figure as a PNG file with a color palette, which reduces the file to a third."""
    from PIL import Image

    figure.savefig(path, dpi=DPI)
    with Image.open(path) as image:
        # Maximum coverage preserves the color of thin lines; median cut does not.
        palette = image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
    palette.save(path, optimize=True)


def ticks(axes: Axes, places: Sequence[float]) -> None:
    """Set the ticks of a logarithmic horizontal axis to `places`."""
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log")
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.xaxis.set_minor_locator(NullLocator())
