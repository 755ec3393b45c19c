"""What `make demo` runs: a clean and a contaminated table, compared.

The two tables are random halves of one data set, so they differ by chance alone, until someone
slips the decimal point in 8 % of the rows of the second. Numbers that average over all
rows follow the slips; the depth-trimmed regions leave them outside.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import isodepth
from isodepth.data.readers import read_table
from isodepth.plot import gap_profile

FOLDER = Path(__file__).parent
PICTURE = Path("out", "demo_gap_profile.png")


def mean_difference(X: np.ndarray, Y: np.ndarray) -> float:
    return float(np.linalg.norm(X.mean(axis=0) - Y.mean(axis=0)))


def wasserstein(X: np.ndarray, Y: np.ndarray) -> float:
    """Exact 1-Wasserstein distance of two samples of equal size: the cheapest pairing."""
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    cost = cdist(X, Y)
    return float(cost[linear_sum_assignment(cost)].mean())


def main() -> None:
    first = read_table(FOLDER / "first_half.csv")
    second = read_table(FOLDER / "second_half.csv")
    slipped = read_table(FOLDER / "second_half_contaminated.csv")
    wrong = (second.points != slipped.points).any(axis=1)

    metric = isodepth.Metric(eps=0.1, random_state=0)
    result = metric.compare(first, slipped)
    print("Two tables: random halves of one set of measurements of cells, 4 columns each.")
    print(f"A: {len(first.points)} rows as measured.")
    print(f"B: the other {len(slipped.points)}, {wrong.sum()} with a slipped decimal point.\n")
    print(">>> isodepth.compare(A, B)")
    print(result)
    print(
        "\nHow far apart they are; where they differ most; how the number was made: a signature.\n"
    )

    too_little = isodepth.Metric(eps=0.05, random_state=0)
    print("What the slips do to a distance between A and B:")
    print(f"{'':34}{'before':>10}{'after the slips':>18}{'factor':>9}")
    for name, distance in {
        "mean difference": mean_difference,
        "Wasserstein": wasserstein,
        "isodepth, eps = 0.05 (too little)": too_little.distance,
        "isodepth, eps = 0.1": metric.distance,
    }.items():
        before = distance(first.points, second.points)
        after = distance(first.points, slipped.points)
        print(f"{name:34}{before:10.3f}{after:18.3f}{after / before:9.2f}")
    print("\nisodepth leaves out the outermost share eps of each table, and withstands the slips")
    print(f"if eps exceeds the share of wrong rows, here {wrong.mean():.3f}.")

    PICTURE.parent.mkdir(exist_ok=True)
    gap_profile(result).figure.savefig(PICTURE, dpi=150)
    print(f"The gap at every level is drawn in {PICTURE}.")


if __name__ == "__main__":
    main()
