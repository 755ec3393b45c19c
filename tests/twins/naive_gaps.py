"""Simple reference implementations, with NumPy, of support values of the first rows and of gaps."""

from __future__ import annotations

import numpy as np


def supports(rows: np.ndarray, sizes: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Return support values h(u), then h(-u), of the first rows of a sample.

    The result has one row for each number of rows in `sizes`, and u are the rows of U.
    """
    both = np.concatenate([U, -U])
    return np.stack([(rows[:size] @ both.T).max(axis=0) for size in sizes])


def gaps(first: np.ndarray, second: np.ndarray, q: float) -> np.ndarray:
    """Return (mean of |first - second|**q) ** (1/q) of each level, or the maximum for q = inf.

    `first` and `second` have the support values of two samples, one row per level.
    """
    apart = np.abs(first - second).astype(np.float64)
    largest = apart.max(axis=1)
    if q == np.inf:
        return largest
    ratios = apart / np.where(largest > 0, largest, 1.0)[:, None]
    return largest * np.mean(ratios**q, axis=1) ** (1 / q)
