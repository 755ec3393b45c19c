"""Figure of the distances between many samples: a heat map with a dendrogram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.base.export import label_text
from isodepth.base.words import describe
from isodepth.errors import InvalidInputError
from isodepth.many.matrix import DistanceMatrix
from isodepth.show import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Maximum number of samples whose distances are written into the cells.
_MAX_NUMBERS = 12
# Maximum number of labels along an axis.
_MAX_LABELS = 40
# Up to this number of samples, neighboring leaves of the dendrogram are as similar as possible.
# The time of this ordering grows with the cube of the number.
_ORDERED_SAMPLES = 500
# Colors of numbers on dark and on light cells. They differ from the colors of `style`, which
# reports replace in dark mode, because the cells keep their colors.
_ON_DARK, _ON_LIGHT = "#fefefe", "#010101"


def distance_matrix(matrix: DistanceMatrix, *, ax: Axes | None = None) -> Axes:
    """Draw a distance matrix as a heat map, with similar samples next to each other.

    The rows and columns of a symmetric matrix are in the order of a dendrogram with average
    linkage, which is drawn above the heat map. Other matrices keep the order of their rows and
    columns. Matrices of up to 12 rows and columns show the distance in each cell.

    Parameters
    ----------
    matrix : DistanceMatrix of shape (N, M)
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> import isodepth
    >>> from isodepth.plot import distance_matrix
    >>> distances = [[0.0, 9.0, 1.0], [9.0, 0.0, 8.0], [1.0, 8.0, 0.0]]
    >>> ax = distance_matrix(isodepth.DistanceMatrix.from_array(distances, ["a", "b", "c"]))
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['b', 'c', 'a']
    """
    if not hasattr(matrix, "other_labels"):
        raise InvalidInputError(
            "this figure needs a DistanceMatrix, the result of pairwise or of "
            f"DistanceMatrix.from_array, got {describe(matrix)}"
        )
    values = np.asarray(matrix.values, dtype=float)
    if not np.isfinite(values).all():
        raise InvalidInputError(
            "the figure needs finite distances, got NaN or infinity; remove these samples"
        )
    size = min(4.0 + 0.22 * max(values.shape), 10.0)
    ax = ax or style.new_axes(size + 1.2, size + 0.6)
    rows, columns = map(np.arange, values.shape)
    title_height = 1.01
    if matrix.labels == matrix.other_labels and np.array_equal(values, values.T) and len(rows) > 1:
        rows = columns = _draw_dendrogram(ax, values)
        title_height = 1.18
    values = values[np.ix_(rows, columns)]
    image = ax.imshow(
        values, cmap=style.SCALE, aspect="auto", interpolation="nearest", vmin=0,
        vmax=values.max() or 1.0,
    )  # fmt: skip
    style.color_bar(image, ax, "distance", shrink=0.7)
    if max(values.shape) <= _MAX_NUMBERS:
        for (i, j), value in np.ndenumerate(values):
            color = _ON_DARK if value > 0.55 * values.max() else _ON_LIGHT
            ax.text(j, i, f"{value:.2g}", ha="center", va="center", fontsize=7, color=color)
    places, names = _labels(matrix.other_labels, columns)
    ax.set_xticks(places, names, rotation=90, fontsize="small")
    places, names = _labels(matrix.labels, rows)
    ax.set_yticks(places, names, fontsize="small")
    style.dress(ax, grid=None)
    ax.set_title("Distances between samples", loc="left", fontweight="bold", color=style.INK,
                 y=title_height)  # fmt: skip
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def _draw_dendrogram(ax: Axes, distances: np.ndarray) -> np.ndarray:
    """Draw the dendrogram of distances (n, n) above the axes; return the order of its leaves."""
    from scipy.cluster.hierarchy import dendrogram, linkage
    from scipy.spatial.distance import squareform

    n = len(distances)
    condensed = squareform(distances, checks=False)
    tree = linkage(condensed, method="average", optimal_ordering=n <= _ORDERED_SAMPLES)
    drawn = dendrogram(tree, no_plot=True)
    above = ax.inset_axes((0.0, 1.01, 1.0, 0.16))
    for places, heights in zip(drawn["icoord"], drawn["dcoord"], strict=True):
        # Leaves are at 5, 15, 25, ... in SciPy.
        above.plot(np.array(places) / 10 - 0.5, heights, color=style.QUIET, linewidth=0.9)
    above.set_xlim(-0.5, n - 0.5)
    above.axis("off")
    return np.array(drawn["leaves"])


def _labels(labels: tuple[Any, ...], order: np.ndarray) -> tuple[list[int], list[str]]:
    """Return the positions and names of at most 40 labels along an axis.

    `order` has the index in `labels` of each position.
    """
    places = list(range(0, len(order), -(-len(order) // _MAX_LABELS)))
    return places, [style.short(label_text(labels[order[place]]), 18) for place in places]
