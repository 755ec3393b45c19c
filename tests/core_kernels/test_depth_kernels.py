"""Kernels of the depths, compared with their definitions on tied and extreme data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import naive

from isodepth import _core

THREADS = (1, 2, 7, 16)
KINDS = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "constant": lambda rng, shape: np.full(shape, 0.1),
    "two values": lambda rng, shape: rng.integers(0, 2, shape).astype(float),
    "few values": lambda rng, shape: rng.integers(0, 7, shape) / 4,
    "tight clusters": lambda rng, shape: (
        rng.integers(0, 3, shape) + 1e-6 * rng.standard_normal(shape)
    ),
    "crowds": lambda rng, shape: (
        10.0 ** rng.integers(-3, 4, shape) * (1 + 1e-3 * rng.random(shape))
    ),
    "one far away": lambda rng, shape: np.where(
        np.arange(np.prod(shape)).reshape(shape) == 3, 1e30, rng.standard_normal(shape)
    ),
    "huge": lambda rng, shape: 1e37 * rng.uniform(-1, 1, shape),
    "denormal": lambda rng, shape: 1e-43 * rng.standard_normal(shape),
    "far clusters": lambda rng, shape: (
        1e5 * rng.integers(0, 2, (shape[0], 1)) + rng.standard_normal(shape)
    ),
    "rising": lambda rng, shape: np.sort(rng.standard_normal(shape), axis=0),
    "periodic": lambda rng, shape: np.where(
        np.arange(np.prod(shape)).reshape(shape) % 8 == 0, 5.0, rng.standard_normal(shape)
    ),
}
# Around the sizes at which the algorithm changes: 64, 128 and 2**15 points.
SIZES = [1, 2, 3, 17, 64, 65, 127, 128, 1000, 2**15 + 1]


def made(kind: str, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return KINDS[kind](np.random.default_rng(sum(shape)), shape).astype(dtype)


def middle(values: np.ndarray) -> np.floating:
    """Return the median as the kernels compute it, bit for bit.

    This is the sum of the halves of the two middle elements.
    """
    rising, half = np.sort(values), values.dtype.type(0.5)
    low, high = rising[(len(rising) - 1) // 2], rising[len(rising) // 2]
    return low if low == high else half * low + half * high


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_medians_orders_and_quantiles(kind: str, dtype: str) -> None:
    for n in SIZES:
        rows = np.ascontiguousarray(made(kind, (n, 3), dtype).T)
        for row, center in zip(rows, _core.quantile(rows, 0.5, n_threads=2), strict=True):
            assert center == middle(row)
            assert np.array_equal(_core.order(row), row.argsort(kind="stable"))
        for q in (0.0, 0.3, 1.0):
            expected = np.quantile(rows.astype(float), q, axis=1)
            info = np.finfo(dtype)
            atol = 4 * float(info.eps) * np.abs(rows.astype(float)).max() + float(
                info.smallest_subnormal
            )
            np.testing.assert_allclose(_core.quantile(rows, q), expected, rtol=0, atol=atol)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 300))
def test_weights_are_repeated_values(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-4, 5, (2, n)).astype(float) if seed % 2 else rng.standard_normal((2, n))
    weights = rng.integers(1, 6, n)
    repeated = np.ascontiguousarray(np.repeat(rows, weights, axis=1))
    for q in (0.3, 0.5):
        assert np.array_equal(_core.quantile(rows, q, weights), _core.quantile(repeated, q))


def test_medians_of_large_weights() -> None:
    """The median of two rows of equal weight is exact for very large weights.

    A double cannot represent the sum of the weights.
    """
    rows, weights = np.array([[1.0, 5.0]]), np.array([2**59 + 1] * 2)
    assert _core.quantile(rows, 0.5, weights) == 3.0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["normal", "two values", "constant", "crowds"])
def test_order_and_distinct_rows_on_threads(kind: str, dtype: str) -> None:
    rows = made(kind, (70_001, 2), dtype)
    rows[5], rows[60_000] = rows[7], -rows[60_000] * 0
    column = np.ascontiguousarray(rows[:, 0])
    distinct, inverse, counts = np.unique(
        rows + 0.0, axis=0, return_inverse=True, return_counts=True
    )
    for threads in THREADS:
        assert np.array_equal(_core.order(column, threads), column.argsort(kind="stable"))
        found, places, weights = _core.distinct_rows(rows, None, threads)
        assert np.array_equal(found, distinct)
        assert np.array_equal(places, inverse.ravel())
        assert np.array_equal(counts, weights) if weights is not None else len(set(counts)) == 1


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 2, 5, 33, 64, 65, 200]),
    st.integers(1, 5),
    st.sampled_from(["normal", "lattice", "half equal", "line", "constant column"]),
    st.booleans(),
)
def test_depths_against_their_definitions(
    seed: int, n: int, d: int, kind: str, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, d))
    if kind == "lattice":
        points = rng.integers(-2, 3, (n, d)).astype(float)
    elif kind == "half equal":
        points[: (n + 1) // 2] = points[0]
    elif kind == "line":
        points = points[:, :1] * np.ones(d)
    elif kind == "constant column":
        points[:, 0] = 3.0
    weights = rng.integers(1, 4, n) if weighted else None
    U = rng.standard_normal((12, d))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    queries = np.concatenate([points[:3], rng.standard_normal((4, d))])
    for asked, targets in ((None, points), (queries, queries)):
        largest = _core.largest_outlyingness(points, U, weights, asked)
        expected = np.asarray(naive.projection_depth(points, U, weights, targets))
        np.testing.assert_allclose(1 / (1 + largest), expected, rtol=1e-9, atol=1e-12)
        single = [_core.largest_outlyingness(points, u[None], weights, asked) for u in U]
        np.testing.assert_allclose(np.max(single, axis=0), largest, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("n", "count"), [(1500, 700), (33_000, 24)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_bits_for_any_threads(n: int, count: int, dtype: str, weighted: bool) -> None:
    rng = np.random.default_rng(n)
    points = rng.standard_normal((n, 3)).round(2).astype(dtype)
    U = rng.standard_normal((count, 3)).astype(dtype)
    weights = rng.integers(1, 9, n) if weighted else None
    queries = points[::9] + points.dtype.type(0.01)

    def everything(threads: int, memory_mb: float) -> list[np.ndarray]:
        found = [_core.project(points, U, threads)]
        for asked in (None, queries):
            found.append(_core.mean_rank_weight(points, U, weights, asked, threads, memory_mb))
            for kernel in (_core.smallest_halfspace, _core.largest_outlyingness):
                found.append(kernel(points, U, weights, asked, threads, memory_mb))
        return found

    expected = everything(1, 256.0)
    for threads, memory_mb in ((3, 256.0), (16, 4.0)):
        for one, other in zip(everything(threads, memory_mb), expected, strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("n", [5, 200])
def test_no_queries_have_no_depth(n: int) -> None:
    points = made("normal", (n, 2), "float64")
    for kernel in (_core.smallest_halfspace, _core.largest_outlyingness, _core.mean_rank_weight):
        assert kernel(points, np.eye(2), None, np.empty((0, 2))).shape == (0,)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.booleans(), st.booleans())
def test_centered_ranks(seed: int, n: int, tied: bool, single: bool) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(-2, 3, (n, 2)).astype(float) if tied else rng.standard_normal((n, 2))
    points = points.astype("float32" if single else "float64")
    weights = np.append(1, rng.integers(0, 9, n - 1))
    U = np.eye(2, dtype=points.dtype)[rng.integers(0, 2, int(rng.integers(1, 40)))]
    along = points @ U.T
    balance = (np.sign(along[:, None] - along[None]) * weights[None, :, None]).sum(axis=1)
    sizes, squares = _core.centered_rank_sums(points, U, weights)
    assert np.array_equal(sizes, np.abs(balance).sum(axis=1))
    assert np.array_equal(squares, (balance**2).sum(axis=1))


def test_mean_squared_ranks_are_the_mean_over_directions() -> None:
    rng = np.random.default_rng(0)
    points, shares = rng.standard_normal((9, 3)), rng.dirichlet(np.ones(9))
    distances = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    found = _core.mean_squared_rank(distances, shares, 2)
    along = points @ rng.standard_normal((3, 200_000))
    balance = [(np.sign(along[i] - along) * shares[:, None]).sum(axis=0) for i in range(9)]
    # The mean of 200,000 squares of at most one: five standard errors.
    np.testing.assert_allclose(found, np.square(balance).mean(axis=1), atol=5 / 200_000**0.5)
    # On a line the ranks are known.
    line = np.array([0.0, 1.0, 3.0])
    exact = _core.mean_squared_rank((line[:, None] - line) ** 2, np.full(3, 1 / 3))
    np.testing.assert_allclose(exact, [4 / 9, 0, 4 / 9], atol=1e-7)


# -- ranks along coordinate axes are those of the raw values, however the kernels scale them -------

MANY_ORDERS = {
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
    if kind in KINDS:
        return made(kind, (n, d), dtype)
    rng = np.random.default_rng(n + d)
    rows = np.stack([MANY_ORDERS[kind](rng, n, SMALL[dtype]) for _ in range(d)], axis=1).astype(
        dtype
    )
    assert np.isfinite(rows).all()
    return rows


def masses(column: np.ndarray, at: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the weight of the values below each entry of `at`, and that of the values up to it."""
    order = np.argsort(column)
    reached = np.concatenate([[0], np.cumsum(weights[order])])
    rising = column[order]
    return reached[np.searchsorted(rising, at)], reached[np.searchsorted(rising, at, side="right")]


