"""Figures of the experiment `accuracy`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.framework import Table
from experiments.framework.figure import as_percent, curve, legend_below, panels, ticks

_STYLES: dict[str, dict[str, Any]] = {
    "paper": {"color": "C3", "ls": "-", "marker": "s"},
    "uniform": {"color": "C1", "ls": "--"},
    "sobol": {"color": "C4", "ls": "--"},
    "orthogonal": {"color": "C5", "ls": "--"},
    "refined": {"color": "C0", "ls": "-", "lw": 2.2},
    "exact": {"color": "k", "ls": ":", "marker": "x"},
    "max-SW": {"color": "C2", "ls": "-.", "marker": "^"},
}
_LABELS = {
    "paper": "the paper's algorithm",
    "uniform": "exact levels, uniform",
    "sobol": "exact levels, sobol",
    "orthogonal": "exact levels, orthogonal",
    "refined": "refined (default)",
    "exact": "exact supremum",
}
#: Upper end of the vertical axis.
_TOP = 0.5


def draw_errors(table: Table, methods: Sequence[str]) -> Any:
    """Draw the relative error of `methods` against the dimension.

    Columns of panels are distributions, and rows are numbers of directions K.
    """
    counts, distributions = table.distinct("K"), table.distinct("distribution")
    figure, grid = panels(len(counts), len(distributions))
    for row, K in zip(grid, counts, strict=True):
        for axes, distribution in zip(row, distributions, strict=True):
            for method in methods:
                rows = table.where(distribution=distribution, K=K, method=method)
                label = _LABELS.get(method, method)
                curve(axes, rows, "d", "error", label, **_STYLES[method])
            axes.axhline(0, color="0.5", lw=1)
            ticks(axes, table.distinct("d"))
            axes.set_ylim(-1, _TOP)
            as_percent(axes)
            axes.set_title(f"two {distribution.capitalize()} samples, K = {K:g}")
            if table.where(distribution=distribution, K=K, method="max-SW")["error"].mean() > _TOP:
                axes.text(0.02, 0.95, "max-SW is above the picture", transform=axes.transAxes)
            axes.set_xlabel("dimension d")
            axes.set_ylabel("relative error against $|7_d|$")
    legend_below(figure, grid[0, 0], 4)
    return figure


def draw_families(table: Table) -> Any:
    """Draw the shortfall of families of directions from the exact supremum."""
    counts = table.distinct("K")
    figure, grid = panels(1, len(counts))
    for axes, K in zip(grid[0], counts, strict=True):
        for family in table.distinct("family"):
            rows = table.where(K=K, family=family)
            curve(axes, rows, "d", "shortfall", family, color=_STYLES[family]["color"])
        as_percent(axes, 1)
        axes.set_title(f"two Gaussian samples, K = {K:g}")
        axes.set_xlabel("dimension d")
        axes.set_ylabel("shortfall against the exact supremum")
        axes.legend()
    return figure
