"""Stability of the units of columns on real tables: `python -m experiments.answers.units`.

For every numeric column: the factor by which its unit changes if 10% of the rows are removed, or
if 8% or 15% of the rows are -9999.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from experiments.answers.tables import HELD_OUT, TABLES, load
from isodepth.geometry.scaling import column_units, mad_spread

DRAWS = 30


def factors(values: np.ndarray, unit: Callable[[np.ndarray], np.ndarray], seed: int) -> np.ndarray:
    """Return the factors by which the unit of a column changes if values are removed or replaced.

    `unit` computes the unit, a measure of spread, from `values` (n,). The result (3,) has the
    maximum factor over random removals of 10% of the values, and the factors if 8% and if 15% of
    the values are -9999.
    """
    rng = np.random.default_rng(seed)
    before = unit(values)[0]
    removed = [
        unit(values[rng.permutation(len(values))[: round(0.9 * len(values))]])[0] / before
        for _ in range(DRAWS)
    ]
    changes = [max(max(removed), 1 / min(removed))]
    for share in (0.08, 0.15):
        wrong = values.copy()
        wrong[rng.permutation(len(values))[: round(share * len(values))]] = -9999
        changes.append(unit(wrong)[0] / before)
    return np.array(changes)


def main() -> None:
    """Print the extreme factors over all columns, for two units of a column.

    They are the unit of `scale="pooled"` and the median absolute deviation (MAD).
    """
    columns = [
        frame[name].dropna().to_numpy(float)[:, None]
        for table in map(load, TABLES + HELD_OUT)
        for frame in [table.frame]
        for name in table.numeric
    ]
    columns = [values for values in columns if np.ptp(values) > 0]
    print(f"{len(columns)} columns; seeds are the numbers of the columns")
    for name, unit in (("clipped", column_units), ("MAD", mad_spread)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = np.array([factors(values, unit, i) for i, values in enumerate(columns)])
        low, high = rows.min(axis=0), rows.max(axis=0)
        print(
            f"{name:8s} 10% removed: at most {high[0]:.2f}; 8% of -9999: {low[1]:.2f} to "
            f"{high[1]:.2f}; 15%: {low[2]:.2f} to {high[2]:.2f}, beyond a factor of 2 in "
            f"{int(((rows[:, 2] > 2) | (rows[:, 2] < 0.5)).sum())} columns"
        )


if __name__ == "__main__":
    main()