@pytest.mark.parametrize("kind", [*KINDS, *MANY_ORDERS])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ranks_of_raw_values(kind: str, dtype: str) -> None:
    for n in SIZES[:-1]:
        check_ranks(kind, dtype, n, 1)
        check_ranks(kind, dtype, n, 3)
    # Three columns of this size take most of the time, so that few kinds have them.
    check_ranks(kind, dtype, SIZES[-1], 3 if kind in ("normal", "few values", "both signs") else 1)


def check_ranks(kind: str, dtype: str, n: int, d: int) -> None:
    """Check that ranks and halfspace masses along the axes are those of the sorted columns.

    `kind` is the name of the distribution of the columns.
    """
    points = columns(kind, n, d, dtype)
    axes = np.concatenate([np.eye(d), -np.eye(d)]).astype(dtype)
    others = np.concatenate([points[: min(n // 2, 600) + 1 : 2], columns(kind, 51, d, dtype)])
    for weights in (None, np.random.default_rng(n).integers(1, 5, n)):
        units = np.ones(n, np.int64) if weights is None else weights
        total = units.sum()
        for queries in (None, others):
            targets = points if queries is None else queries
            pairs = [masses(points[:, k], targets[:, k], units) for k in range(d)]
            sides = np.array([np.minimum(upto, total - below) for below, upto in pairs])
            doubled = [np.minimum(below + upto, 2 * total - below - upto) for below, upto in pairs]
            for threads in (1, 2):
                smallest = _core.smallest_halfspace(points, axes, weights, queries, threads)
                np.testing.assert_array_equal(smallest, sides.min(axis=0))
            mean = _core.mean_rank_weight(points, axes, weights, queries, 2)
            np.testing.assert_allclose(mean, np.mean(doubled, axis=0) / (2 * total), rtol=1e-14)
        if n < 1000:
            balance = np.stack(
                [np.add(*masses(points[:, k], points[:, k], units)) - total for k in range(d)]
            )
            sizes, squares = _core.centered_rank_sums(points, axes, units)
            np.testing.assert_array_equal(sizes, 2 * np.abs(balance).sum(axis=0))
            np.testing.assert_array_equal(squares, 2 * (balance**2).sum(axis=0))


@pytest.mark.parametrize("factor", [1e-42, 1e-30, 1.0, 1e30, 3e38])
@pytest.mark.parametrize("n", [40, 700])
def test_the_length_of_a_direction_has_no_influence(factor: float, n: int) -> None:
    points = np.random.default_rng(0).standard_normal((n, 3)).astype("float32")
    units = np.eye(3, dtype="float32")
    scaled = units * np.float32(factor)
    for kernel in (_core.smallest_halfspace, _core.largest_outlyingness):
        expected, found = kernel(points, units), kernel(points, scaled)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    expected, found = (_core.mean_rank_weight(points, U) for U in (units, scaled))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [40, 700])
def test_a_column_of_small_spread_counts_along_its_own_axis(n: int) -> None:
    rng = np.random.default_rng(0)
    small = rng.standard_normal(n).astype("float32")
    large = (1e9 * rng.standard_normal(n)).astype("float32")
    axis = np.array([[1, 0]], dtype="float32")
    expected = _core.largest_outlyingness(small[:, None], axis[:, :1].copy())
    found = _core.largest_outlyingness(np.column_stack([small, large]), axis)
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
    for options in ({}, {"weights": weights}, {"queries": table[:9] * 3}):
        scaled = dict(options)
        if "queries" in scaled:
            scaled["queries"] = scaled["queries"] * powers
        expected = _core.largest_outlyingness(table, units, **options)
        found = _core.largest_outlyingness(table * powers, units_scaled, **scaled)
        np.testing.assert_allclose(found, expected, rtol=64 * np.finfo(dtype).eps)


@pytest.mark.parametrize(("dtype", "size", "n", "seed"),
                         [("float64", 300, 100, 1872), ("float32", 37, 20, 365)])  # fmt: skip
def test_a_mad_whose_inverse_overflows(dtype: str, size: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.choice([-1, 1], (n, 3)) * 10.0 ** rng.uniform(-size, size, (n, 3))
    points = points.astype(dtype)
    weights = rng.integers(1, 4, n) if seed % 2 else np.ones(n, np.int64)
    found = _core.largest_outlyingness(points, np.eye(1, 3, dtype=dtype), weights)
    nearest_first = np.argsort(np.abs(points[:, 0] - np.median(np.repeat(points[:, 0], weights))))
    assert (np.diff(found[nearest_first].clip(max=1e30)) >= 0).all()


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
