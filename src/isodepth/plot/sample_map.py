"""Many samples as places on a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.errors import InvalidInputError
from isodepth.plot.matrices import among_themselves, classical_scaling
from isodepth.plot.style import FIRST, INK, QUIET, SECOND, dress, legend, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMES = 60
# Kinds of samples are told apart by shape as well as by color.
_KINDS = (
    ("o", FIRST), ("^", SECOND), ("s", "#009e73"), ("D", "#cc79a7"), ("v", "#e69f00"),
    ("P", "#56b4e9"), ("X", "#000000"), ("*", "#b8a800"),
)  # fmt: skip


def sample_map(matrix: Any, ax: Axes | None = None, *, kinds: Any = None) -> Axes:
    """Draw samples as places on a map, whose distances are as close to theirs as a plane allows.

    The places come from classical scaling; a note says how much of the distances they show.

    Parameters
    ----------
    matrix : DistanceMatrix, or symmetric array-like of shape (N, N)
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    kinds : sequence of N labels, optional
        What kind each sample is of, such as its cluster; at most 8 different ones.

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
    found = among_themselves(matrix, 2)
    places, share = classical_scaling(found.values)
    each = [""] * len(found) if kinds is None else [str(kind) for kind in kinds]
    distinct = list(dict.fromkeys(each))
    if len(each) != len(found) or len(distinct) > len(_KINDS):
        raise InvalidInputError(
            f"kinds must name one of at most {len(_KINDS)} kinds for each of the {len(found)} "
            f"samples, got {len(each)} labels of {len(distinct)} kinds"
        )
    if ax is None:
        ax = new_axes(7.2, 5.6)
    for kind, (marker, color) in zip(distinct, _KINDS, strict=False):
        mine = np.array([one == kind for one in each])
        ax.plot(*places[mine].T, marker, color=color, markersize=7, markeredgecolor="white",
                linestyle="none", label=short(kind))  # fmt: skip
    if len(found) <= _MOST_NAMES:
        for label, place in zip(found.labels, places, strict=True):
            ax.annotate(short(label, 18), place, xytext=(5, 4), textcoords="offset points",
                        fontsize=8, color=INK)  # fmt: skip
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    ax.set_xlabel("first coordinate of the map, in units of the distance")
    ax.set_ylabel("second coordinate")
    dress(ax, "The samples on a map", grid=None)
    ax.annotate(
        f"the plane shows {share:.0%} of the squared distances", (1, 0), xycoords="axes fraction",
        xytext=(-3, 4), textcoords="offset points", ha="right", color=QUIET, fontsize="small",
    )  # fmt: skip
    if kinds is not None:
        legend(ax, loc="best")
    return ax
