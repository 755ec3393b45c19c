"""The picture of a stream: scores, evidence and columns over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.errors import InvalidInputError
from isodepth.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_COLUMNS = 12
# Inches in which the whole legend fits into one line.
_WIDE = 7.0


def monitor_timeline(monitor: Any, labels: Any = None, figure: Any = None) -> Figure:
    """Draw what a monitor has seen: scores, evidence, and the columns that contribute.

    On top the score of every batch, with the band in which 98% of undrifted batches of its size
    lie; in the middle the evidence that the stream has drifted, with the threshold of the
    alarm; below, for every batch, the contribution of each column to its score. The time of the
    alarm is shaded, from the batch at which it began until it was reset; batches
    at which the evidence is beyond the threshold are diamonds.

    Parameters
    ----------
    monitor : DepthMonitor
        A calibrated one that has checked at least one batch.
    labels : sequence of str, optional
        What to call the batches along the axis, such as dates; by default the labels that they
        were checked with, or their numbers.
    figure : matplotlib.figure.Figure, optional
        An empty one to draw in; a new one by default.

    Returns
    -------
    figure : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np, isodepth
    >>> from isodepth.plot import monitor_timeline
    >>> rng = np.random.default_rng(0)
    >>> reference = rng.normal(size=(3000, 2))
    >>> monitor = isodepth.DepthMonitor(reference, batch_size=50, n_directions=20, random_state=0)
    >>> for _ in range(3):
    ...     _ = monitor.check(rng.normal(size=(50, 2)))
    >>> [ax.get_ylabel() for ax in monitor_timeline(monitor).axes[:2]]
    ['score', 'evidence']
    """
    verdicts = monitor.verdicts
    if not verdicts:
        raise InvalidInputError("the monitor has seen no batch yet, and there is nothing to draw")
    if labels is None and any(verdict.label is not None for verdict in verdicts):
        labels = [verdict.label or verdict.batch for verdict in verdicts]
    names = None if labels is None else [str(label) for label in labels]
    if names is not None and len(names) != len(verdicts):
        raise InvalidInputError(
            f"labels must name each of the {len(verdicts)} batches, got {len(names)}"
        )
    shown = _leading_columns(verdicts)
    if figure is None:
        figure = style.new_figure(9, 5.2 + 0.22 * len(shown))
    heights = [2.2, 1.8, max(0.8, 0.3 * len(shown))]
    top, middle, bottom = figure.subplots(3, 1, sharex=True, height_ratios=heights)
    at = np.arange(1, len(verdicts) + 1)
    beyond = np.array([verdict.evidence >= verdict.threshold for verdict in verdicts])
    for ax in (top, middle):
        _shade(ax, at, np.array([verdict.alarm for verdict in verdicts]))
    _draw_scores(top, at, verdicts, beyond)
    _draw_evidence(middle, at, verdicts, beyond)
    image = _draw_columns(bottom, at, verdicts, shown)
    style.color_bar(image, bottom, "share", pad=0.01)
    bottom.set_xlabel("batch")
    bottom.set_xlim(0.5, len(verdicts) + 0.5)
    if names is not None:
        every = max(1, -(-len(names) // 16))
        bottom.set_xticks(at[::every], names[::every], rotation=45, ha="right")
    return figure


def _shade(ax: Axes, at: np.ndarray, alarm: np.ndarray) -> None:
    """Shade the time of the alarm."""
    changes = np.flatnonzero(np.diff(np.concatenate([[0], alarm.astype(int), [0]])))
    for first, end in zip(changes[::2], changes[1::2], strict=True):
        label = "alarm" if first == changes[0] else None
        span = at[first] - 0.5, at[end - 1] + 0.5
        ax.axvspan(*span, color=style.MARK, alpha=0.08, linewidth=0, label=label)


def _draw_scores(ax: Axes, at: np.ndarray, verdicts: list[Any], beyond: np.ndarray) -> None:
    scores = np.array([verdict.score for verdict in verdicts])
    low, high = np.array([verdict.null_interval for verdict in verdicts]).T
    # A band for each batch: sizes and groups may differ from one to the next.
    edges = np.concatenate([at - 0.5, [at[-1] + 0.5]])
    ax.stairs(high, edges, baseline=low, fill=True, color=style.FIRST, alpha=0.15, linewidth=0,
              label="98% of undrifted batches")  # fmt: skip
    ax.plot(at, scores, color=style.QUIET, linewidth=0.8, zorder=2)
    ax.plot(at[~beyond], scores[~beyond], "o", color=style.FIRST, markersize=3.5, zorder=3)
    ax.plot(at[beyond], scores[beyond], "D", color=style.MARK, markersize=4.5, zorder=3,
            label="evidence beyond the threshold")  # fmt: skip
    # Space for the legend.
    # With categories scores are deviations from a mean, and may be negative.
    least = 1.1 * min(0.0, float(scores.min()), float(low.min()))
    ax.set_ylim(least, 1.35 * max(float(scores.max()), float(high.max())) or 1.0)
    style.dress(ax, "Batches against their reference", y="score")
    wide = style.root_figure(ax).get_figwidth() > _WIDE
    style.legend(ax, loc="upper left", ncols=3 if wide else 2)


def _draw_evidence(ax: Axes, at: np.ndarray, verdicts: list[Any], beyond: np.ndarray) -> None:
    evidence = np.array([verdict.evidence for verdict in verdicts])
    # What is far below 1 is all the same, and would squeeze the rest.
    shown = np.maximum(evidence, 1e-3)
    ax.semilogy(at, shown, color=style.FIRST, linewidth=1.5, zorder=3)
    ax.semilogy(at[beyond], shown[beyond], "D", color=style.MARK, markersize=3.5, zorder=4)
    threshold = verdicts[-1].threshold
    ax.axhline(threshold, color=style.MARK, linestyle=style.DASHED, linewidth=1.2)
    style.note(ax, f"alarm at {threshold:g}", (0.005, threshold), (0, 3), color=style.MARK,
         xycoords=("axes fraction", "data"))  # fmt: skip
    ax.set_ylim(min(0.5, float(shown.min())) / 2, 20 * max(threshold, float(shown.max())))
    style.dress(ax, y="evidence")


def _draw_columns(ax: Axes, at: np.ndarray, verdicts: list[Any], shown: list[str]) -> Any:
    shares = np.array([[dict(verdict.columns)[name] for verdict in verdicts] for name in shown])
    extent = (0.5, len(at) + 0.5, len(shown) - 0.5, -0.5)
    image = ax.imshow(
        shares, aspect="auto", extent=extent, cmap=style.SCALE, vmin=0, vmax=1,
        interpolation="nearest",
    )  # fmt: skip
    ax.set_yticks(range(len(shown)), [style.short(name) for name in shown], fontsize="small")
    style.dress(ax, y="columns", grid=None)
    return image


def _leading_columns(verdicts: list[Any]) -> list[str]:
    """The columns with the largest shares, the first of all batches on top."""
    total: dict[str, float] = {}
    for verdict in verdicts:
        for name, share in verdict.columns:
            total[name] = total.get(name, 0.0) + share * (2.0 if verdict.alarm else 1.0)
    return sorted(total, key=lambda name: -total[name])[:_MOST_COLUMNS]
