"""Simple reference implementations of supports and gaps of prefixes, with NumPy."""

from __future__ import annotations

import numpy as np


def supports(rows: np.ndarray, sizes: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Return h(u) and then h(-u) of the first rows, one line for each number of them."""
    both = np.concatenate([U, -U])
    return np.stack([(rows[:size] @ both.T).max(axis=0) for size in sizes])


def gaps(first: np.ndarray, second: np.ndarray, q: float) -> np.ndarray:
    """Return the mean of order q of the differences at each level, in units of the largest."""
    apart = np.abs(first - second).astype(np.float64)
    largest = apart.max(axis=1)
    if q == np.inf:
        return largest
    ratios = apart / np.where(largest > 0, largest, 1.0)[:, None]
    return largest * np.mean(ratios**q, axis=1) ** (1 / q)
