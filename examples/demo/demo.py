"""`make demo`: compare two tables, without and with wrong rows.

The two tables are random halves of one data set, so they differ only by chance. In 8% of the rows
of the second table the decimal point is then shifted. Distances that average over all rows change a
lot; depth-trimmed regions exclude the wrong rows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import isodepth
from isodepth.plot import gap_profile

FOLDER = Path(__file__).parent
FIGURE = Path("out", "demo_gap_profile.png")


def mean_difference(X: pd.DataFrame, Y: pd.DataFrame) -> float:
    return float(np.linalg.norm(X.mean() - Y.mean()))


def wasserstein(X: pd.DataFrame, Y: pd.DataFrame) -> float:
    """Return the exact 1-Wasserstein distance of two samples of equal size."""
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    cost = cdist(X, Y)
    return float(cost[linear_sum_assignment(cost)].mean())


def main() -> None:
    first, second, wrong = (
        pd.read_csv(FOLDER / f"{name}.csv")
        for name in ("first_half", "second_half", "second_half_contaminated")
    )
    n_wrong = int((second != wrong).any(axis=1).sum())
    print("Two tables: random halves of one set of measurements of cells, 4 columns each.")
    print(f"A: {len(first)} rows as measured.")
    print(f"B: the other {len(wrong)} rows, {n_wrong} of them with a shifted decimal point.\n")

    print(">>> test = isodepth.two_sample_test(A, B, n_permutations=199)")
    test = isodepth.two_sample_test(first, wrong, n_permutations=199, random_state=0)
    print(test)
    print("\n>>> test.suspicious_rows()")
    print(test.suspicious_rows())
    print("\n>>> result = isodepth.compare(A, B, scale='pooled', eps=0.2)")
    result = isodepth.compare(first, wrong, scale="pooled", eps=0.2, random_state=0)
    print(result)

    print("\nEffect of the wrong rows on distances between A and B:")
    print(f"{'':32}{'without':>10}{'with':>10}{'factor':>9}")
    metrics = {eps: isodepth.Metric(eps=eps, random_state=0) for eps in (0.05, 0.2)}
    for name, distance in {
        "mean difference": mean_difference,
        "Wasserstein": wasserstein,
        "isodepth, eps = 0.05 (too small)": metrics[0.05].distance,
        "isodepth, eps = 0.2": metrics[0.2].distance,
    }.items():
        before, after = distance(first, second), distance(first, wrong)
        print(f"{name:32}{before:10.3f}{after:10.3f}{after / before:9.2f}")
    print("\nisodepth trims the outermost fraction eps of each table. eps should be at least twice")
    print(f"the share of wrong rows, here {n_wrong / len(wrong):.3f}.")

    FIGURE.parent.mkdir(exist_ok=True)
    gap_profile(result).figure.savefig(FIGURE, dpi=150)
    print(f"The gap at every level: {FIGURE}")


if __name__ == "__main__":
    main()
