"""Figures of two compared samples: gaps by level, column contributions, and permutation test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.metric.comparison import Comparison
from isodepth.show import style
from isodepth.significance.result import TestedComparison, TwoSampleResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Maximum number of steps of a curve, about the width of a figure in pixels.
_MAX_STEPS = 800
_MAX_BARS = 15


def gap_profile(result: Comparison | TwoSampleResult, *, ax: Axes | None = None) -> Axes:
    """Draw the gap between the depth-trimmed regions of two samples at every level.

    The region of level beta contains the deepest rows, about a fraction beta of all rows. The curve
    shows the gap as a function of beta, for all levels that the distance averages. The gap is the
    Hausdorff distance between the two regions of level beta. If the option q is finite, the gap is
    a scaled mean of order q, over all directions, of the absolute differences between the support
    functions. A large gap on the left means different centers. A gap that increases only on the
    right means different outer rows.

    The largest gap is marked, with the columns that contribute most. A dashed line shows the
    distance: the mean of order p of the curve, or its integral of order p if ``normalize=False``.
    With a test, a hatched band shows the central 90% of the gaps that random assignments of the
    rows to the two samples have at each level.

    Parameters
    ----------
    result : Comparison or TwoSampleResult
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

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
    comparison = style.comparison_of(result)
    ax = ax or style.new_axes()
    distance, largest = comparison.distance, comparison.largest_gap
    intervals = comparison.level_intervals
    levels = np.asarray(comparison.levels if intervals is None else intervals, dtype=float)
    edges, gaps = _steps(levels, np.asarray(comparison.gaps, float))
    ax.stairs(gaps, edges, color=style.FIRST, linewidth=1.8, baseline=None, zorder=3,
              label="gap between the two samples")  # fmt: skip
    ax.stairs(gaps, edges, fill=True, color=style.FIRST, alpha=0.1, linewidth=0)
    if edges[-1] > edges[0]:
        ax.set_xlim(edges[0], edges[-1])
    top = max(largest.gap, distance)
    null = comparison._null_profile if isinstance(comparison, TestedComparison) else None
    if null is not None:
        low, high = null.band
        ax.fill_between(
            null.levels, low, high, step="mid", facecolor="none", edgecolor=style.QUIET,
            hatch="////", linewidth=0.8, zorder=2, label="90% of the gaps of random assignments",
        )  # fmt: skip
        top = max(top, float(high.max()))
    ax.axhline(distance, color=style.INK, linestyle=style.DASHED, linewidth=1.2, zorder=2,
               label=_distance_label(comparison))  # fmt: skip
    columns = ", ".join(f"{style.short(each.column, 18)} {each.fraction:.0%}" for each in
                        largest.contributions[:2])  # fmt: skip
    ax.plot(
        largest.level, largest.gap, "o", color=style.MARK, markersize=7, zorder=4, clip_on=False,
        label=f"largest gap {largest.gap:.4g} at level {largest.level:.3g}"
              + (f": {columns}" if columns else ""),
    )  # fmt: skip
    ax.set_ylim(0, 1.08 * top if top > 0 else 1.0)
    style.dress(ax, "Gap by level", y="gap between the two regions",
                x="level β: fraction of the rows inside the region, deepest first")  # fmt: skip
    style.legend_below(ax)
    return ax


def _distance_label(comparison: Comparison) -> str:
    """Return the legend entry of the distance, with its formula: a mean or integral of the gaps."""
    order = comparison.settings["p"]
    mean = "mean" if comparison.settings["normalize"] else "integral"
    of_order = "" if order == 1 else f" of order {order:g}"
    return f"distance {comparison.distance:.4g}: {mean}{of_order} of the curve over levels"


