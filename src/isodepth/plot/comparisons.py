"""Pictures of two samples compared: gaps at every level, columns, and the permutation test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.errors import InvalidInputError
from isodepth.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# About as many as a picture has dots from left to right.
_MOST_STEPS = 800
# Columns with a larger adjusted p-value are hollow.
_LEVEL = 0.05
_CONTRIBUTION = "contribution to the difference"


def gap_profile(comparison: Any, ax: Axes | None = None) -> Axes:
    """Draw how far apart the two samples are at every level.

    The curve is the gap (the Hausdorff distance between the two regions of level beta) over
    the levels that enter the distance. A gap that is large on the left says that the centers
    differ; one that only rises on the right says that the outer parts do. The largest gap
    is marked, with the columns that contribute most, and a dashed line shows the distance: the
    mean of order p of the curve. With a test, a hatched band shows 90% of the gaps of each level
    for the same rows assigned to two samples at random.

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
    ax = ax or style.new_axes()
    levels = np.asarray(comparison.levels, dtype=float)
    gaps = np.asarray(comparison.gaps, dtype=float)
    _draw_gaps(ax, levels, gaps)
    distance = float(comparison)
    top = max(float(gaps.max()), distance)
    null = comparison.null_profile
    if null is not None:
        low, high = null.band
        ax.fill_between(
            null.levels, low, high, step="mid", facecolor="none", edgecolor=style.QUIET,
            hatch="////", linewidth=0.8, zorder=2, label="90% of the gaps of random assignments",
        )  # fmt: skip
        top = max(top, float(high.max()))
    ax.axhline(distance, color=style.INK, linestyle=style.DASHED, linewidth=1.2, zorder=2,
               label=f"distance {distance:.4g}")  # fmt: skip
    largest = comparison.largest_gap
    columns = ", ".join(f"{style.short(name)} {share:.0%}" for name, share in largest.columns[:2])
    ax.plot(
        largest.level, largest.gap, "o", color=style.MARK, markersize=7, zorder=4, clip_on=False,
        label=f"largest gap {largest.gap:.4g} at level {largest.level:.3g}: {columns}",
    )  # fmt: skip
    ax.set_ylim(0, 1.08 * top if top > 0 else 1.0)
    style.dress(ax, "Where the two samples differ", y="gap between the two regions",
          x="level β: share of the rows inside the region, deepest first")  # fmt: skip
    style.legend_below(ax)
    return ax


def _draw_gaps(ax: Axes, levels: np.ndarray, gaps: np.ndarray) -> None:
    """Pieces [start, stop) on which the gap is constant; a level of a grid is a middle of one."""
    if levels.ndim == 2:
        edges = np.append(levels[:, 0], levels[-1, 1])
    else:
        order = np.argsort(levels)  # they may be drawn at random
        levels, gaps = levels[order], gaps[order]
        edges = np.concatenate([[0.0], (levels[1:] + levels[:-1]) / 2])
        edges = np.append(edges, 2 * levels[-1] - edges[-1])
    edges, gaps = _thinned(edges, gaps)
    ax.stairs(gaps, edges, color=style.FIRST, linewidth=1.8, baseline=None, zorder=3,
              label="gap between the two samples")  # fmt: skip
    ax.stairs(gaps, edges, fill=True, color=style.FIRST, alpha=0.1, linewidth=0)
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


