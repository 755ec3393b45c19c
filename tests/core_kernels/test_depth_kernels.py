"""The kernels of the depths against slow definitions, on data made to be awkward for them."""

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
# Around the sizes at which another way is taken: 64 points, 128, and 2**15.
SIZES = [1, 2, 3, 17, 64, 65, 127, 128, 1000, 2**15 + 1]


def made(kind: str, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return KINDS[kind](np.random.default_rng(sum(shape)), shape).astype(dtype)


def middle(values: np.ndarray) -> np.floating:
    """The mean of the two middle elements, halves added: what the kernels promise to the bit."""
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
    """Exactly half of a weight that a double cannot count lies on either side."""
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
        assert np.array_equal(_core.take_rows(rows, places, threads), rows[places])
    with pytest.raises(IndexError):
        _core.take_rows(rows, np.array([70_001]))


def ranks(row: np.ndarray, at: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weight below each of `at`, and up to it."""
    order = row.argsort(kind="stable")
    reached = np.concatenate([[0], np.cumsum(weights[order])])
    rising = row[order]
    return reached[np.searchsorted(rising, at)], reached[np.searchsorted(rising, at, "right")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ranks_along_axes(kind: str, dtype: str) -> None:
    """Along the axes projections are the moved columns: no further rounding, all ties there are."""
    axes = np.eye(3, dtype=dtype)[[0, 1, 2, 0, 1]]
    for n in SIZES:
        points = made(kind, (n, 3), dtype)
        queries = np.concatenate([points[: min(n // 2, 600) + 1], made("normal", (5, 3), dtype)])
        center, exponent = _core.center_and_exponent(points)
        with np.errstate(over="ignore"):  # queries far from denormal points
            moved, moved_queries = (np.ldexp(p - center, -exponent) for p in (points, queries))
        for weights in (None, np.random.default_rng(n).integers(1, 5, n)):
            units = np.ones(n, np.int64) if weights is None else weights
            total = units.sum()
            for asked in (None, queries):
                at = moved if asked is None else moved_queries
                columns = [ranks(moved[:, k], at[:, k], units) for k in range(3)]
                around = [columns[k] for k in (0, 1, 2, 0, 1)]
                masses = np.array([np.minimum(upto, total - below) for below, upto in around])
                found, where = _core.smallest_halfspace(points, axes, weights, asked, True)
                assert np.array_equal(found, masses.min(axis=0))
                assert np.array_equal(where, masses.argmin(axis=0))
                assert np.array_equal(
                    _core.smallest_halfspace(points, axes, weights, asked)[0], found
                )
                twice = np.array([np.minimum(b + u, 2 * total - b - u) for b, u in around])
                expected = twice.sum(axis=0) / (2 * total * 5)
                np.testing.assert_allclose(
                    _core.mean_rank_weight(points, axes, weights, asked), expected, rtol=1e-14
                )


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
        largest, where = _core.largest_outlyingness(points, U, weights, asked, True)
        expected = np.asarray(naive.projection_depth(points, U, weights, targets))
        np.testing.assert_allclose(1 / (1 + largest), expected, rtol=1e-9, atol=1e-12)
        again, _ = _core.largest_outlyingness(points, U, weights, asked)
        np.testing.assert_allclose(again, largest, rtol=1e-15)
        for i, k in enumerate(where):
            one, _ = _core.largest_outlyingness(points, U[k : k + 1].copy(), weights, asked)
            assert one[i] == largest[i]


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
        found: list[np.ndarray] = []
        for asked in (None, queries):
            found.append(_core.mean_rank_weight(points, U, weights, asked, threads, memory_mb))
            for kernel in (_core.smallest_halfspace, _core.largest_outlyingness):
                found.extend(kernel(points, U, weights, asked, True, threads, memory_mb))
                found.append(kernel(points, U, weights, asked, False, threads, memory_mb)[0])
        return found

    expected = everything(1, 256.0)
    for threads, memory_mb in ((3, 256.0), (16, 4.0)):
        for one, other in zip(everything(threads, memory_mb), expected, strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("n", [5, 200])
def test_no_queries_have_no_depth(n: int) -> None:
    points = made("normal", (n, 2), "float64")
    for kernel in (_core.smallest_halfspace, _core.largest_outlyingness):
        found, where = kernel(points, np.eye(2), None, np.empty((0, 2)), True)
        assert found.shape == where.shape == (0,)
    assert _core.mean_rank_weight(points, np.eye(2), None, np.empty((0, 2))).shape == (0,)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.booleans(), st.booleans())
def test_centered_ranks(seed: int, n: int, tied: bool, single: bool) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(-2, 3, (n, 2)).astype(float) if tied else rng.standard_normal((n, 2))
    points = points.astype("float32" if single else "float64")
    weights = rng.integers(1, 9, n)
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
    # A line: ranks are known.
    line = np.array([0.0, 1.0, 3.0])
    exact = _core.mean_squared_rank((line[:, None] - line) ** 2, np.full(3, 1 / 3))
    np.testing.assert_allclose(exact, [4 / 9, 0, 4 / 9], atol=1e-7)
