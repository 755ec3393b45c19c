"""All distances between many samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.many.distance_matrix import DistanceMatrix
from isodepth.plot.matrices import linkage
from isodepth.plot.style import INK, QUIET, SCALE, color_bar, dress, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMES = 40
_MOST_NUMBERS = 12
# Numbers stand on the colors of the image, whatever the paper around it.
_ON_DARK, _ON_LIGHT = "#fefefe", "#010101"


def distance_matrix(matrix: Any, ax: Axes | None = None) -> Axes:
    """Draw a matrix of distances, similar samples beside each other, with their tree above.

    Samples that were compared among themselves are put in the order of their tree (joined by
    average distance); rows and columns of others stay as they are.

    Parameters
    ----------
    matrix : DistanceMatrix, or array-like of shape (N, M)
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

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
    found = matrix if isinstance(matrix, DistanceMatrix) else DistanceMatrix.of(matrix)
    values = np.asarray(found.values, dtype=float)
    n, m = values.shape
    if ax is None:
        size = min(4.0 + 0.22 * max(n, m), 10.0)
        ax = new_axes(size + 1.0, size + 0.6)
    rows, columns = np.arange(n), np.arange(m)
    symmetric = found.among_themselves and np.array_equal(values, values.T)
    if symmetric and n >= 2:
        from scipy.cluster.hierarchy import dendrogram

        above = ax.inset_axes((0.0, 1.01, 1.0, 0.16))
        drawn = dendrogram(
            linkage(found), ax=above, no_labels=True, color_threshold=0,
            above_threshold_color=QUIET,
        )  # fmt: skip
        above.axis("off")
        rows = columns = np.array(drawn["leaves"])
    image = ax.imshow(
        values[np.ix_(rows, columns)], cmap=SCALE, aspect="equal" if symmetric else "auto"
    )
    color_bar(image, ax, "distance", shrink=0.7)
    if max(n, m) <= _MOST_NUMBERS:
        _write_numbers(ax, values[np.ix_(rows, columns)])
    _name(ax.set_xticks, [found.other_labels[j] for j in columns], rotation=90)
    _name(ax.set_yticks, [found.labels[i] for i in rows])
    dress(ax, grid=None)
    ax.set_title("Distances between the samples", loc="left", fontweight="bold", color=INK,
                 y=1.18 if symmetric and n >= 2 else 1.0)  # fmt: skip
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def _name(set_ticks: Any, labels: list[str], **options: Any) -> None:
    every = -(-len(labels) // _MOST_NAMES)
    places = range(0, len(labels), every)
    set_ticks(places, [short(labels[i], 18) for i in places], fontsize="small", **options)


def _write_numbers(ax: Axes, values: np.ndarray) -> None:
    middle = 0.55 * float(values.max())
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            ax.text(j, i, f"{value:.2g}", ha="center", va="center", fontsize=7,
                    color=_ON_DARK if value > middle else _ON_LIGHT)  # fmt: skip
