"""Ranks along coordinate axes are those of the raw values, however the kernels scale them."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth import _core

KINDS = {
    "many orders of magnitude": lambda rng, n, small: 10.0 ** rng.uniform(small, 0, n),
    "both signs": lambda rng, n, small: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(small, 5, n),
    "two clusters far apart": lambda rng, n, small: (
        1e17 * (np.arange(n) % 3 > 0) + rng.standard_normal(n)
    ),
    "one huge value": lambda rng, n, small: np.where(
        np.arange(n) == n // 2, 10.0**-small, rng.standard_normal(n)
    ),
    "subnormal": lambda rng, n, small: rng.integers(-50, 50, n) * 10.0 ** (small - 11),
    "near the largest number": lambda rng, n, small: 10.0**-small * rng.uniform(-3e3, 3e3, n),
    "far from zero": lambda rng, n, small: 1e6 + rng.integers(0, 99, n) / 8,
    "far from zero, and zero": lambda rng, n, small: (1e6 + rng.integers(0, 99, n)) * rng.choice(
        [0, 1, 1], n
    ),
}  # fmt: skip
#: Exponent of ten of the smallest values.
SMALL = {"float32": -34, "float64": -300}


def columns(kind: str, n: int, d: int, dtype: str) -> np.ndarray:
    rng = np.random.default_rng(n + d)
    rows = np.stack([KINDS[kind](rng, n, SMALL[dtype]) for _ in range(d)], axis=1).astype(dtype)
    assert np.isfinite(rows).all()
    return rows


def masses(column: np.ndarray, at: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """The weights below each value, and up to it."""
    order = np.argsort(column)
    reached = np.concatenate([[0], np.cumsum(weights[order])])
    rising = column[order]
    return reached[np.searchsorted(rising, at)], reached[np.searchsorted(rising, at, side="right")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("n", [40, 700])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_queries", [False, True])
def test_ranks_of_raw_values(
    kind: str, dtype: str, d: int, n: int, weighted: bool, with_queries: bool
) -> None:
    points = columns(kind, n, d, dtype)
    queries = np.concatenate([points[::3], columns(kind, 51, d, dtype)]) if with_queries else None
    weights = np.random.default_rng(0).integers(1, 5, n) if weighted else np.ones(n, np.int64)
    axes = np.concatenate([np.eye(d), -np.eye(d)]).astype(dtype)
    asked = points if queries is None else queries
    total = weights.sum()
    pairs = [masses(points[:, k], asked[:, k], weights) for k in range(d)]
    smallest = np.min([np.minimum(upto, total - below) for below, upto in pairs], axis=0)
    doubled = [np.minimum(below + upto, 2 * total - below - upto) for below, upto in pairs]

    given = weights if weighted else None
    found, _ = _core.smallest_halfspace(points, axes, given, queries, n_threads=2)
    np.testing.assert_array_equal(found, smallest)
    mean = _core.mean_rank_weight(points, axes, given, queries, 2)
    np.testing.assert_allclose(mean, np.mean(doubled, axis=0) / (2 * total), rtol=1e-14)
    if queries is None:
        balance = np.stack([below + upto - total for below, upto in pairs])
        sizes, squares = _core.centered_rank_sums(points, axes, weights)
        np.testing.assert_array_equal(sizes, 2 * np.abs(balance).sum(axis=0))
        np.testing.assert_array_equal(squares, 2 * (balance**2).sum(axis=0))


@pytest.mark.parametrize("factor", [1e-42, 1e-30, 1.0, 1e30, 3e38])
@pytest.mark.parametrize("n", [40, 700])
def test_the_length_of_a_direction_has_no_influence(factor: float, n: int) -> None:
    points = np.random.default_rng(0).standard_normal((n, 3)).astype("float32")
    units = np.eye(3, dtype="float32")
    scaled = units * np.float32(factor)
    for kernel in (_core.smallest_halfspace, _core.largest_outlyingness):
        expected, found = kernel(points, units)[0], kernel(points, scaled)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    expected, found = (_core.mean_rank_weight(points, U) for U in (units, scaled))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [40, 700])
def test_a_column_of_small_spread_counts_along_its_own_axis(n: int) -> None:
    rng = np.random.default_rng(0)
    small = rng.standard_normal(n).astype("float32")
    large = (1e9 * rng.standard_normal(n)).astype("float32")
    axis = np.array([[1, 0]], dtype="float32")
    expected, _ = _core.largest_outlyingness(small[:, None], axis[:, :1].copy())
    found, _ = _core.largest_outlyingness(np.column_stack([small, large]), axis)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(("dtype", "size"), [("float32", 1e30), ("float64", 1e250)])
@pytest.mark.parametrize("n", [40, 700])
@pytest.mark.parametrize("tied", [False, True])
def test_columns_of_very_different_sizes(dtype: str, size: float, n: int, tied: bool) -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((n, 3))
    if tied:
        table = np.where(rng.random((n, 3)) < 0.6, 0.0, table.round(1))
    table = table.astype(dtype)
    # The last direction combines two columns of similar size.
    units = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.5, 0.5]], dtype=dtype)
    powers = np.exp2(np.rint(np.log2([size, 1 / size, 4 / size]))).astype(dtype)
    weights = rng.integers(1, 4, n)
    units_scaled = units.copy()
    units_scaled[3, 2] /= 4
    for options in ({}, {"weights": weights}, {"queries": table[:9] * 3}, {"locate": True}):
        scaled = dict(options)
        if "queries" in scaled:
            scaled["queries"] = scaled["queries"] * powers
        expected = _core.largest_outlyingness(table, units, **options)
        found = _core.largest_outlyingness(table * powers, units_scaled, **scaled)
        np.testing.assert_allclose(found[0], expected[0], rtol=64 * np.finfo(dtype).eps)
        if "locate" in options:
            np.testing.assert_array_equal(found[1], expected[1])


def test_supports_in_single_precision_far_from_zero() -> None:
    rng = np.random.default_rng(0)
    offset = 2.0**20
    # Steps of the grid of float32 numbers near the offset: the values are the same in both types.
    x, y = (offset + rng.integers(-400, 400, (300, 4)) / 8 for _ in range(2))
    sizes = np.array([10, 100, 300])
    units = rng.standard_normal((64, 4))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    units = units.astype("float32")
    expected, _ = _core.gaps(x, y, sizes, sizes, units.astype(float), np.inf, 1, 10.0)
    single = x.astype("float32"), y.astype("float32")
    assert np.array_equal(single[0], x)
    found, _ = _core.gaps(*single, sizes, sizes, units, np.inf, 1, 10.0)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    table = _core.supports(single[0], sizes, units, 1, 10.0)
    exact = _core.supports(x, sizes, units.astype(float), 1, 10.0)
    # One rounding of the result.
    np.testing.assert_allclose(table, exact, rtol=1.2e-7, atol=1e-4)
