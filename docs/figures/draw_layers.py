"""Draw the layers of the package, as tests/test_layout.py checks them: docs/figures/layers.png.

Run it in the root of the repository: ``python docs/figures/draw_layers.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))
from test_layout import LAYERS  # noqa: E402

#: Purpose of each package; a layer without an entry is not drawn.
CONTENT = {
    "cli": "commands",
    "typing": "classes for annotations",
    "show": "figures, HTML reports, notebooks",
    "monitor": "batches against a reference, alarms",
    "many": "all pairs, estimators",
    "text": "scores of text",
    "torch": "loss with gradients",
    "compat": "interface of the authors",
    "theory": "bounds, Gaussian distances",
    "significance": "two-sample test",
    "metric": "distance, compare, region tables, chunks",
    "rows": "checks, suspicious rows, typical rows",
    "device": "the primitives on tensors",
    "functions": "functions of a row, descriptions of changes",
    "geometry": "directions, depths, regions, hulls",
    "stream": "samples read in chunks",
    "table": "rows, columns and their kinds, files",
    "base": "options, messages, folds, export",
    "_core": "compiled passes (C++, src/core)",
    "errors": "errors and warnings",
}
#: Color and packages of each group of layers.
COLORS = {
    "use": ("#dbe9f6", {"cli", "monitor", "typing"}),
    "calls": ("#e3f1dd", {"many", "text", "torch", "significance", "compat", "theory"}),
    "output": ("#e8e2f2", {"show"}),
    "distance": ("#fdeccf", {"metric", "geometry", "rows", "functions", "device"}),
    "numbers": ("#f4dede", {"stream", "table", "base", "_core", "errors"}),
}


def color_of(package: str) -> str:
    """Return the color of the group of a package."""
    return next(color for color, packages in COLORS.values() if package in packages)


def draw() -> plt.Figure:
    """Draw one box per package and one row per layer; imports point downwards."""
    rows = [[package for package in layer if package in CONTENT] for layer in reversed(LAYERS)]
    rows = [row for row in rows if row]
    figure, axes = plt.subplots(figsize=(9, 0.62 * len(rows) + 0.3), layout="constrained")
    for i, row in enumerate(rows):
        width = (10 - 0.15 * (len(row) - 1)) / len(row)
        for j, package in enumerate(row):
            left, bottom = j * (width + 0.15), -i
            axes.add_patch(
                FancyBboxPatch(
                    (left, bottom), width, 0.78, boxstyle="round,pad=0,rounding_size=0.08",
                    facecolor=color_of(package), edgecolor="#555555", linewidth=0.8,
                )
            )  # fmt: skip
            axes.text(
                left + 0.15, bottom + 0.39, package, va="center", family="monospace", weight="bold",
            )  # fmt: skip
            axes.text(
                left + width - 0.15, bottom + 0.39, CONTENT[package], va="center", ha="right",
                fontsize=9, color="#333333",
            )  # fmt: skip
    axes.annotate(
        "",
        (10.45, 1 - len(rows)),
        (10.45, 0.78),
        arrowprops={"arrowstyle": "->"},
    )
    middle = (1.78 - len(rows)) / 2
    axes.text(10.6, middle, "imports", rotation=270, va="center", color="#333333", fontsize=9)
    axes.set_xlim(-0.1, 11)
    axes.set_ylim(0.9 - len(rows), 0.9)
    axes.axis("off")
    return figure


if __name__ == "__main__":
    draw().savefig(HERE / "layers.png", dpi=120)
