"""Support functions and gaps of regions, compared with slow reference implementations."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from twins import naive, naive_gaps, stepwise_refinement

from isodepth import _core as core
from isodepth.base.compiled import Resources
from isodepth.geometry import regions

DTYPES = ["float32", "float64"]
N_JOBS = (1, 3, 16)
#: Sizes of subnormal numbers, of numbers whose squares underflow, of 1, and of large numbers.
SCALES = {"float32": [1e-42, 1e-20, 1.0, 1e30], "float64": [1e-310, 1e-200, 1.0, 1e300]}


class Case(NamedTuple):
    x: np.ndarray
    y: np.ndarray
    sizes: tuple[np.ndarray, np.ndarray]
    U: np.ndarray

    @property
    def rounding(self) -> float:
        """Bound on the rounding error of a difference of two sums of d products."""
        d = self.x.shape[1]
        size = max(np.abs(self.x).max(), np.abs(self.y).max()) * np.abs(self.U).max()
        info = np.finfo(self.x.dtype)
        return 4 * d * d * (info.eps * float(size) + float(info.smallest_subnormal))


@st.composite
def cases(draw: st.DrawFn, dtype: str, exact: bool = False) -> Case:
    """Draw random, tied or degenerate rows; if `exact`, small integers with exact products."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m, d = draw(st.integers(1, 200)), draw(st.integers(1, 200)), draw(st.integers(1, 5))
    kind = "tied" if exact else draw(st.sampled_from(["random", "tied", "equal", "flat"]))
    x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    if kind == "tied":
        size = draw(st.sampled_from([1, 3, 1000]))
        x, y = rng.integers(-size, size + 1, (n, d)), rng.integers(-size, size + 1, (m, d))
    elif kind == "equal":
        x[:], y[:] = x[0], x[0]
    elif kind == "flat":
        x[:, 0] = y[:, 0] = 0.0
    scale = 1.0 if exact else draw(st.sampled_from(SCALES[dtype]))
    U = rng.integers(-3, 4, (draw(st.integers(1, 40)), d))
    n_levels = draw(st.integers(1, 12))
    sizes = tuple(np.sort(rng.integers(1, k + 1, n_levels)) for k in (n, m))
    return Case((x * scale).astype(dtype), (y * scale).astype(dtype), sizes, U.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("zeros", [0, 300])
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_largest_gaps_and_their_directions(dtype: str, zeros: int, data: st.DataObject) -> None:
    """Gaps and codes of the maximizing directions equal those of plain loops.

    Code k is direction k, and -1 - k its opposite. With 300 more columns, the core processes chunks
    of only 64 rows.
    """
    x, y, sizes, U = data.draw(cases(dtype, exact=True))
    expected = naive.walked_gaps(x, y, U, *sizes)
    x, y, U = (np.pad(rows, ((0, 0), (0, zeros))) for rows in (x, y, U))
    gaps, codes = core.gaps(x, y, *sizes, U, math.inf, 1, 256.0)
    assert list(zip(gaps, codes, strict=True)) == expected


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("zeros", [0, 300])
@given(data=st.data(), q=st.sampled_from([1.0, 1.5, 2.0, 7.0, 300.0, math.inf]))
@settings(max_examples=40, deadline=None)
def test_gaps_of_any_order(dtype: str, zeros: int, q: float, data: st.DataObject) -> None:
    case = data.draw(cases(dtype))
    sizes = case.sizes
    x, y, U = (np.pad(rows, ((0, 0), (0, zeros))) for rows in (case.x, case.y, case.U))
    gaps, codes = core.gaps(x, y, *sizes, U, q, 1, 256.0)
    swapped = core.gaps(y, x, *sizes[::-1], U, q, 1, 256.0)
    assert (gaps == swapped[0]).all()
    assert (codes == swapped[1]).all()
    h_x, h_y = (
        naive_gaps.supports(r.astype(float), s, U) for r, s in zip((x, y), sizes, strict=True)
    )
    expected = naive_gaps.gaps(h_x, h_y, q)
    np.testing.assert_allclose(gaps, expected, rtol=1e-12, atol=case.rounding)
    column = np.where(codes >= 0, codes, len(U) - 1 - codes)
    named = np.abs(h_x - h_y)[np.arange(len(codes)), column]
    np.testing.assert_allclose(
        named, np.abs(h_x - h_y).max(axis=1), rtol=1e-12, atol=2 * case.rounding
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("out", DTYPES)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_supports(dtype: str, out: str, data: st.DataObject) -> None:
    case = data.draw(cases(dtype))
    x, _, (sizes, _), U = case
    found = np.empty((len(sizes), 2 * len(U)), dtype=dtype)
    regions.write_supports(x, sizes, U, found, Resources(1))
    expected = naive_gaps.supports(x.astype(float), sizes, U)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=case.rounding)
    located = regions.support_rows(x, sizes, U)
    np.testing.assert_allclose(located.tops, found[:, : len(U)], rtol=1e-12, atol=case.rounding)
    np.testing.assert_allclose(-located.lows, found[:, len(U) :], rtol=1e-12, atol=case.rounding)
    assert (located.top_rows < sizes[:, None]).all()
    for values, rows in ((located.tops, located.top_rows), (located.lows, located.low_rows)):
        along = np.einsum("lkd,kd->lk", x[rows].astype(float), U.astype(float))
        np.testing.assert_allclose(values, along, rtol=1e-12, atol=case.rounding)
    with np.errstate(over="ignore"):
        stored = np.empty(found.shape, dtype=out)
        regions.write_supports(x, sizes, U, stored, Resources(1))
        np.testing.assert_array_equal(stored, found.astype(out))


def test_of_equal_rows_the_first_is_named() -> None:
    rows = np.array([[0.0], [1.0], [-1.0], [1.0], [2.0], [-1.0]])
    found = regions.support_rows(rows, np.arange(1, 7), np.eye(1))
    assert found.top_rows.ravel().tolist() == [0, 1, 1, 1, 4, 4]
    assert found.low_rows.ravel().tolist() == [0, 0, 2, 2, 2, 2]


def test_a_prefix_without_rows_has_no_support() -> None:
    out = np.empty((2, 2))
    regions.write_supports(np.array([[3.0]]), np.array([0, 1]), np.eye(1), out, Resources(1))
    assert out.tolist() == [[-math.inf, -math.inf], [3.0, -3.0]]


@pytest.mark.parametrize("dtype", DTYPES)
@given(seed=st.integers(0, 2**32), n_levels=st.integers(1, 5), d=st.integers(1, 6))
@settings(max_examples=30, deadline=None)
@example(seed=0, n_levels=1, d=1)
def test_climbers_attain_more_than_their_starts(
    dtype: str, seed: int, n_levels: int, d: int
) -> None:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(d + 2, 200, 2)
    x, y = (rng.standard_normal((k, d)).astype(dtype) for k in (n, m))
    y += rng.standard_normal(d).astype(dtype) * rng.choice([0.0, 1.0])
    sizes = tuple(np.sort(rng.integers(1, k + 1, n_levels)) for k in (n, m))
    starts = rng.standard_normal((4, d))
    starts /= np.linalg.norm(starts, axis=1, keepdims=True)
    both = np.concatenate([starts, -starts])
    found = stepwise_refinement.ascent(x, y, sizes, both, n_ascents=64, steps=20, slack=1e-6)
    assert 1 <= len(found) <= 64
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-12)
    before, after = (regions.level_gaps(x, y, sizes, U)[0] for U in (starts, found))
    tolerance = 16 * d * np.finfo(dtype).eps * max(np.abs(x).max(), np.abs(y).max())
    assert (after >= before - tolerance).all()
    few = stepwise_refinement.ascent(x, y, sizes, starts, n_ascents=3, steps=0, slack=1e-6)
    assert 1 <= len(few) <= 3


