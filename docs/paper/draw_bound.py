"""Draw bound.png: the changed share against the number of rows, with the true values.

python -m experiments coverage --table --runs 8
python docs/paper/draw_bound.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
import numpy as np

from experiments.coverage.settings import TABLE
from experiments.tables.study import read_lines

STUDY = Path("out/coverage/table.jsonl")


def main(study: Path) -> None:
    """Draw one line per change, with bars from the minimum to the maximum of its data sets."""
    lines = read_lines(study)
    sizes = sorted({line["n"] for line in lines})
    figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for number, (name, (_, distance)) in enumerate(TABLE.items()):
        color, shift = f"C{number}", 1.04 ** (number - 3)
        cells = [[x["bound"] for x in lines if (x["row"], x["n"]) == (name, n)] for n in sizes]
        means = np.array([np.mean(cell) for cell in cells])
        bars = [means - [min(cell) for cell in cells], [max(cell) for cell in cells] - means]
        x = np.array(sizes) * shift
        axes.errorbar(x, means, bars, color=color, marker="o", markersize=4, label=name)
        axes.axhline(distance, color=color, linestyle="--", linewidth=0.8)
    axes.set(xscale="log", xlabel="rows per sample", ylabel="changed share", ylim=(-0.02, 0.75))
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axes.minorticks_off()
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(Path(__file__).with_name("bound.png"), dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else STUDY)
