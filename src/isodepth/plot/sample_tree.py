"""Many samples, joined step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isodepth.plot.matrices import among_themselves, linkage
from isodepth.plot.style import FIRST, dress, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def sample_tree(matrix: Any, ax: Axes | None = None) -> Axes:
    """Draw which samples are close to each other: a tree of samples joined by average distance.

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
    from scipy.cluster.hierarchy import dendrogram

    found = among_themselves(matrix, 2)
    if ax is None:
        ax = new_axes(8, min(1.4 + 0.24 * len(found), 14.0))
    labels = [short(label) for label in found.labels]
    dendrogram(
        linkage(found), ax=ax, labels=labels, orientation="left", color_threshold=0,
        above_threshold_color=FIRST, leaf_font_size=8 if len(found) <= 60 else 4,
    )  # fmt: skip
    ax.set_xlabel("average distance at which samples are joined")
    dress(ax, "Which samples are close to each other", grid="x")
    ax.spines["left"].set_visible(False)
    return ax
