"""Small figures of one change: both distributions of a column, without labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 24
_MOST_POINTS = 250
_MOST_VALUES = 6


def change_figure(change: Any, samples: Any, figure: Any) -> str:
    """Draw both samples of one change, and describe the figure.

    Parameters
    ----------
    change : Change
    samples : TwoSamples
    figure : matplotlib.figure.Figure
        Empty figure; a dependence gets two axes.

    Returns
    -------
    text : str
        Alternative text with the range of the values.
    """
    names = [name for name in change.columns if name in samples.columns]
    if change.kind == "dependence" and len(names) == 2:
        return _scatter(names, samples, figure.subplots(1, 2))
    first = figure.subplots()
    column = change.columns[0]
    if change.kind == "missing":
        return _bars(first, [("missing", change.before, change.after)])
    if column in samples.categories:
        return _bars(first, _shares(samples.categories[column]))
    return _histogram(first, *samples.numbers(column))


def _histogram(ax: Axes, x: np.ndarray, y: np.ndarray) -> str:
    pooled = np.concatenate([x, y])
    low, high = _range(pooled)
    values = np.unique(np.clip(pooled, low, high))
    edges = np.linspace(low, high, _BINS + 1)
    if 1 < len(values) <= _BINS:  # one bin per value
        middle = (values[1:] + values[:-1]) / 2
        edges = np.concatenate([[2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]])
    for data, color, filled in ((x, style.FIRST, True), (y, style.SECOND, False)):
        heights = np.histogram(np.clip(data, edges[0], edges[-1]), edges)[0] / len(data)
        heights = heights / np.diff(edges)
        ax.stairs(
            heights, edges, color=color, fill=filled, alpha=0.45 if filled else 1.0,
            linewidth=0 if filled else 1.6,
        )  # fmt: skip
    ax.set_xlim(edges[0], edges[-1])
    ax.set_yticks([])
    ax.set_xticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
    return f"{edges[0]:.4g} to {edges[-1]:.4g}"


def _range(values: np.ndarray) -> tuple[float, float]:
    """Return the range of values without those far out, which would hide the others."""
    low, high = np.quantile(values, [0.1, 0.9])
    reach = 1.5 * (high - low) or 3 * float(values.std()) or 0.5
    return max(low - reach, float(values.min())), min(high + reach, float(values.max()) + 1e-9)


def _bars(ax: Axes, shares: list[tuple[str, float, float]]) -> str:
    places = np.arange(len(shares))
    for offset, color, at, filled in ((-0.2, style.FIRST, 1, True), (0.2, style.SECOND, 2, False)):
        ax.bar(
            places + offset, [share[at] for share in shares], width=0.36, edgecolor=color,
            facecolor=color if filled else "none", linewidth=1.2, alpha=0.6 if filled else 1.0,
        )  # fmt: skip
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_xlim(-0.6, max(len(shares), 3) - 0.4)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ", ".join(f"{name}: {before:.0%} and {after:.0%}" for name, before, after in shares)


def _shares(both: Any) -> list[tuple[str, float, float]]:
    values = sorted({value for part in both for value in part if value is not None})
    shares = [(v, both[0].count(v) / len(both[0]), both[1].count(v) / len(both[1])) for v in values]
    shares.sort(key=lambda share: -abs(share[1] - share[2]))
    return shares[:_MOST_VALUES]


def _scatter(names: list[str], samples: Any, axes: Any) -> str:
    j, k = (samples.columns.index(name) for name in names)
    pairs = [points[:, [j, k]] for points in samples.points]
    pairs = [pair[~np.isnan(pair).any(axis=1)] for pair in pairs]
    low, high = np.transpose([_range(values) for values in np.concatenate(pairs).T])
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    for ax, pair, color, marker in (
        (axes[0], pairs[0], style.FIRST, "o"),
        (axes[1], pairs[1], style.SECOND, "^"),
    ):
        every = -(-len(pair) // _MOST_POINTS)
        ax.plot(
            *pair[::every].T, marker, color=color, markersize=2, alpha=0.6, markeredgewidth=0,
            linestyle="none", rasterized=True,
        )  # fmt: skip
        ax.set(xlim=(low[0] - margin[0], high[0] + margin[0]), xticks=[], yticks=[])
        ax.set_ylim(low[1] - margin[1], high[1] + margin[1])
        ax.spines[["top", "right"]].set_visible(False)
    return f"{names[0]} from left to right, {names[1]} upwards"