def _steps(levels: np.ndarray, gaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges and heights of the step curve of the gaps (L,) by level.

    `levels` has the intervals (L, 2) of levels on which a gap is constant, or single levels (L,).
    The steps of single levels extend to the midpoints between levels. If there are more than 800
    steps, gaps are averaged over 800 intervals of equal length.
    """
    if levels.ndim == 2:
        edges = np.append(levels[:, 0], levels[-1, 1])
    else:
        order = np.argsort(levels)  # random levels may be unsorted
        levels, gaps = levels[order], gaps[order]
        edges = np.concatenate([[0.0], (levels[1:] + levels[:-1]) / 2])
        edges = np.append(edges, 2 * levels[-1] - edges[-1])
    if len(gaps) <= _MAX_STEPS:
        return edges, gaps
    integral = np.concatenate([[0.0], np.cumsum(gaps * np.diff(edges))])
    even = np.linspace(edges[0], edges[-1], _MAX_STEPS + 1)
    return even, np.diff(np.interp(even, edges, integral)) / np.diff(even)


def contributions(result: Comparison | TwoSampleResult, *, ax: Axes | None = None) -> Axes:
    """Draw the contributions of at most 15 columns to a difference as horizontal bars.

    Parameters
    ----------
    result : Comparison or TwoSampleResult
        For a comparison, bars show the contributions to the distance, largest first. For a test,
        bars show the maximum difference of the distribution functions of each column
        (`ColumnTest.difference`), the most significant column first. With a test, p-values are
        shown, and bars of columns that are not significant (adjusted p-value above `alpha`) are
        hollow. Bars of columns without a p-value, such as constant columns, are hollow too. If the
        distance is 0, there are no bars.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

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
    style.check_drawable(result, "comparison", "test")
    values, label, pvalues = _bars(result)
    test = result._test
    shown, hidden = values[:_MAX_BARS], len(values) - _MAX_BARS
    ax = ax or style.new_axes(8, 1.4 + 0.32 * len(shown))
    lengths = [value for _, value in shown]
    bars = ax.barh(range(len(shown)), lengths, color=style.FIRST, edgecolor=style.FIRST, height=0.7)
    for bar, (name, value) in zip(bars, shown, strict=True):
        text = f"{value:.0%}"
        if test is not None and pvalues:
            # The test leaves out constant columns, which do not contribute to the distance.
            pvalue = pvalues.get(name)
            text += "   not tested" if pvalue is None else f"   p = {pvalue:.3g}"
            bar.set_fill(pvalue is not None and pvalue <= test.alpha)
        style.note(ax, text, (value, bar.get_y() + bar.get_height() / 2), (4, 0), va="center")
    ax.set_yticks(range(len(shown)), [style.short(name) for name, _ in shown])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlim(0, 1.22 * max(lengths, default=0.0) or 1.0)
    _percent_ticks(ax)
    of_test = result._result_type == "test"
    title = "Differences of the columns" if of_test else "Contributions of the columns"
    style.dress(ax, title, x=label, grid="x")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    if hidden > 0:
        more = f"and {hidden} more column{'s' * (hidden > 1)}"
        style.note(ax, more, (1, 0), (0, 4), xycoords="axes fraction", ha="right",
                   color=style.QUIET)  # fmt: skip
    return ax


def _percent_ticks(ax: Axes) -> None:
    """Write the ticks of the x-axis as percent, at multiples of 1, 2 or 5 times a power of ten."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.10g}%")


def _bars(
    result: Comparison | TwoSampleResult,
) -> tuple[Sequence[tuple[str, float]], str, dict[str, float]]:
    """Return pairs (column, length of the bar), the label of the axis, and p-values by column.

    There are no p-values if `result` is a comparison without a test.
    """
    test = result._test
    pvalues = {} if test is None else {each.column: each.pvalue for each in test.column_tests}
    hollow = "" if test is None or not pvalues else f" (hollow: p above {test.alpha})"
    if isinstance(result, Comparison):
        values = [(each.column, each.fraction) for each in result.contributions]
        return values, f"contribution to the distance{hollow}", pvalues
    values = [(each.column, each.difference) for each in result.column_tests]
    return values, f"maximum difference of the distribution functions{hollow}", pvalues


def null_distribution(result: Comparison | TwoSampleResult, *, ax: Axes | None = None) -> Axes:
    """Draw a histogram of the statistics of all permutations, and the observed statistic.

    Parameters
    ----------
    result : TwoSampleResult, or Comparison with a test
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

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
    test = style.test_of(result)
    ax = ax or style.new_axes(8, 3.4)
    null = np.asarray(test.null_distribution, dtype=float)
    bins: Any = int(np.clip(np.sqrt(len(null)) * 1.5, 5, 40))
    size = float(np.abs(null).max())
    if np.ptp(null) <= 1e-9 * size:  # floats are too coarse for the edges of several bins
        margin = 0.5 * size or 0.5
        bins = [float(null.min()) - margin, float(null.max()) + margin]
    ax.hist(null, bins=bins, facecolor=style.FAINT, edgecolor=style.QUIET, linewidth=0.8,
            label=f"{len(null)} permutations of the same rows")  # fmt: skip
    ax.axvline(float(np.quantile(null, 1 - test.alpha)), color=style.QUIET, linestyle=style.DASHED,
               linewidth=1.2,
               label=f"{100 * (1 - test.alpha):.10g}% quantile of the permutations")  # fmt: skip
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
    style.dress(ax, "Permutation test", x=f"statistic of the test{beyond}", y="permutations")
    style.legend_below(ax, ncols=2)
    return ax
