"""Random samples of the fuzz test: many magnitudes, ties, offsets, subnormal and huge values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Make = Callable[[np.random.Generator, tuple[int, int], type], np.ndarray]


def _normal(rng: np.random.Generator, shape: tuple[int, int], kind: type) -> np.ndarray:
    return rng.standard_normal(shape)


def _magnitudes(rng: np.random.Generator, shape: tuple[int, int], kind: type) -> np.ndarray:
    reach = 30 if kind is np.float32 else 60
    return 10.0 ** rng.uniform(-reach, 0, shape) * rng.choice([1, 1, -1], shape)


def _all_magnitudes(rng: np.random.Generator, shape: tuple[int, int], kind: type) -> np.ndarray:
    reach = 36 if kind is np.float32 else 300
    return 10.0 ** rng.uniform(-reach, reach, shape) * rng.choice([1, -1], shape)


def _subnormal(rng: np.random.Generator, shape: tuple[int, int], kind: type) -> np.ndarray:
    return rng.integers(-50, 50, shape) * float(np.finfo(kind).smallest_subnormal)


def _ties(rng: np.random.Generator, shape: tuple[int, int], kind: type) -> np.ndarray:
    return rng.integers(0, 4, shape) * 1.0


def _offset(rng: np.random.Generator, shape: tuple[int, int], kind: type) -> np.ndarray:
    return (1e6 if kind is np.float32 else 1e15) + rng.integers(-9, 9, shape)


def _huge(rng: np.random.Generator, shape: tuple[int, int], kind: type) -> np.ndarray:
    return rng.standard_normal(shape) * (1e36 if kind is np.float32 else 1e306)


def _units(rng: np.random.Generator, shape: tuple[int, int], kind: type) -> np.ndarray:
    # One scale for all columns must not make the smallest of them subnormal.
    reach = 14 if kind is np.float32 else 120
    return rng.standard_normal(shape) * 10.0 ** rng.uniform(-reach, reach, shape[1])


def _beside_large(rng: np.random.Generator, shape: tuple[int, int], kind: type) -> np.ndarray:
    rows = rng.standard_normal(shape)
    rows[rng.random(shape[0]) < 0.3] *= 1e17
    return rows


def _constant_column(rng: np.random.Generator, shape: tuple[int, int], kind: type) -> np.ndarray:
    rows = rng.standard_normal(shape)
    rows[:, 0] = rng.choice([0.0, 7.25, -1e5])
    return rows


def _duplicates(rng: np.random.Generator, shape: tuple[int, int], kind: type) -> np.ndarray:
    return rng.standard_normal(shape)[rng.integers(0, max(1, shape[0] // 3), shape[0])]


SAMPLES: dict[str, Make] = {
    "normal": _normal,
    "many magnitudes": _magnitudes,
    "all magnitudes": _all_magnitudes,
    "subnormal": _subnormal,
    "ties": _ties,
    "offset": _offset,
    "huge": _huge,
    "columns of different units": _units,
    "beside large values": _beside_large,
    "constant column": _constant_column,
    "duplicates": _duplicates,
}


def sample(rng: np.random.Generator, name: str, n: int, d: int, dtype: type) -> np.ndarray:
    """Draw rows (n, d) from the distribution with this name in `SAMPLES`."""
    with np.errstate(under="ignore"):
        return SAMPLES[name](rng, (n, d), dtype).astype(dtype)


def weights(rng: np.random.Generator, n: int) -> np.ndarray | None:
    """Draw no weights, integer weights with zeros, or any positive weights."""
    choice: Any = rng.choice(["none", "integer", "any"])
    if choice == "none":
        return None
    drawn = rng.integers(0, 4, n) if choice == "integer" else rng.random(n) + 0.1
    drawn[0] = 1
    return drawn.astype(np.float64)
