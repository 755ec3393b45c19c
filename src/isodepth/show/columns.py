"""Small figures without labels that show the distributions of columns in both samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isodepth.functions.changes import Change
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious.results import SuspiciousRows, range_text, value_text
from isodepth.show import style
from isodepth.table.dates import day_text
from isodepth.table.kinds import MISSING, date_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BINS = 24
_MAX_POINTS = 250
_MAX_VALUES = 6
# Maximum number of unusual values in the alternative text of a figure.
_MAX_MARKED = 2


class UnusualValue(NamedTuple):
    """Value of suspicious rows of the sample `sample`, "X" or "Y", and the number of these rows."""

    column: str
    sample: str
    value: float
    n_rows: int


def unusual_values(rows: SuspiciousRows) -> list[UnusualValue]:
    """Return the numbers that make rows suspicious by themselves, with their numbers of rows."""
    single = ("value", "repeated value")
    counts = Counter(
        (row.column, row.sample, row.value)
        for row in rows
        if row.reason in single and not isinstance(row.value, str)
    )
    for each in rows.repeated_values:  # not all of their rows may be listed
        counts |= Counter({(name, each.sample, each.value): each.count for name in each.columns})
    return [UnusualValue(*key, count) for key, count in counts.items()]


def change_figure(
    change: Change,
    samples: TwoSamples,
    figure: Figure,
    unusual: Sequence[UnusualValue] = (),
) -> str:
    """Draw the distributions of a changed column in both samples, and return an alternative text.

    A change of a numeric column within a category is drawn from the rows of this category only. If
    no row has this category, for example because it stands for several rare categories, the change
    is drawn from all rows.

    Parameters
    ----------
    change : Change
        Change of at least one column.
    samples : TwoSamples
        Rows of both samples.
    figure : matplotlib.figure.Figure
        Empty figure; a dependence of two numeric columns gets two axes.
    unusual : sequence of UnusualValue
        Values of suspicious rows, which the figures of single columns show.

    Returns
    -------
    text : str
        Alternative text for readers who do not see the figure: the range of the values, the
        relative frequencies of categories in both samples, or the names of the columns on the axes.
    """
    column, *other = change.columns
    if change.kind == "missing":
        ax = figure.subplots()
        text = _bars(ax, [("missing", change.before, change.after)])
        ax.set_ylim(0, 1)
        return text
    if not other or column in samples.categories:
        return column_figure(column, samples, figure, unusual)
    if other[0] in samples.columns:
        # A joint change has up to three columns, the one that contributes most first.
        pairs = _complete_pairs((column, other[0]), samples)
        if not any(map(len, pairs)):
            return column_figure(column, samples, figure)
        return _scatter((column, other[0]), pairs, figure.subplots(1, 2))
    wanted = None if change.value == MISSING else change.value
    values = samples.columns.index(column)
    x, y = (
        points[[value == wanted for value in categories], values]
        for points, categories in zip(samples.points, samples.categories[other[0]], strict=True)
    )
    x, y = x[~np.isnan(x)], y[~np.isnan(y)]
    if len(x) + len(y) == 0:
        return column_figure(column, samples, figure)
    return _histogram(figure.subplots(), x, y)


def column_figure(
    column: str,
    samples: TwoSamples,
    figure: Figure,
    unusual: Sequence[UnusualValue] = (),
) -> str:
    """Draw the distributions of one column in both samples.

    Parameters
    ----------
    column : str
        Name of a numeric column or of a column of categories.
    samples : TwoSamples
        Rows of both samples.
    figure : matplotlib Figure
        Empty figure to draw into.
    unusual : sequence of UnusualValue
        Values of suspicious rows, such as -9999. Those of this column beyond the drawn range are
        marked. They may be absent from `samples`, if these are random rows of larger samples.

    Returns
    -------
    text : str
        Alternative text of the figure, for readers who do not see it. The text of a category has
        the relative frequencies of at most six values, those with the largest differences first.
    """
    ax = figure.subplots()
    if column in samples.categories:
        shares = _shares(samples.categories[column])
        hidden = len(shares) - _MAX_VALUES
        more = f", and {hidden} more value{'s' * (hidden > 1)}" if hidden > 0 else ""
        return _bars(ax, shares[:_MAX_VALUES]) + more
    x, y = samples.numbers(column)
    if len(x) + len(y) == 0:
        _without_ticks(ax)
        return "no values"
    is_date = column in date_columns(samples.kinds)
    marked = [each for each in unusual if each.column == column]
    return _histogram(ax, x, y, is_date) + _mark(ax, marked, is_date)


def score_figure(x: np.ndarray, y: np.ndarray, figure: Figure) -> Figure:
    """Draw histograms of the scores (n,) and (m,) of two samples into an empty figure.

    The score of a row is its position along the direction in which the samples differ most, see
    `isodepth.rows.typical.TypicalRow`. Return the figure.
    """
    _histogram(figure.subplots(), x, y)
    return figure


def _histogram(ax: Axes, x: np.ndarray, y: np.ndarray, are_dates: bool = False) -> str:
    """Draw histograms of the values `x` (n,) and `y` (m,), and return the drawn range as a string.

    If `are_dates`, the numbers are days since 1970, and the string contains dates.
    """
    pooled = np.concatenate([x, y])
    low, high = _range(pooled)
    values = np.unique(np.clip(pooled, low, high))
    edges = np.linspace(low, high, _BINS + 1)
    if 1 < len(values) <= _BINS:  # a column with few distinct values has one bin per value
        middle = (values[1:] + values[:-1]) / 2
        edges = np.concatenate([[2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]])
    # Relative widths: the inverse of a width in the denormal range overflows.
    widths = np.diff(edges) / (edges[-1] - edges[0])
    for data, color, filled in ((x, style.FIRST, True), (y, style.SECOND, False)):
        counts = np.histogram(np.clip(data, edges[0], edges[-1]), edges)[0]
        heights = np.divide(counts, widths, out=np.zeros(len(counts)), where=widths > 0)
        heights /= max(len(data), 1)
        ax.stairs(
            heights, edges, color=color, fill=filled, alpha=0.45 if filled else 1.0,
            linewidth=0 if filled else 1.6,
        )  # fmt: skip
    ax.set_xlim(edges[0], edges[-1])
    _without_ticks(ax)
    beyond = int(((pooled < low) | (pooled > high)).sum())
    drawn = f"; {beyond} row{'s' * (beyond > 1)} further out, drawn at the ends" if beyond else ""
    ends = (edges[0], edges[-1])
    if are_dates:
        return " to ".join(day_text(round(end)) for end in ends) + drawn
    return range_text(ends) + drawn


def _mark(ax: Axes, values: Sequence[UnusualValue], is_date: bool) -> str:
    """Mark the values beyond the axis by triangles at its ends.

    Return a string with the most frequent of these values and their numbers of rows.
    """
    low, high = ax.get_xlim()
    values = [each for each in values if not low <= each.value <= high]
    for each in values:
        marker = "<" if each.value < low else ">"
        color = (style.FIRST, style.SECOND)["XY".index(each.sample)]
        ax.plot(
            min(max(each.value, low), high), 0.12, marker, color=color, markersize=6,
            transform=ax.get_xaxis_transform(), clip_on=False, zorder=4,
        )  # fmt: skip
    texts = [
        f"; {value_text(each.value, is_date)} in {each.n_rows} row{'s' * (each.n_rows > 1)}"
        for each in sorted(values, key=lambda each: -each.n_rows)[:_MAX_MARKED]
    ]
    return "".join(texts)


def _without_ticks(ax: Axes) -> None:
    ax.set(xticks=[], yticks=[])
    ax.spines[["top", "right", "left"]].set_visible(False)


def _range(values: np.ndarray) -> tuple[float, float]:
    """Return the minimum and the maximum of the values without extreme values.

    Extreme values are outside the 0.1 and 0.9 quantiles by more than 1.5 times the difference of
    these quantiles. They would compress the rest of the figure. If there are only two distinct
    values, neither is extreme.
    """
    if len(distinct := np.unique(values)) == 2:
        return float(distinct[0]), float(distinct[1])
    low, high = np.quantile(values, [0.1, 0.9])
    reach = 1.5 * (high - low) or 3 * float(values.std())
    near = values[(values >= low - reach) & (values <= high + reach)]
    low, high = float(near.min()), float(near.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _bars(ax: Axes, shares: list[tuple[str, float, float]]) -> str:
    places = np.arange(len(shares))
    for offset, color, at, filled in ((-0.2, style.FIRST, 1, True), (0.2, style.SECOND, 2, False)):
        ax.bar(
            places + offset, [share[at] for share in shares], width=0.36, edgecolor=color,
            facecolor=color if filled else "none", linewidth=1.2, alpha=0.6 if filled else 1.0,
        )  # fmt: skip
    ax.set_xlim(-0.6, max(len(shares), 3) - 0.4)
    _without_ticks(ax)
    return ", ".join(f"{name}: {before:.0%} and {after:.0%}" for name, before, after in shares)


def _shares(both: list[list[str | None]]) -> list[tuple[str, float, float]]:
    """Return tuples (value, share in X, share in Y), in decreasing order of the difference.

    `both` has the values of a column of categories in X and in Y; None for missing values.
    """
    x, y = map(Counter, both)
    values = sorted(value for value in {*x, *y} if value is not None)
    shares = [(value, x[value] / x.total(), y[value] / y.total()) for value in values]
    return sorted(shares, key=lambda share: -abs(share[1] - share[2]))


def _complete_pairs(names: tuple[str, str], samples: TwoSamples) -> list[np.ndarray]:
    """Return the two columns `names` of both samples, as arrays (n, 2) and (m, 2).

    Rows with a missing value in one of the two columns are dropped.
    """
    columns = [samples.columns.index(name) for name in names]
    pairs = [points[:, columns] for points in samples.points]
    return [pair[~np.isnan(pair).any(axis=1)] for pair in pairs]


def _scatter(names: tuple[str, str], pairs: list[np.ndarray], axes: np.ndarray) -> str:
    low, high = np.transpose([_range(values) for values in np.concatenate(pairs).T])
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    ends = np.transpose([low - margin, high + margin])
    colors = (style.FIRST, style.SECOND)
    for ax, pair, color, marker in zip(axes, pairs, colors, "o^", strict=True):
        step = max(1, -(-len(pair) // _MAX_POINTS))
        ax.plot(
            *pair[::step].T, marker, color=color, markersize=2, alpha=0.6,
            markeredgewidth=0, linestyle="none", rasterized=True,
        )  # fmt: skip
        ax.set(xlim=ends[0], ylim=ends[1], xticks=[], yticks=[])
        ax.spines[["top", "right"]].set_visible(False)
    return f"{names[0]} from left to right, {names[1]} upwards"
