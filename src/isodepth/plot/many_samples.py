"""Figure of many samples: the matrix of their distances."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.data.results import LabeledMatrix
from isodepth.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_TICKS, _MAX_NUMBERS = 40, 12
# Not the colors of text, which reports replace in dark mode: the image keeps its colors.
_ON_DARK, _ON_LIGHT = "#fefefe", "#010101"


def distance_matrix(matrix: Any, ax: Axes | None = None) -> Axes:
    """Draw a matrix of distances with similar samples next to each other, and their dendrogram.

    A square matrix is ordered by the dendrogram (average linkage); the rows and columns of a
    rectangular one keep their order.

    Parameters
    ----------
    matrix : DistanceMatrix, or array-like of shape (N, M)
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> from isodepth.plot import distance_matrix
    >>> ax = distance_matrix([[0.0, 9.0, 1.0], [9.0, 0.0, 8.0], [1.0, 8.0, 0.0]])
    >>> sorted(label.get_text() for label in ax.get_xticklabels())
    ['0', '1', '2']
    """
    labeled = matrix if isinstance(matrix, LabeledMatrix) else LabeledMatrix.of(matrix)
    values = np.asarray(labeled.values, dtype=float)
    size = min(4.0 + 0.22 * max(values.shape), 10.0)
    ax = ax or style.new_axes(size + 1.0, size + 0.6)
    rows, columns = map(np.arange, values.shape)
    title_height = 1.0
    if _is_symmetric(labeled) and len(values) >= 2:
        above = ax.inset_axes((0.0, 1.01, 1.0, 0.16))
        rows = columns = _dendrogram(labeled, above, style.QUIET, no_labels=True)
        above.axis("off")
        title_height = 1.18
    values = values[np.ix_(rows, columns)]
    image = ax.imshow(values, cmap=style.SCALE, aspect="auto")
    style.color_bar(image, ax, "distance", shrink=0.7)
    if max(values.shape) <= _MAX_NUMBERS:
        for (i, j), value in np.ndenumerate(values):
            color = _ON_DARK if value > 0.55 * values.max() else _ON_LIGHT
            ax.text(j, i, f"{value:.2g}", ha="center", va="center", fontsize=7, color=color)
    _name(ax, "x", [labeled.other_labels[j] for j in columns], rotation=90)
    _name(ax, "y", [labeled.labels[i] for i in rows])
    style.dress(ax, grid=None)
    ax.set_title("Distances between the samples", loc="left", fontweight="bold", color=style.INK,
                 y=title_height)  # fmt: skip
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def _name(ax: Axes, axis: str, labels: list[str], **options: Any) -> None:
    """Write names along an axis, in a size that leaves space between them."""
    places = range(0, len(labels), -(-len(labels) // _MAX_TICKS))
    names = [style.short(labels[i], 18) for i in places]
    inches = 0.6 * min(style.root_figure(ax).get_size_inches())  # about the side of the image
    size = min(8.0, 72 * inches / len(names) / 1.1)
    getattr(ax, f"set_{axis}ticks")(places, names, fontsize=size, **options)


def _is_symmetric(matrix: LabeledMatrix) -> bool:
    return matrix.among_themselves and np.array_equal(matrix.values, matrix.values.T)


def _dendrogram(matrix: LabeledMatrix, ax: Axes, color: str, **options: Any) -> np.ndarray:
    """Draw a dendrogram with average linkage, and return the samples in its order."""
    from scipy.cluster.hierarchy import dendrogram, linkage
    from scipy.spatial.distance import squareform

    condensed = squareform(np.asarray(matrix.values, dtype=float), checks=False)
    tree = linkage(condensed, method="average", optimal_ordering=len(matrix) <= 500)
    options |= {"color_threshold": 0, "above_threshold_color": color}
    with warnings.catch_warnings():
        # If all samples are equal, SciPy sets limits of an axis that are equal.
        warnings.filterwarnings("ignore", "Attempting to set identical", UserWarning)
        return np.array(dendrogram(tree, ax=ax, **options)["leaves"])
