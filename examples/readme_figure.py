"""Draw docs/figures/readme.png: the effect of 5% of outliers on the regions and on distances.

Run `python examples/readme_figure.py` in the root of the project (needs matplotlib). It prints the
numbers that README quotes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment
from scipy.spatial import ConvexHull
from scipy.spatial.distance import cdist

import isodepth
from isodepth import hull_distance

FIGURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / "readme.png"

#: Colors of Okabe and Ito, distinguishable for color-blind readers.
BLUE, ORANGE, BLACK, GREY = "#0072B2", "#D55E00", "#1a1a1a", "#8c8c8c"
LEVELS = (0.2, 0.5, 0.8)
SHOWN_GAP = 0.8
N_POINTS, N_WRONG = 300, 15


def samples() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, Y, and Y with 5% of wrong rows, each of shape (300, 2)."""
    rng = np.random.default_rng(3)
    X = rng.multivariate_normal([0, 0], [[1.0, 0.5], [0.5, 1.0]], N_POINTS)
    Y = rng.multivariate_normal([3.8, 0], [[1.0, -0.3], [-0.3, 0.8]], N_POINTS)
    contaminated = Y.copy()
    contaminated[:N_WRONG] = rng.normal([15.0, 4.6], [0.55, 0.4], (N_WRONG, 2))
    return X, Y, contaminated


def mean_difference(X: np.ndarray, Y: np.ndarray) -> float:
    return float(np.linalg.norm(X.mean(axis=0) - Y.mean(axis=0)))


def wasserstein(X: np.ndarray, Y: np.ndarray) -> float:
    """Return the exact 2-Wasserstein distance of two samples of equal size."""
    cost = cdist(X, Y, "sqeuclidean")
    return float(np.sqrt(cost[linear_sum_assignment(cost)].mean()))


def sliced(X: np.ndarray, Y: np.ndarray) -> float:
    """Return the sliced 2-Wasserstein distance of two samples of equal size, 1000 directions."""
    directions = np.random.default_rng(0).standard_normal((1000, 2)).T
    directions /= np.linalg.norm(directions, axis=0)
    gaps = np.sort(X @ directions, axis=0) - np.sort(Y @ directions, axis=0)
    return float(np.sqrt(np.square(gaps).mean()))


def isodepth_distance(X: np.ndarray, Y: np.ndarray) -> float:
    return isodepth.distance(X, Y, eps=0.1, random_state=0)


DISTANCES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "isodepth (DR, eps = 0.1)": isodepth_distance,
    "difference of means": mean_difference,
    "sliced Wasserstein": sliced,
    "Wasserstein": wasserstein,
}


def measured() -> dict[str, tuple[float, float]]:
    """Return each distance between X and Y, without and with the wrong rows."""
    X, Y, contaminated = samples()
    return {name: (f(X, Y), f(X, contaminated)) for name, f in DISTANCES.items()}


def draw() -> Figure:
    figure = Figure(figsize=(11, 4.3), layout="constrained", facecolor="white")
    figure.get_layout_engine().set(w_pad=0.1, wspace=0.05)
    left, right = figure.subplots(1, 2, width_ratios=[1.7, 1])
    _draw_regions(left)
    _draw_distances(right)
    return figure


def _outline(points: np.ndarray) -> np.ndarray:
    corners = points[ConvexHull(points).vertices]
    return np.concatenate([corners, corners[:1]])


def _draw_regions(axes: Axes) -> None:
    X, Y, contaminated = samples()
    metric = isodepth.Metric(eps=0.1, random_state=0)
    of_x, of_y, of_contaminated = (metric.regions(points) for points in (X, Y, contaminated))
    wrong = slice(None, N_WRONG)
    axes.plot(*X.T, "o", color=BLUE, ms=3, alpha=0.55, mew=0)
    axes.plot(*contaminated[N_WRONG:].T, "o", color=ORANGE, ms=3, alpha=0.55, mew=0)
    axes.plot(*contaminated[wrong].T, "x", color=ORANGE, ms=6, mew=1.6)
    for regions, color in ((of_x, BLUE), (of_contaminated, ORANGE)):
        for beta in LEVELS:
            outline = _outline(regions.points[regions.indices(beta)])
            axes.fill(*outline.T, color=color, alpha=0.13, lw=0)
            axes.plot(*outline.T, color=color, lw=1.6)
    for beta in LEVELS:
        outline = _outline(of_y.points[of_y.indices(beta)])
        axes.plot(*outline.T, color=BLACK, lw=1.1, ls=(0, (1, 1.4)))

    first, second = (r.points[r.indices(SHOWN_GAP)] for r in (of_x, of_contaminated))
    gap = hull_distance(first, second)
    farther = first if gap.sample == "X" else second
    start = farther[(farther @ gap.direction).argmax()]
    stop = start - gap.distance * gap.direction
    axes.annotate("", stop, start, arrowprops={"arrowstyle": "<|-|>", "color": BLACK, "lw": 1.6,
                                               "shrinkA": 0, "shrinkB": 0})  # fmt: skip
    leader = {"arrowstyle": "-", "color": GREY, "lw": 1.0}
    near = stop + 0.1 * (start - stop)
    axes.annotate(
        f"gap of the 80% regions: {gap.distance:.1f}", near, (near[0], -4.2), ha="center",
        va="top", fontsize=13, color=BLACK, arrowprops=leader,
    )  # fmt: skip
    axes.text(-0.6, 3.2, "sample X", color=BLUE, fontsize=14, ha="center", weight="bold")
    axes.text(4.4, 3.2, "sample Y", color=ORANGE, fontsize=14, ha="center", weight="bold")
    axes.text(14.9, 6.05, "5% of the rows are wrong", color=ORANGE, fontsize=13, ha="center")
    axes.annotate(
        "dotted: the regions of Y\nwithout the wrong rows", (5.35, -0.9), (8.2, -2.3),
        va="center", fontsize=13, color=BLACK, arrowprops=leader,
    )  # fmt: skip
    axes.set_title("Regions of the deepest 20, 50 and 80%", fontsize=14)
    axes.set_aspect("equal", anchor="N")
    axes.set_xlim(-3.7, 17.6)
    axes.set_ylim(-5.3, 6.9)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def _draw_distances(axes: Axes) -> None:
    for row, (name, (before, after)) in enumerate(measured().items()):
        change = 100 * (after / before - 1)
        ours = row == 0
        axes.barh(-row, change, height=0.36, color=BLUE if ours else GREY)
        axes.text(0.8, -row + 0.25, name, fontsize=13, color=BLUE if ours else BLACK,
                  weight="bold" if ours else "normal", va="bottom")  # fmt: skip
        axes.text(change + 1.2, -row, f"{change:+.0f}%   {before:.2f} → {after:.2f}", fontsize=13,
                  color=BLACK, va="center")  # fmt: skip
    axes.axvline(0, color=BLACK, lw=1)
    axes.set_title("Effect of the wrong rows on distances", fontsize=14, loc="left")
    axes.set_xlim(0, 76)
    axes.set_ylim(-len(DISTANCES) + 0.5, 0.7)
    axes.axis("off")


def main() -> None:
    for name, (before, after) in measured().items():
        print(f"{name:26}{before:6.2f} -> {after:5.2f}  ({after / before - 1:+.0%})")
    draw().savefig(FIGURE, dpi=150)
    print(FIGURE.name)


if __name__ == "__main__":
    main()