def contributions(result: Any, ax: Axes | None = None, *, most: int = 15) -> Axes:
    """Draw the contribution of each column to a difference, the largest on top.

    Parameters
    ----------
    result : Comparison, TwoSampleResult or Verdict
        Of a comparison and of a verdict the shares are drawn; of a test how far apart the samples
        are along each column. With a test, columns that are not significant
        (adjusted p above 0.05) are hollow, and p-values are written next to the bars.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    most : int
        How many columns to show.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> import isodepth
    >>> from isodepth.plot import contributions
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]]
    >>> Y = [[3.0, 1.0], [4.0, 0.0], [5.0, 3.0]]
    >>> ax = contributions(isodepth.compare(X, Y, depth="irw", random_state=0))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['column 0', 'column 1']
    """
    values, pvalues, what = _values(result)
    of_shares = what == _CONTRIBUTION
    shown, left = values[:most], len(values) - most
    ax = ax or style.new_axes(8, 1.4 + 0.32 * len(shown))
    places = range(len(shown))
    lengths = [value for _, value in shown]
    bars = ax.barh(places, lengths, color=style.FIRST, edgecolor=style.FIRST, height=0.7)
    for bar, (name, value) in zip(bars, shown, strict=True):
        text = f"{value:.0%}" if of_shares else f"{value:.3g}"
        if pvalues is not None:
            text += f"   p = {pvalues[name]:.3g}"
            if pvalues[name] > _LEVEL:
                bar.set_facecolor("none")
        style.note(ax, text, (value, bar.get_y() + bar.get_height() / 2), (4, 0), va="center")
    ax.set_yticks(places, [style.short(name) for name, _ in shown])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlim(0, 1.22 * max(lengths) if max(lengths) > 0 else 1.0)
    if of_shares:
        _as_percent(ax)
    if pvalues is not None:
        what += f" (hollow: p above {_LEVEL:g})"
    style.dress(ax, "Contributions of the columns", x=what, grid="x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if left > 0:
        style.note(ax, f"and {left} more column(s)", (1, 0), (0, 4), xycoords="axes fraction",
             ha="right", color=style.QUIET)  # fmt: skip
    return ax


def _values(result: Any) -> tuple[list[tuple[str, float]], dict[str, float] | None, str]:
    """Columns with the lengths of their bars, their p-values, and what the bars show."""
    if hasattr(result, "contributions"):
        test = result.test
        pvalues = None if test is None else {c.column: c.pvalue for c in test.column_tests}
        return result.contributions, pvalues, _CONTRIBUTION
    if hasattr(result, "null_distribution"):
        pvalues = {column.column: column.pvalue for column in result.column_tests}
        bars = [(column.column, column.difference) for column in result.column_tests]
        return bars, pvalues, "largest difference between shares of rows up to a value"
    return list(result.columns), None, _CONTRIBUTION


def category_shares(
    test: Any, ax: Axes | None = None, *, names: Sequence[str] = ("X", "Y"), most: int = 20
) -> Axes:
    """Draw the shares of the values of categories in both samples, side by side.

    Parameters
    ----------
    test : TwoSampleResult
        A test of samples with categories.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    names : pair of str
        What to call the samples.
    most : int
        How many values to show: those whose shares are furthest apart.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> import pandas as pd, isodepth
    >>> from isodepth.plot import category_shares
    >>> X, Y = (pd.DataFrame({"carrier": list(text)}) for text in ("AAAB", "ABBB"))
    >>> test = isodepth.two_sample_test(X, Y, n_permutations=9, random_state=0)
    >>> [label.get_text() for label in category_shares(test).get_yticklabels()]
    ['carrier = A', 'carrier = B']
    """
    if not test.shares:
        raise InvalidInputError("there are no categories in this test, so no shares to draw")
    order = sorted(range(len(test.shares)), key=lambda k: -abs(test.shares[k].x - test.shares[k].y))
    shown = [test.shares[k] for k in sorted(order[:most])]
    if ax is None:
        ax = style.new_axes(8, 1.6 + 0.36 * len(shown))
    places = np.arange(len(shown))
    for name, color, offset, hatch, lengths in (
        (names[0], style.FIRST, -0.19, None, [each.x for each in shown]),
        (names[1], style.SECOND, 0.19, "////", [each.y for each in shown]),
    ):
        bars = ax.barh(places + offset, lengths, height=0.36, facecolor=color if not hatch else
                       "none", edgecolor=color, hatch=hatch, label=style.short(name))  # fmt: skip
        ax.bar_label(bars, [f"{length:.1%}" for length in lengths], padding=3, fontsize="x-small",
                     color=style.INK)  # fmt: skip
    ax.set_yticks(places, [style.short(f"{each.column} = {each.value}") for each in shown])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlim(0, 1.15 * max(max(each.x, each.y) for each in shown))
    _as_percent(ax)
    left = len(test.shares) - len(shown)
    label = "share of the rows" + (f"; {left} more value(s) differ less" if left else "")
    style.dress(ax, "Shares of the categories", x=label, grid="x")
    ax.tick_params(axis="y", length=0)
    style.legend_below(ax, ncols=2)
    return ax


def _as_percent(ax: Axes) -> None:
    from matplotlib.ticker import PercentFormatter

    ax.xaxis.set_major_formatter(PercentFormatter(1.0))


def null_distribution(test: Any, ax: Axes | None = None) -> Axes:
    """Draw the statistics of all permutations, and where the observed one lies.

    Parameters
    ----------
    test : TwoSampleResult
        What `isodepth.two_sample_test` returns, or the `test` of a comparison.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> from isodepth.plot import null_distribution
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal((60, 2)), 2 * rng.standard_normal((60, 2))
    >>> test = isodepth.two_sample_test(X, Y, n_permutations=99, random_state=0)
    >>> null_distribution(test).get_xlabel()
    'statistic of the test'
    """
    ax = ax or style.new_axes(8, 3.4)
    null = np.asarray(test.null_distribution, dtype=float)
    n_bins = int(np.clip(np.sqrt(len(null)) * 1.5, 5, 40))
    ax.hist(
        null, bins=n_bins, facecolor=style.FAINT, edgecolor=style.QUIET, linewidth=0.8,
        label=f"{len(null)} permutations of the same rows",
    )  # fmt: skip
    bound = float(np.quantile(null, 0.95))
    ax.axvline(
        bound, color=style.QUIET, linestyle=style.DASHED, linewidth=1.2,
        label="95% of them lie below",
    )  # fmt: skip
    ax.axvline(test.statistic, color=style.MARK, linewidth=2.2)
    low, high = min(null.min(), test.statistic), max(null.max(), test.statistic)
    margin = 0.06 * (high - low) or 0.5
    ax.set_xlim(low - margin, high + margin)
    left = test.statistic > (low + high) / 2
    style.note(
        ax, f"observed {test.statistic:.4g}, p = {test.pvalue:.3g}", (test.statistic, 0.75),
        (-6 if left else 6, 0), xycoords=("data", "axes fraction"),
        ha="right" if left else "left", color=style.MARK, fontweight="bold",
    )  # fmt: skip
    beyond = f", beyond a share {test.tolerance:g} of contaminated rows" if test.tolerance else ""
    style.dress(ax, "Is the difference significant?", x=f"statistic of the test{beyond}",
          y="permutations")  # fmt: skip
    style.legend_below(ax, ncols=2)
    return ax
