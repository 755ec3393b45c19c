"""Figure of correlations: one row per metric, with its interval over texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from experiments.framework.figure import panels
from experiments.texts.correlations import Agreement, by_metric
from experiments.texts.tables import paper_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colors of DR, of its variants and controls, and of other metrics.
_COLOURS = ("#c1272d", "#e08a8d", "#33557a")
#: Height of one row in inches.
_ROW = 0.21


def correlation_figure(
    found: Sequence[Agreement],
    published: Mapping[str, Mapping[str, Sequence[float]]],
    published_levels: Sequence[str],
    others: Sequence[Agreement] = (),
) -> Figure:
    """Draw Pearson r of all metrics: one column of panels per judgment, one row per level.

    Parameters
    ----------
    found : agreements to draw
    published : the paper's cells by judgment and metric
    published_levels : levels in whose panels the paper's cells are drawn
    others : agreements of the same metrics as computed by others
    """
    names = list(dict.fromkeys(one.metric for one in found))
    levels = list(dict.fromkeys(one.level for one in found))
    judgments = list(dict.fromkeys(one.judgment for one in found))
    figure, grid = panels(
        len(levels),
        len(judgments),
        width=12.6 / len(judgments),
        height=_ROW * len(names) + 0.8,
        sharey=True,
    )
    for row, level in zip(grid, levels, strict=True):
        for axes, judgment in zip(row, judgments, strict=True):
            here, theirs = (by_metric(all_of, judgment, level) for all_of in (found, others))
            paper = published[judgment] if level in published_levels else {}
            _panel(axes, here, names, paper, theirs)
            axes.set_title(f"{judgment.replace('_', ' ')}, {level} level", fontsize=10)
    for axes in grid[-1]:
        axes.set_xlabel("r with human judgment, times 100")
    _legend(figure, bool(published_levels), bool(others))
    return figure


def _panel(
    axes: Axes,
    here: Mapping[str, Agreement],
    names: Sequence[str],
    paper: Mapping[str, Sequence[float]],
    theirs: Mapping[str, Agreement],
) -> None:
    for one in here.values():
        place = names.index(one.metric)
        color = _COLOURS[0 if one.metric == "DR" else 1 if one.metric.startswith("DR,") else 2]
        r, (low, high) = one.means[0], one.interval
        axes.plot([low, high], [place, place], color=color, lw=3 if one.metric == "DR" else 1.5)
        axes.plot(r, place, "o", color=color, ms=7 if one.metric == "DR" else 5)
        if paper_name(one.metric) in paper:
            axes.plot(paper[paper_name(one.metric)][0], place, "D", mfc="none", mec="black", ms=6)
        if one.metric in theirs:
            axes.plot(theirs[one.metric].means[0], place, "^", mfc="none", mec="0.45", ms=6)
    if "DR" in here:
        axes.axvline(here["DR"].means[0], color=_COLOURS[0], lw=0.8, ls=":")
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.set_ylim(len(names) - 0.4, -0.6)
    ends = [end for one in here.values() for end in one.interval]
    ends += [cells[0] for cells in paper.values()] + [one.means[0] for one in theirs.values()]
    low, high = (10 * math.floor(min(ends) / 10), 10 * math.ceil(max(ends) / 10 + 0.1))
    axes.set_xlim(min(0, low), min(100, high))
    if low < 0:
        axes.axvline(0, color="0.5", lw=0.8)
    for label in axes.get_yticklabels():
        if label.get_text() == "DR":
            label.set(color=_COLOURS[0], fontweight="bold")


def _legend(figure: Figure, paper: bool, others: bool) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=_COLOURS[0], marker="o", ms=7, lw=3, label="DR (DepthScore)"),
        Line2D([], [], color=_COLOURS[1], marker="o", ms=5, label="its variants and controls"),
        Line2D([], [], color=_COLOURS[2], marker="o", ms=5, label="other metrics"),
        Line2D([], [], color="0.3", label="95% interval over texts"),
    ]
    hollow = {"marker": "D", "mfc": "none", "ls": "none", "ms": 6}
    if paper:
        handles.append(Line2D([], [], mec="black", label="the paper's, other encoder", **hollow))
    if others:
        hollow["marker"] = "^"
        handles.append(Line2D([], [], mec="0.45", label="REALSumm's own scores", **hollow))
    columns = len(handles) if len(handles) < 6 else 3
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)
