"""Pictures of many samples: the matrix of distances, a map, and a tree."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.data.results import LabeledMatrix
from isodepth.errors import InvalidInputError
from isodepth.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_TICKS = 40
_MOST_NUMBERS = 12
_MOST_NAMES = 60
# Numbers stand on the colors of the image, whatever the paper around it.
_ON_DARK, _ON_LIGHT = "#fefefe", "#010101"
# Where a name may stand: points to the right and above its marker.
_NAME_OFFSETS = (
    (6, 0, "left", "center"), (-6, 0, "right", "center"), (0, 6, "center", "bottom"),
    (0, -6, "center", "top"), (5, 5, "left", "bottom"), (-5, 5, "right", "bottom"),
    (5, -5, "left", "top"), (-5, -5, "right", "top"),
)  # fmt: skip
# Kinds of samples are told apart by shape as well as by color.
_KINDS = (
    ("o", style.FIRST), ("^", style.SECOND), ("s", "#009e73"), ("D", "#cc79a7"), ("v", "#e69f00"),
    ("P", "#56b4e9"), ("X", "#000000"), ("*", "#b8a800"),
)  # fmt: skip


def distance_matrix(matrix: Any, ax: Axes | None = None) -> Axes:
    """Draw a matrix of distances with similar samples next to each other, and their dendrogram.

    A square matrix is ordered by the dendrogram (average linkage); the rows and columns of a
    rectangular one keep their order.

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
    found = matrix if isinstance(matrix, LabeledMatrix) else LabeledMatrix.of(matrix)
    values = np.asarray(found.values, dtype=float)
    n, m = values.shape
    if ax is None:
        size = min(4.0 + 0.22 * max(n, m), 10.0)
        ax = style.new_axes(size + 1.0, size + 0.6)
    rows, columns = np.arange(n), np.arange(m)
    symmetric = found.among_themselves and np.array_equal(values, values.T)
    if symmetric and n >= 2:
        above = ax.inset_axes((0.0, 1.01, 1.0, 0.16))
        rows = columns = _dendrogram(found, above, style.QUIET, no_labels=True)
        above.axis("off")
    image = ax.imshow(values[np.ix_(rows, columns)], cmap=style.SCALE, aspect="auto")
    style.color_bar(image, ax, "distance", shrink=0.7)
    if max(n, m) <= _MOST_NUMBERS:
        _write_numbers(ax, values[np.ix_(rows, columns)])
    _name(ax, "x", [found.other_labels[j] for j in columns], rotation=90)
    _name(ax, "y", [found.labels[i] for i in rows])
    style.dress(ax, grid=None)
    ax.set_title("Distances between the samples", loc="left", fontweight="bold", color=style.INK,
                 y=1.18 if symmetric and n >= 2 else 1.0)  # fmt: skip
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def _name(ax: Axes, axis: str, labels: list[str], **options: Any) -> None:
    """Names along an axis, as large as fits beside each other."""
    every = -(-len(labels) // _MOST_TICKS)
    places = range(0, len(labels), every)
    names = [style.short(labels[i], 18) for i in places]
    inches = 0.6 * min(style.root_figure(ax).get_size_inches())  # about the side of the image
    size = min(8.0, 72 * inches / len(names) / 1.1)
    getattr(ax, f"set_{axis}ticks")(places, names, fontsize=size, **options)


def _write_numbers(ax: Axes, values: np.ndarray) -> None:
    middle = 0.55 * float(values.max())
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            ax.text(j, i, f"{value:.2g}", ha="center", va="center", fontsize=7,
                    color=_ON_DARK if value > middle else _ON_LIGHT)  # fmt: skip


def sample_map(matrix: Any, ax: Axes | None = None, *, kinds: Any = None) -> Axes:
    """Draw samples as points of a plane, by classical multidimensional scaling of their distances.

    The label says how much of the distances it represents. Names that would overlap are left out,
    and counted.

    Parameters
    ----------
    matrix : DistanceMatrix, or symmetric array-like of shape (N, N)
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    kinds : sequence of N labels, optional
        The kind of each sample, such as its cluster; at most 8 different ones.

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
    found = symmetric_matrix(matrix)
    places, share = _classical_scaling(found.values)
    each = [""] * len(found) if kinds is None else [str(kind) for kind in kinds]
    distinct = list(dict.fromkeys(each))
    if len(each) != len(found) or len(distinct) > len(_KINDS):
        raise InvalidInputError(
            f"kinds must name one of at most {len(_KINDS)} kinds for each of the {len(found)} "
            f"samples, got {len(each)} labels of {len(distinct)} kinds"
        )
    ax = ax or style.new_axes(7.2, 5.6)
    for kind, (marker, color) in zip(distinct, _KINDS, strict=False):
        mine = np.array([one == kind for one in each])
        ax.plot(*places[mine].T, marker, color=color, markersize=7, markeredgecolor="white",
                linestyle="none", label=style.short(kind))  # fmt: skip
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    unit = f"in units of the distance\n(the plane shows {share:.0%} of the squared distances)"
    style.dress(ax, "The samples in a plane", x=f"first coordinate, {unit}", y="second coordinate",
          grid=None)  # fmt: skip
    if kinds is not None:
        style.legend_below(ax, ncols=4)
    if len(found) <= _MOST_NAMES:
        _write_names(ax, found.labels, places)
    return ax


def _write_names(ax: Axes, labels: tuple[str, ...], places: np.ndarray) -> None:
    """Write names beside their points: each where it covers nothing, or not at all."""
    style.root_figure(ax).draw_without_rendering()  # positions are known only then
    points = ax.transData.transform(places)
    taken: list[Any] = []
    left_out = 0
    for label, place in zip(labels, places, strict=True):
        for dx, dy, ha, va in _NAME_OFFSETS:
            text = style.note(ax, style.short(label, 18), place, (dx, dy), fontsize=8, ha=ha, va=va)
            box = text.get_window_extent()
            free = not box.count_contains(points) and not box.count_overlaps(taken)
            if free and ax.bbox.fully_containsx(box.x0) and ax.bbox.fully_containsx(box.x1):
                taken.append(box)
                break
            text.remove()
        else:
            left_out += 1
    if left_out:
        style.dress(ax, f"The samples in a plane ({left_out} names left out)", grid=None)


def sample_tree(matrix: Any, ax: Axes | None = None) -> Axes:
    """Draw the dendrogram of samples (average linkage).

    Parameters
    ----------
    matrix : DistanceMatrix, or symmetric array-like of shape (N, N)
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> from isodepth.plot import sample_tree
    >>> ax = sample_tree([[0.0, 9.0, 1.0], [9.0, 0.0, 8.0], [1.0, 8.0, 0.0]])
    >>> ax.get_xlabel()
    'average distance at which samples are joined'
    """
    found = symmetric_matrix(matrix)
    ax = ax or style.new_axes(8, min(1.4 + 0.24 * len(found), 14.0))
    labels = [style.short(label) for label in found.labels]
    size = min(8.0, 50 * style.root_figure(ax).get_figheight() / len(found))
    _dendrogram(found, ax, style.FIRST, labels=labels, orientation="left", leaf_font_size=size)
    style.dress(ax, "Which samples are close to each other", grid="x",
          x="average distance at which samples are joined")  # fmt: skip
    ax.spines["left"].set_visible(False)
    return ax


def symmetric_matrix(matrix: Any) -> LabeledMatrix:
    """A symmetric matrix of distances between two or more samples."""
    found = matrix if isinstance(matrix, LabeledMatrix) else LabeledMatrix.of(matrix)
    values = found.values
    if not found.among_themselves or not np.array_equal(values, values.T):
        raise InvalidInputError(
            f"this figure needs a symmetric matrix of distances; got shape {values.shape}"
        )
    if len(found) < 2:
        raise InvalidInputError("this figure needs at least 2 samples, got 1")
    return found


def _dendrogram(matrix: LabeledMatrix, ax: Axes, color: str, **options: Any) -> np.ndarray:
    """Draw a dendrogram with average linkage; the samples in its order."""
    from scipy.cluster.hierarchy import dendrogram, linkage
    from scipy.spatial.distance import squareform

    condensed = squareform(np.asarray(matrix.values, dtype=float), checks=False)
    tree = linkage(condensed, method="average", optimal_ordering=len(matrix) <= 500)
    options |= {"color_threshold": 0, "above_threshold_color": color}
    with warnings.catch_warnings():
        # Equal samples are joined at distance 0, and SciPy asks for an axis of no length.
        warnings.filterwarnings("ignore", "Attempting to set identical", UserWarning)
        return np.array(dendrogram(tree, ax=ax, **options)["leaves"])


def _classical_scaling(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Places (N, 2) whose distances are close to those given, and how much of them they show.

    Classical scaling: the two leading eigenvectors of the doubly centered squares. The share is
    that of their eigenvalues among all positive ones; 1 where there is nothing to show.

    Examples
    --------
    >>> import numpy as np
    >>> places, share = _classical_scaling(np.array([[0.0, 3.0, 5.0], [3, 0, 4], [5, 4, 0]]))
    >>> round(float(np.linalg.norm(places[0] - places[1])), 6), round(share, 6)
    (3.0, 1.0)
    """
    squares = np.asarray(values, dtype=float) ** 2
    centered = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    eigenvalues, vectors = np.linalg.eigh(-centered / 2)
    positive = np.clip(eigenvalues, 0, None)
    leading = positive[::-1][:2]
    places = vectors[:, ::-1][:, :2] * np.sqrt(leading)
    # The sign of an eigenvector is a matter of chance.
    places = places * np.where(places[np.abs(places).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return places, float(leading.sum() / positive.sum()) if positive.sum() > 0 else 1.0
