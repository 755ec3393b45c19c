"""Figures of many samples: the matrix of distances and a map."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.data.results import LabeledMatrix
from isodepth.errors import InvalidInputError
from isodepth.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_TICKS, _MAX_NUMBERS, _MAX_NAMES = 40, 12, 60
# Not the colors of text, which reports replace in dark mode: the image keeps its colors.
_ON_DARK, _ON_LIGHT = "#fefefe", "#010101"
# Positions of a name relative to its marker: points to the right and up, alignments.
_NAME_OFFSETS = (
    (6, 0, "left", "center"), (-6, 0, "right", "center"), (0, 6, "center", "bottom"),
    (0, -6, "center", "top"), (5, 5, "left", "bottom"), (-5, 5, "right", "bottom"),
    (5, -5, "left", "top"), (-5, -5, "right", "top"),
)  # fmt: skip


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


def sample_map(matrix: Any, ax: Axes | None = None) -> Axes:
    """Draw samples as points of a plane, by classical multidimensional scaling of their distances.

    The label of the first axis has the fraction of the squared distances that the plane represents.
    Names that would overlap are left out and counted.

    Parameters
    ----------
    matrix : DistanceMatrix, or symmetric array-like of shape (N, N)
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> from isodepth.plot import sample_map
    >>> ax = sample_map([[0.0, 9.0, 1.0], [9.0, 0.0, 8.0], [1.0, 8.0, 0.0]])
    >>> sorted(text.get_text() for text in ax.texts)[:3]
    ['0', '1', '2']
    """
    labeled = symmetric_matrix(matrix)
    places, fraction = _classical_scaling(labeled.values)
    ax = ax or style.new_axes(7.2, 5.6)
    ax.plot(*places.T, "o", color=style.FIRST, markersize=7, markeredgecolor="white")
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    unit = f"in units of the distance\n(the plane shows {fraction:.0%} of the squared distances)"
    style.dress(ax, "Samples in a plane", x=f"first coordinate, {unit}", y="second coordinate",
                grid=None)  # fmt: skip
    if len(labeled) <= _MAX_NAMES:
        _write_names(ax, labeled.labels, places)
    return ax


def _write_names(ax: Axes, labels: tuple[str, ...], places: np.ndarray) -> None:
    """Write names beside their points; a name that would cover something is left out."""
    style.root_figure(ax).draw_without_rendering()  # determines the positions
    points = ax.transData.transform(places)
    taken: list[Any] = []
    for label, place in zip(labels, places, strict=True):
        for dx, dy, ha, va in _NAME_OFFSETS:
            text = style.note(ax, style.short(label, 18), place, (dx, dy), fontsize=8, ha=ha, va=va)
            box = text.get_window_extent()
            free = not box.count_contains(points) and not box.count_overlaps(taken)
            if free and ax.bbox.fully_containsx(box.x0) and ax.bbox.fully_containsx(box.x1):
                taken.append(box)
                break
            text.remove()
    if hidden := len(labels) - len(taken):
        style.dress(ax, f"Samples in a plane ({hidden} names left out)", grid=None)


def symmetric_matrix(matrix: Any) -> LabeledMatrix:
    """Check that a matrix of distances is symmetric, and has two or more samples."""
    labeled = matrix if isinstance(matrix, LabeledMatrix) else LabeledMatrix.of(matrix)
    if not _is_symmetric(labeled) or len(labeled) < 2:
        raise InvalidInputError(
            "this figure needs a symmetric matrix of distances between at least 2 samples, got "
            f"shape {labeled.values.shape}"
        )
    return labeled


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


def _classical_scaling(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Return points (N, 2) with approximately these distances, and the fraction they represent.

    Classical scaling: the two leading eigenvectors of the doubly centered squared distances. The
    fraction is the sum of their eigenvalues over that of all positive ones; 1 if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> places, fraction = _classical_scaling(np.array([[0.0, 3.0, 5.0], [3, 0, 4], [5, 4, 0]]))
    >>> round(float(np.linalg.norm(places[0] - places[1])), 6), round(fraction, 6)
    (3.0, 1.0)
    """
    squares = np.asarray(values, dtype=float) ** 2
    centered = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    eigenvalues, vectors = np.linalg.eigh(-centered / 2)
    positive = np.clip(eigenvalues, 0, None)
    leading = positive[::-1][:2]
    places = vectors[:, ::-1][:, :2] * np.sqrt(leading)
    # Eigenvectors are determined up to their sign.
    places = places * np.where(places[np.abs(places).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return places, float(leading.sum() / positive.sum()) if positive.sum() > 0 else 1.0
