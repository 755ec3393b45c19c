"""The columns that carry a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isodepth.plot.style import FIRST, INK, QUIET, dress, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVEL = 0.05


def column_shares(result: Any, ax: Axes | None = None, *, most: int = 15) -> Axes:
    """Draw how much of a difference each column carries, the largest on top.

    Parameters
    ----------
    result : Comparison, TwoSampleResult or Verdict
        Of a comparison and of a verdict the shares are drawn; of a test how far apart the samples
        are along each column. Where there is a test, columns that are not significant by
        themselves (adjusted p above 0.05) are hollow, and p-values stand beside the bars.
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
    >>> from isodepth.plot import column_shares
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]]
    >>> Y = [[3.0, 1.0], [4.0, 0.0], [5.0, 3.0]]
    >>> ax = column_shares(isodepth.compare(X, Y, depth="irw", random_state=0))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['column 0', 'column 1']
    """
    values, pvalues, of_shares = _values(result)
    shown, left = values[:most], len(values) - most
    if ax is None:
        ax = new_axes(8, 1.4 + 0.32 * len(shown))
    places = range(len(shown))
    lengths = [value for _, value in shown]
    bars = ax.barh(places, lengths, color=FIRST, edgecolor=FIRST, height=0.7)
    for bar, (name, value) in zip(bars, shown, strict=True):
        text = f"{value:.0%}" if of_shares else f"{value:.3g}"
        if pvalues is not None:
            text += f"   p = {pvalues[name]:.3g}"
            if pvalues[name] > _LEVEL:
                bar.set_facecolor("none")
        ax.annotate(
            text, (value, bar.get_y() + bar.get_height() / 2), xytext=(4, 0),
            textcoords="offset points", va="center", color=INK, fontsize="small",
        )  # fmt: skip
    ax.set_yticks(places, [short(name) for name, _ in shown])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlim(0, 1.22 * max(lengths) if max(lengths) > 0 else 1.0)
    if of_shares:
        from matplotlib.ticker import PercentFormatter

        ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    what = "share of the difference" if of_shares else "gap along the column alone"
    if pvalues is not None:
        what += f" (hollow: p above {_LEVEL:g})"
    ax.set_xlabel(what)
    dress(ax, "Which columns carry the difference", grid="x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if left > 0:
        ax.annotate(
            f"and {left} more column(s)", (1, 0), xycoords="axes fraction", xytext=(0, 4),
            textcoords="offset points", ha="right", color=QUIET, fontsize="small",
        )  # fmt: skip
    return ax


def _values(result: Any) -> tuple[list[tuple[str, float]], dict[str, float] | None, bool]:
    """Columns with what their bars show, their p-values, and whether these are shares."""
    if hasattr(result, "column_shares"):
        test = result.test
        pvalues = None if test is None else {c.column: c.pvalue for c in test.columns}
        return result.column_shares, pvalues, True
    if hasattr(result, "null_distribution"):
        pvalues = {column.column: column.pvalue for column in result.columns}
        return [(column.column, column.gap) for column in result.columns], pvalues, False
    return list(result.columns), None, True
