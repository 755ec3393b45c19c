"""Figures of the study of power."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.framework.figure import as_percent, legend_below, panels, save, ticks

if TYPE_CHECKING:
    from experiments.power.cells import Cell
    from experiments.power.results import Rate

_COLORS = {
    "aggregated": "k", "regions": "C0", "tolerance 0.05": "C3", "tolerance 0.1": "0.5",
    "energy": "C1", "mmd": "C2", "dcmmd 0.05": "C5", "dcmmd 0.1": "C6", "ks + holm": "C4",
}  # fmt: skip
_KINDS = ("far", "near", "centre", "wide", "halfway", "worst")
_AROUND = ("centre", "wide")
_LAWS = ("null", "shift 0.35", "random shift 0.35", "scale 1.15", "correlation 0.5", "t2",
         "mixture inside", "sides swapped")  # fmt: skip
# The laws have a figure for each of these numbers of rows.
_SIZES = (200, 1000)


def draw(every: list[Cell], found: dict[str, dict[str, Rate]], folder: Path) -> None:
    """Write the figures of the study to a folder, as far as there are results.

    `every` are all cells, and `found` has the rejection rates by cell and method.
    """
    # Central and wide contaminations have no opposite side, so those of both samples cancel.
    chosen = [
        c
        for c in every
        if c.group == "tolerance" and c.d == 5 and c.both != (c.kind in _AROUND) and c.key in found
    ]
    if chosen:
        figure, grid = panels(2, 3, sharey=True)
        for axes, kind in zip(grid.flat, _KINDS, strict=True):
            _curves(axes, [c for c in chosen if c.kind == kind], found, "n")
            axes.axhline(0.05, color="0.7", lw=0.8)
            where = "one sample" if kind in _AROUND else "both samples"
            axes.set_title(f"{kind}, 5% of {where}, d = 5")
            axes.set_ylabel("rejections at 5%")
        legend_below(figure, grid[0, 0], 4)
        save(figure, folder / "power_contamination.png")
    for n in _SIZES:
        laws = [c for c in every if c.group == "laws" and c.n == n and c.key in found]
        if not {c.kind for c in laws} >= set(_LAWS):
            continue
        figure, grid = panels(2, 4, sharey=True)
        for axes, kind in zip(grid.flat, _LAWS, strict=True):
            _curves(axes, [c for c in laws if c.kind == kind], found, "d")
            axes.set_title(f"{kind}, n = {n}")
        for axes in grid[:, 0]:
            axes.set_ylabel("rejections at 5%")
        legend_below(figure, grid[0, 0], 5)
        save(figure, folder / f"power_laws_{n}.png")


def _curves(axes, chosen: list[Cell], found: dict[str, dict[str, Rate]], along: str) -> None:  # type: ignore[no-untyped-def]
    for method, color in _COLORS.items():
        there = [(getattr(c, along), found[c.key][method].share)
                 for c in chosen if method in found[c.key]]  # fmt: skip
        if there:
            places, values = zip(*sorted(there), strict=True)
            # Two that never reject lie on each other.
            style = {"lw": 4, "alpha": 0.6} if method.startswith("tol") else {}
            axes.plot(places, values, marker="o", ms=3, color=color, label=method, **style)
    if chosen:
        ticks(axes, sorted({getattr(c, along) for c in chosen}))
    axes.set_xlabel("rows in each sample n" if along == "n" else "columns d")
    axes.set_ylim(-0.03, 1.03)
    as_percent(axes)
