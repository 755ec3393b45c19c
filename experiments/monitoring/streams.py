"""Streams for the studies of monitors: functions that draw clean and changed batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Batch = Callable[[np.random.Generator, int, int], np.ndarray]


def normal(rng: np.random.Generator, m: int, d: int) -> np.ndarray:
    """Draw a clean batch: standard normal rows (m, d)."""
    return rng.standard_normal((m, d))


def shift(size: float) -> Batch:
    """Return a function that draws batches with `size` added to the first column."""

    def batch(rng: np.random.Generator, m: int, d: int) -> np.ndarray:
        return normal(rng, m, d) + size * np.eye(d)[0]

    return batch


def correlation(rho: float) -> Batch:
    """Return a function that draws batches whose first two columns have correlation `rho`."""

    def batch(rng: np.random.Generator, m: int, d: int) -> np.ndarray:
        x = normal(rng, m, d)
        x[:, 1] = rho * x[:, 0] + np.sqrt(1 - rho**2) * x[:, 1]
        return x

    return batch


def scale(factor: float) -> Batch:
    """Return a function that draws batches with the first column multiplied by `factor`."""

    def batch(rng: np.random.Generator, m: int, d: int) -> np.ndarray:
        x = normal(rng, m, d)
        x[:, 0] *= factor
        return x

    return batch


def student(rng: np.random.Generator, m: int, d: int) -> np.ndarray:
    """Draw a batch (m, d) of t-distributed columns with three degrees of freedom."""
    return rng.standard_t(3, size=(m, d))


def far_rows(share: float) -> Batch:
    """Return a function that draws batches with a share of rows at distance 6 from the center."""

    def batch(rng: np.random.Generator, m: int, d: int) -> np.ndarray:
        x = normal(rng, m, d)
        bad = rng.random(m) < share
        u = rng.standard_normal((int(bad.sum()), d))
        x[bad] = 6 * u / np.linalg.norm(u, axis=1, keepdims=True)
        return x

    return batch


CHANGES: dict[str, Batch] = {
    "shift 0.3": shift(0.3),
    "shift 0.6": shift(0.6),
    "shift 0.15": shift(0.15),
    "correlation 0.6": correlation(0.6),
    "scale 1.4": scale(1.4),
    "t with 3 df": student,
    "8% far rows": far_rows(0.08),
}

#: Columns, rows per batch.
SETTINGS = ((5, 100), (10, 400), (20, 50))


def contaminated(batch: Batch, share: float) -> Batch:
    """Return a function that draws from `batch` and contaminates the first rows.

    A share of the rows is moved far away along the first column.
    """

    def made(rng: np.random.Generator, m: int, d: int) -> np.ndarray:
        x = batch(rng, m, d)
        count = int(share * m)
        x[:count] = 0.1 * rng.standard_normal((count, d)) + 8 * np.eye(d)[0]
        return x

    return made
