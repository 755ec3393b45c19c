"""The gap at every level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isodepth.plot.style import (
    DASHED,
    FIRST,
    INK,
    MARK,
    PAPER,
    QUIET,
    dress,
    legend,
    new_axes,
    short,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from isodepth.metric.attribution import LargestGap
    from isodepth.metric.comparison import Comparison
    from isodepth.significance.null_profile import NullProfile

# About as many as a picture has dots from left to right.
_MOST_STEPS = 800


def gap_profile(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw how far apart the two samples are at every level.

    The curve is the gap (the Hausdorff distance between the two regions of level beta) over
    the levels that enter the distance. A gap that is large on the left says that the centers
    differ; one that only rises on the right says that the outskirts do. The largest gap
    is marked, with the columns that carry it, and a dashed line shows the distance: the mean
    of order p of the curve. Where the comparison was tested, a hatched band shows what the same
    rows give when they are dealt out to two samples at random: 90% of the gaps of each level.

    Parameters
    ----------
    comparison : Comparison
        What `isodepth.compare` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np, isodepth
    >>> from isodepth.plot import gap_profile
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal((200, 2)), 2 * rng.standard_normal((200, 2))
    >>> ax = gap_profile(isodepth.compare(X, Y, n_directions=50, random_state=0))
    >>> ax.get_ylabel()
    'gap between the two regions'
    """
    if ax is None:
        ax = new_axes()
    levels = np.asarray(comparison.levels, dtype=float)
    gaps = np.asarray(comparison.gaps, dtype=float)
    if levels.ndim == 2:
        _draw_pieces(ax, levels, gaps)
    else:
        _draw_grid(ax, levels, gaps)
    distance = float(comparison)
    top = max(float(gaps.max()), distance)
    null = comparison.null_profile
    if null is not None:
        _draw_null(ax, null)
        top = max(top, float(null.band[1].max()))
    _draw_level(ax, distance, f"distance {distance:.4g}")
    _mark_largest(ax, comparison.largest_gap)
    ax.set_ylim(0, 1.35 * top if top > 0 else 1.0)
    ax.set_xlabel("level β: share of the mass inside the region, deepest points first")
    ax.set_ylabel("gap between the two regions")
    dress(ax, "Where the two samples differ")
    return ax


def _draw_pieces(ax: Axes, pieces: np.ndarray, gaps: np.ndarray) -> None:
    """Pieces [start, stop) on which the gap is constant, side by side."""
    edges, gaps = _thinned(np.append(pieces[:, 0], pieces[-1, 1]), gaps)
    ax.stairs(
        gaps, edges, color=FIRST, linewidth=1.8, baseline=None, zorder=3, label="the two samples"
    )
    ax.stairs(gaps, edges, fill=True, color=FIRST, alpha=0.1, linewidth=0)
    if edges[-1] > edges[0]:
        ax.set_xlim(edges[0], edges[-1])


def _thinned(edges: np.ndarray, gaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Steps no finer than can be seen: means over equal parts where there are more pieces."""
    if len(gaps) <= _MOST_STEPS:
        return edges, gaps
    # The integral up to each edge, read off at equal distances.
    integral = np.concatenate([[0.0], np.cumsum(gaps * np.diff(edges))])
    even = np.linspace(edges[0], edges[-1], _MOST_STEPS + 1)
    return even, np.diff(np.interp(even, edges, integral)) / np.diff(even)


def _draw_grid(ax: Axes, betas: np.ndarray, gaps: np.ndarray) -> None:
    """Levels of a grid, or drawn at random and therefore not in order."""
    order = np.argsort(betas)
    ax.step(
        betas[order], gaps[order], where="mid", color=FIRST, linewidth=1.8, zorder=3,
        label="the two samples",
    )  # fmt: skip
    ax.fill_between(betas[order], gaps[order], step="mid", color=FIRST, alpha=0.1, linewidth=0)
    if len(betas) <= 50:
        ax.plot(betas, gaps, "o", color=FIRST, markersize=3.5, zorder=3)
    ax.set_xlim(left=0)


def _draw_null(ax: Axes, null: NullProfile) -> None:
    low, high = null.band
    ax.fill_between(
        null.levels, low, high, step="mid", facecolor="none", edgecolor=QUIET, hatch="////",
        linewidth=0.8, zorder=2, label="90% of equal laws, level by level",
    )  # fmt: skip
    _draw_level(ax, null.expected, f"{null.expected:.4g} expected of equal laws")
    legend(ax, loc="upper left", ncols=2)


def _draw_level(ax: Axes, height: float, text: str) -> None:
    ax.axhline(height, color=INK, linestyle=DASHED, linewidth=1.2, zorder=2)
    ax.annotate(
        text, (0.01, height), xycoords=("axes fraction", "data"), xytext=(0, 3),
        textcoords="offset points", color=INK, fontsize="small", zorder=5,
        bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.85, "pad": 1.0},
    )  # fmt: skip


def _mark_largest(ax: Axes, largest: LargestGap) -> None:
    carriers = ", ".join(f"{short(name)} {share:.0%}" for name, share in largest.columns[:2])
    left, right = ax.get_xlim()
    to_the_right = largest.level < (left + right) / 2
    ax.plot(largest.level, largest.gap, "o", color=MARK, markersize=7, zorder=4, clip_on=False)
    ax.annotate(
        f"largest gap {largest.gap:.4g} at β = {largest.level:.3g}\n{carriers}",
        (largest.level, largest.gap),
        xytext=(8 if to_the_right else -8, 10),
        textcoords="offset points",
        ha="left" if to_the_right else "right",
        color=MARK,
        fontsize="small",
    )
