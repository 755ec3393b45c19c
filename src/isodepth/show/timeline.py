"""Figure of a monitored stream: p-values, thresholds, alarms and changed columns over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.errors import InvalidInputError
from isodepth.monitor.monitor import Monitor
from isodepth.monitor.verdict import Verdict
from isodepth.show import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_COLUMNS = 12
# In figures wider than this, in inches, the legend has one line.
_WIDE = 7.0
# Minimum p-value on the axis. Smaller p-values are drawn at this value, so that a single batch does
# not determine the range of the axis.
_SMALLEST = 1e-40


def timeline(
    monitor: Monitor, *, labels: Sequence[Any] | None = None, figure: Figure | None = None
) -> Figure:
    """Draw the p-values, alarms and changed columns of all batches that a monitor has checked.

    A window is a sequence of consecutive batches. The upper axes show for every batch the p-value
    of the batch alone, the p-value of the most significant window that ends with the batch, and the
    threshold of this window. The lower axes show the columns that changed, darker for smaller
    p-values. Batches with an alarm are shaded. Windows that crossed the threshold are diamonds, as
    are batches far beyond all blocks.

    Parameters
    ----------
    monitor : Monitor
        Monitor that has checked at least one batch.
    labels : sequence of str, optional
        Names of the batches along the axis, such as dates. By default, the labels that the monitor
        stores, or else the numbers of the batches, after the names of their groups.
    figure : matplotlib.figure.Figure, optional
        An empty figure to draw into; a new figure by default.

    Returns
    -------
    figure : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np, isodepth
    >>> from isodepth.plot import timeline
    >>> rng = np.random.default_rng(7)
    >>> monitor = isodepth.Monitor(rng.normal(size=(3000, 2)), random_state=0)
    >>> for _ in range(3):
    ...     _ = monitor.check(rng.normal(size=(50, 2)))
    >>> [ax.get_ylabel() for ax in timeline(monitor).axes[:2]]
    ['p-value', 'changes']
    """
    style.check_drawable(monitor, "monitor")
    verdicts = monitor.verdicts
    if not verdicts:
        raise InvalidInputError("the monitor has checked no batch yet; check one before drawing")
    if labels is None and any(v.label is not None or v.group is not None for v in verdicts):
        own = [str(verdict.label or verdict.batch_number) for verdict in verdicts]
        groups = [f"{verdict.group}: " if verdict.group else "" for verdict in verdicts]
        labels = [group + name for group, name in zip(groups, own, strict=True)]
    names = None if labels is None else [str(label) for label in labels]
    if names is not None and len(names) != len(verdicts):
        raise InvalidInputError(
            f"labels must name each of the {len(verdicts)} batches, got {len(names)}"
        )
    shown = _changed_columns(verdicts)
    if figure is None:
        figure = style.new_figure(9, 4.2 + 0.22 * len(shown))
    heights = [3.0, max(0.6, 0.3 * len(shown))]
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=heights)
    at = np.array([verdict.batch_number for verdict in verdicts])
    _shade(top, at, np.array([verdict.alarm for verdict in verdicts]))
    _draw_pvalues(top, at, verdicts)
    _draw_changes(bottom, at, verdicts, shown)
    bottom.set_xlabel("batch")
    bottom.set_xlim(at[0] - 0.5, at[-1] + 0.5)
    if names is not None:
        every = max(1, -(-len(names) // 16))
        bottom.set_xticks(at[::every], names[::every], rotation=45, ha="right")
    return figure


def _shade(ax: Axes, at: np.ndarray, alarm: np.ndarray) -> None:
    """Shade the batches with an alarm, given positions `at` and booleans `alarm` of all batches."""
    changes = np.flatnonzero(np.diff(np.concatenate([[0], alarm.astype(int), [0]])))
    for first, end in zip(changes[::2], changes[1::2], strict=True):
        label = "alarm" if first == changes[0] else None
        span = at[first] - 0.5, at[end - 1] + 0.5
        ax.axvspan(*span, color=style.MARK, alpha=0.08, linewidth=0, label=label)


def _draw_pvalues(ax: Axes, at: np.ndarray, verdicts: Sequence[Verdict]) -> None:
    fields = ("pvalue", "window_pvalue", "threshold")
    batch, window, threshold = (
        np.maximum([getattr(v, field) for v in verdicts], _SMALLEST) for field in fields
    )
    crossed = np.array([verdict.crossed or verdict.beyond_blocks for verdict in verdicts])
    ax.plot(at, batch, "o", color=style.QUIET, markersize=3, label="batch")
    ax.plot(at, window, color=style.FIRST, linewidth=1.2, marker="s", markersize=3, label="window")
    ax.step(at, threshold, where="mid", color=style.MARK, linestyle=style.DASHED, linewidth=1.1,
            label="threshold")  # fmt: skip
    if crossed.any():
        ax.plot(at[crossed], window[crossed], "D", color=style.MARK, markersize=5,
                label="below threshold")  # fmt: skip
    ax.set_yscale("log")
    least = min(batch.min(), window.min(), threshold.min())
    # Extend the axis above p = 1, to make room for the legend.
    ax.set_ylim(least**1.15, max(10.0, least**-0.3))
    lowest = -1.15 * np.log10(least)
    ax.set_yticks(10.0 ** -np.arange(0.0, lowest, max(1.0, np.ceil(lowest / 6))))
    smallest = min(min(verdict.pvalue, verdict.window_pvalue) for verdict in verdicts)
    limited = f" (below {_SMALLEST:.0e}: drawn there)" if smallest < _SMALLEST else ""
    style.dress(ax, "Batches against their reference", y=f"p-value{limited}")
    wide = style.root_figure(ax).get_figwidth() > _WIDE
    style.legend(ax, loc="upper left", ncols=5 if wide else 3)


def _draw_changes(ax: Axes, at: np.ndarray, verdicts: Sequence[Verdict], shown: list[str]) -> None:
    """Draw a cell for each batch and each column in `shown`, darker for smaller p-values.

    `at` are the positions of the batches along the axis, and `verdicts` the verdicts on them.
    """
    strength = np.zeros((max(1, len(shown)), len(at)))
    limited = False
    for place, verdict in enumerate(verdicts):
        for change in verdict.changes:
            for name in change.columns or ("all columns",):
                if name in shown:
                    row, size = shown.index(name), -np.log10(max(change.pvalue, _SMALLEST))
                    strength[row, place] = max(strength[row, place], size)
                    limited |= change.pvalue < _SMALLEST
    extent = (at[0] - 0.5, at[-1] + 0.5, len(strength) - 0.5, -0.5)
    image = ax.imshow(
        strength, aspect="auto", extent=extent, cmap=style.SCALE, vmin=0,
        vmax=max(10.0, strength.max()), interpolation="nearest",
    )  # fmt: skip
    ax.set_yticks(range(len(shown)), [style.short(name) for name in shown], fontsize="small")
    style.dress(ax, y="changes", grid=None)
    largest = f" (at most {-np.log10(_SMALLEST):.0f})" if limited else ""
    style.color_bar(image, ax, f"-log10 p{largest}", pad=0.01)


def _changed_columns(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the names of at most 12 columns with changes, in order of their minimum p-values."""
    least: dict[str, float] = {}
    for verdict in verdicts:
        for change in verdict.changes:
            for name in change.columns or ("all columns",):
                least[name] = min(least.get(name, 1.0), change.pvalue)
    return sorted(least, key=lambda name: least[name])[:_MOST_COLUMNS]
