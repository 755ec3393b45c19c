"""The compiled products and the walk over two samples against their naive twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from twins import naive

from isodepth.engine import gap_passes
from isodepth.engine.compiled.lanes import lanes
from isodepth.engine.compiled.tiles import project, tiles_of
from isodepth.engine.threads import Resources

DTYPES = ["float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 3, 7, 8, 9, 15, 16, 17, 100])
@pytest.mark.parametrize("d", [1, 2, 5, 40])
def test_products(n: int, d: int, dtype: str) -> None:
    rng = np.random.default_rng(n * 100 + d)
    points = rng.standard_normal((n, d)).astype(dtype)
    for count in (1, 2, 4, 5, 11):
        rows = rng.standard_normal((count, d)).astype(dtype)
        out = np.full((count, n), np.nan, dtype=dtype)
        project(tiles_of(points), rows, out)
        expected = [[naive.dot(u, x) for x in points] for u in rows]
        # d roundings of a sum whose terms are at most |u| |x| together.
        sizes = np.linalg.norm(rows, axis=1)[:, None] * np.linalg.norm(points, axis=1)
        assert (np.abs(out - expected) <= d * np.finfo(dtype).eps * sizes).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_product_has_the_same_bits_wherever_the_point_stands(dtype: str) -> None:
    rng = np.random.default_rng(0)
    point, rows = rng.standard_normal(13).astype(dtype), rng.standard_normal((7, 13)).astype(dtype)
    out = np.empty((7, 37), dtype=dtype)
    project(tiles_of(np.tile(point, (37, 1))), rows, out)
    assert (out == out[:, :1]).all()
    for k, row in enumerate(rows):
        alone = np.empty((1, 37), dtype=dtype)
        project(tiles_of(np.tile(point, (37, 1))), row[None], alone)
        assert (alone[0] == out[k]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_tiles(dtype: str) -> None:
    width = lanes(dtype)
    rows = np.arange(2 * (width + 3), dtype=dtype).reshape(-1, 2)
    values, starts = tiles_of(rows)
    assert starts.tolist() == [0, 3]
    assert np.array_equal(values[0].T, rows[:width])
    assert np.array_equal(values[1].T, rows[3:])
    values, starts = tiles_of(rows[:2])
    assert starts.tolist() == [0]
    assert np.array_equal(values[0].T, rows[[0] + [1] * (width - 1)])


@st.composite
def walks(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Small integers, so that products are exact and ties are frequent."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m, d = draw(st.integers(1, 40)), draw(st.integers(1, 40)), draw(st.integers(1, 4))
    size = draw(st.sampled_from([1, 3, 1000]))
    x, y = rng.integers(-size, size + 1, (n, d)), rng.integers(-size, size + 1, (m, d))
    U = rng.integers(-3, 4, (draw(st.integers(1, 40)), d))
    n_levels = draw(st.integers(1, 12))
    stops = [np.sort(rng.integers(1, k + 1, n_levels)) for k in (n, m)]
    return x, y, U, *stops


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 5, 1024])
@given(case=walks())
@settings(max_examples=60, deadline=None)
@example(case=(np.ones((3, 2)), np.ones((2, 2)), np.ones((17, 2)), np.array([3]), np.array([2])))
def test_walk(dtype: str, rows: int, case: tuple[np.ndarray, ...]) -> None:
    x, y, U, stops_x, stops_y = case
    stops = stops_x.astype(np.int64), stops_y.astype(np.int64)
    with pytest.MonkeyPatch.context() as patch:
        # Chunks of a few rows, so that they end in the middle of levels and of groups of rows.
        patch.setattr(gap_passes, "_FEWEST_ROWS", rows)
        patch.setattr(gap_passes, "_MOST_ROWS", rows)
        gaps, where = gap_passes.search_gaps(
            x.astype(dtype), y.astype(dtype), *stops, U.astype(float), Resources(n_jobs=1)
        )
    assert list(zip(gaps, where, strict=True)) == naive.walked_gaps(x, y, U, stops_x, stops_y)
