"""Rows picked by a hash: the same ones however the data arrive."""

from __future__ import annotations

from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth.core import row_sketch
from isodepth.core.row_sketch import SketchBuilder, few_rows, row_hashes
from isodepth.core.sample import Sample


def naive_few(points: np.ndarray, count: int) -> np.ndarray:
    """The rows of smallest (hash, row) among distinct ones, in lexicographic order."""
    hashes = {
        tuple(row): int(h) for row, h in zip(points.tolist(), row_hashes(points), strict=True)
    }
    kept = sorted(hashes, key=lambda row: (hashes[row], row))[:count]
    return np.array(sorted(kept), dtype=points.dtype).reshape(-1, points.shape[1])


def rows(seed: int, n: int, d: int, kind: str, dtype: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, d)) if kind == "normal" else rng.integers(0, 4, (n, d)) * 1.0
    return points.astype(dtype)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 80),
    d=st.integers(1, 4),
    kind=st.sampled_from(["normal", "lattice"]),
    dtype=st.sampled_from(["float32", "float64"]),
    capacity=st.integers(1, 40),
    cuts=st.lists(st.integers(0, 80), max_size=5),
)
def test_streams_and_samples_pick_the_same_rows(
    seed: int, n: int, d: int, kind: str, dtype: str, capacity: int, cuts: list[int]
) -> None:
    points = rows(seed, n, d, kind, dtype)
    expected = naive_few(points, capacity)
    with mock.patch.object(row_sketch, "FEW_ROWS", capacity):
        sample = Sample.of(points)
        assert np.array_equal(sample.points[few_rows(sample.points)], expected)
    ends = [0, *sorted(min(cut, n) for cut in cuts), n]
    chunks = [points[start:stop] for start, stop in pairwise(ends)]
    one = SketchBuilder(d, dtype, capacity)
    for chunk in chunks:
        one.add(chunk, None)
    other = SketchBuilder(d, dtype, capacity)
    for chunk in reversed(chunks):
        fresh = SketchBuilder(d, dtype, capacity)
        fresh.add(chunk, None)
        fresh.merge(other)
        other = fresh
    for sketch in (one.sketch(), other.sketch()):
        found, masses = sketch.lexicographic()
        assert np.array_equal(found, expected)
        # Every row that is kept has all of its mass.
        counts = [int((points == row).all(axis=1).sum()) for row in expected]
        assert masses.tolist() == counts
        assert sketch.complete == (sample.n_points <= capacity)


def test_powers_of_two_do_not_matter() -> None:
    points = np.random.default_rng(0).standard_normal((200, 3))
    points[::7, 1] = 0.0
    for power in (2.0**-30, 2.0**5):
        assert np.array_equal(row_hashes(points), row_hashes(points * power))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_small_integers_are_told_apart(dtype: str) -> None:
    grid = np.stack(np.meshgrid(*[np.arange(1, 12)] * 4), axis=-1).reshape(-1, 4).astype(dtype)
    hashes = row_hashes(grid)
    # Rows that are powers of two of each other share a hash; hardly any others do.
    reduced = {tuple(row // np.gcd.reduce(row & -row)) for row in grid.astype(int)}
    assert len(np.unique(hashes)) >= len(reduced)
    # Without a pattern: a share of the rows has as small a share of the hashes.
    assert abs(float((hashes < 2**63).mean()) - 0.5) < 5 * 0.5 / np.sqrt(len(grid))
