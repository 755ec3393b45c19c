"""Samples of the benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

DEPTHS = ("halfspace", "projection", "irw", "ai_irw")
DTYPES = ("float32", "float64")


def pair(n: int, d: int, dtype: Any = "float64", seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return two Gaussian samples (n, d), the second shifted by 1/2 in every coordinate."""
    return shaped_pair("gaussian", n, d, dtype, seed)


def shaped_pair(
    shape: str, n: int, d: int, dtype: Any = "float64", seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return two samples (n, d) of the distribution `shape`, see `SHAPES`."""
    rng = np.random.default_rng(seed)
    make = SHAPES[shape]
    # Drawn in the final precision: a float64 draw first would double the peak memory.
    x, y = make(rng, n, d, np.dtype(dtype)), make(rng, n, d, np.dtype(dtype))
    y += y.dtype.type(0.5)
    return x, y


def _gaussian(rng: np.random.Generator, n: int, d: int, dtype: np.dtype) -> np.ndarray:
    return rng.standard_normal((n, d), dtype=dtype)


def _cauchy(rng: np.random.Generator, n: int, d: int, dtype: np.dtype) -> np.ndarray:
    return rng.standard_cauchy((n, d)).astype(dtype)


def _lognormal(rng: np.random.Generator, n: int, d: int, dtype: np.dtype) -> np.ndarray:
    return np.exp(2 * rng.standard_normal((n, d), dtype=dtype))


def _clusters(rng: np.random.Generator, n: int, d: int, dtype: np.dtype) -> np.ndarray:
    centers = 1000 * rng.standard_normal((5, d), dtype=dtype)
    return centers[rng.integers(0, 5, n)] + rng.standard_normal((n, d), dtype=dtype)


def _lattice(rng: np.random.Generator, n: int, d: int, dtype: np.dtype) -> np.ndarray:
    return rng.integers(0, 4, (n, d)).astype(dtype)


#: Distributions that may be harder for a bucket sort or a selection than the Gaussian.
SHAPES = {
    "gaussian": _gaussian,
    "cauchy": _cauchy,
    "lognormal": _lognormal,
    "clusters": _clusters,
    "lattice": _lattice,
}