def sample_of(dtype: str, tied: bool) -> tuple[np.ndarray, np.ndarray, tuple, np.ndarray]:
    rng = np.random.default_rng(7)
    x, y = rng.standard_normal((2, 4000, 3))
    if tied:
        x, y = np.rint(x * 3), np.rint(y * 3)
    U = rng.standard_normal((517, 3))
    sizes = np.sort(rng.integers(1, 4001, (2, 3000)), axis=1)
    return x.astype(dtype), y.astype(dtype), tuple(sizes), U.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("q", [1.5, 2.0, math.inf])
def test_same_bits_for_any_number_of_threads(dtype: str, tied: bool, q: float) -> None:
    x, y, sizes, U = sample_of(dtype, tied)
    few = sizes[0][::100], sizes[1][::100]
    found = set()
    for n_jobs in N_JOBS:
        for memory_mb in (0.3, 256.0):
            resources = Resources(n_jobs, memory_mb)
            gaps = regions.level_gaps(x, y, sizes, U, resources, q)
            supports = np.empty((len(few[0]), 2 * len(U)))
            regions.write_supports(x, few[0], U, supports, resources)
            options = {"n_ascents": 32, "steps": 20, "slack": 1e-3, "resources": resources}
            tops = stepwise_refinement.ascent(x, y, few, np.eye(3), **options)
            found.add(b"".join(a.tobytes() for a in (*gaps, supports, tops)))
    assert len(found) == 1


def test_codes_hold_number_and_sign() -> None:
    indices, signs = np.array([0, 0, 1, 1, 7]), np.array([1.0, -1.0, 1.0, -1.0, -1.0])
    codes = np.array([0, -1, 1, -2, -8])
    assert np.array_equal(regions.decode(codes), [indices, signs])
    vectors = np.arange(1.0, 9.0)[:, None] * [1.0, 2.0]
    found = regions.signed_directions(vectors, codes)
    assert found.tolist() == [[1, 2], [-1, -2], [2, 4], [-2, -4], [-8, -16]]
