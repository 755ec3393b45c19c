"""Make the tables of the demo from a data set that ships with scikit-learn.

The Wisconsin breast cancer data are split at random into two halves. The columns kept are the
radius and the texture of the cell nuclei, each as the mean and as the "worst" (the mean of the
three largest) of an image: four numbers of the same order of magnitude (7 to 50), so that no
column dominates the distance because of its unit.

* ``first_half.csv``: 284 rows, as measured;
* ``second_half.csv``: the other 284 rows, as measured;
* ``second_half_contaminated.csv``: the same rows, but in 8% of them the decimal point of one column
  is shifted one place to the right, a typical typing error.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

COLUMNS = ("mean radius", "mean texture", "worst radius", "worst texture")
CONTAMINATED_SHARE = 0.08
FOLDER = Path(__file__).parent


def halves(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return two disjoint random halves of the data, each of shape (284, 4)."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    indices = [list(data.feature_names).index(name) for name in COLUMNS]
    shuffled = rng.permutation(data.data[:, indices])
    half = len(shuffled) // 2
    return shuffled[:half], shuffled[half : 2 * half]


def slip_decimal_points(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a copy of the table in which some rows have one entry ten times too large."""
    slipped = table.copy()
    rows = rng.choice(len(table), size=round(CONTAMINATED_SHARE * len(table)), replace=False)
    columns = rng.integers(table.shape[1], size=len(rows))
    slipped[rows, columns] *= 10
    return slipped


def save(table: np.ndarray, name: str) -> None:
    header = ",".join(COLUMNS)
    np.savetxt(FOLDER / name, table, fmt="%.5g", delimiter=",", header=header, comments="")


def main() -> None:
    rng = np.random.default_rng(0)
    first, second = halves(rng)
    save(first, "first_half.csv")
    save(second, "second_half.csv")
    save(slip_decimal_points(second, rng), "second_half_contaminated.csv")


if __name__ == "__main__":
    main()
