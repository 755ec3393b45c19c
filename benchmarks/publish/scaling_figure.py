"""Figure of the speedup over one thread for every number of threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.publish.figure import COLOURS


def draw_scaling(results: dict[str, Any], path: Path) -> bool:
    """Write the figure to `path`. Return False if there is nothing to draw."""
    if "scaling" not in results:
        return False
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    result = results["scaling"]
    sizes = list(dict.fromkeys((r["n"], r["d"]) for r in result["rows"]))
    figure, grid = plt.subplots(
        1, len(sizes), figsize=(4.6 * len(sizes), 4.2), layout="constrained", squeeze=False
    )
    for axis, (n, d) in zip(grid[0], sizes, strict=True):
        rows = [r for r in result["rows"] if (r["n"], r["d"]) == (n, d)]
        counts = [int(t) for t in rows[0]["speedup"]]
        axis.plot(counts, counts, color="k", lw=1, ls=":", label="as many times as threads")
        for r in rows:
            axis.plot(
                counts, list(r["speedup"].values()), "o-",
                color=COLOURS[r["depth"]], label=r["depth"],
            )  # fmt: skip
        axis.set_xscale("log", base=2)
        axis.set_yscale("log", base=2)
        axis.set_xticks(counts, [str(t) for t in counts])
        axis.set_yticks(counts, [str(t) for t in counts])
        axis.set_xlabel("threads")
        axis.set_title(f"n = m = {n}, d = {d}")
        axis.grid(alpha=0.3)
    grid[0, 0].set_ylabel("times faster than one thread")
    grid[0, 0].legend(fontsize=9)
    machine = result["machine"]
    figure.suptitle(f"float32, refine=0: {machine['cpu']}, {machine['cores']} core(s)")
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return True
