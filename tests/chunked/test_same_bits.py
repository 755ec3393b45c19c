"""Samples in chunks give the bits of the path in memory, however they are cut and merged."""

from __future__ import annotations

import numpy as np
import pytest
from chunked.streaming import cut, small_scale, streamed_values
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth import Metric, scan
from isodepth.chunked.table import stream_table


def metric(**options: object) -> Metric:
    return Metric(
        **{"n_directions": 13, "levels": 7, "random_state": 3, "n_jobs": 2, **options}  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 7, 1000, 6000])
def test_chunk_sizes(size: int, dtype: str) -> None:
    points = np.random.default_rng(5).standard_t(2, (6000, 3)).astype(dtype)
    # A chunk of one row each for a part of them: 6000 would take a while.
    chunks = cut(points, size) if size > 1 else [*cut(points[:300], 1), points[300:]]
    expected = metric().table(points)
    with small_scale(few=4096, pilots=4096, workspace=200):
        found = stream_table(metric(), scan(chunks), in_memory=False).table
    assert np.array_equal(found.values, expected.values)
    assert found.signature == expected.signature


KINDS = ["normal", "lattice", "constant", "duplicates", "heavy", "two", "line"]


def points_of(kind: str, n: int, d: int, seed: int, dtype: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, d))
    if kind == "lattice":
        points = rng.integers(0, 3, (n, d)) * 1.0
    elif kind == "constant":
        points[:, 0] = 7.25
        points[: n * 2 // 3] = points[0]
    elif kind == "duplicates":
        points = points[rng.integers(0, max(1, n // 3), n)]
    elif kind == "heavy":
        points = rng.standard_t(0.5, (n, d)).clip(-1e6, 1e6)
    elif kind == "two":
        points = np.where(rng.random((n, 1)) < 0.5, -1e3, 1e3) + points
    elif kind == "line":
        points = points[:, :1] * np.arange(1, d + 1) + 1.0
    return points.astype(dtype)


@settings(max_examples=80, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(1, 150),
    d=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    dtype=st.sampled_from(["float32", "float64"]),
    size=st.sampled_from([1, 7, 40, 1000]),
    workspace=st.sampled_from([4, 30, 400]),
    weighted=st.sampled_from(["no", "integers", "floats"]),
    order=st.randoms(use_true_random=False),
)
def test_every_kind_of_sample(
    kind: str,
    n: int,
    d: int,
    seed: int,
    dtype: str,
    size: int,
    workspace: int,
    weighted: str,
    order,
) -> None:
    points = points_of(kind, n, d, seed, dtype)
    rng = np.random.default_rng(seed)
    weights = None
    joined = points
    options = {}
    if weighted != "no":
        weights = rng.integers(0, 4, n) * 1.0 if weighted == "integers" else rng.random(n)
        weights[0] = 1.0
        joined = np.column_stack([points.astype(np.float64), weights])
        options = {"weights": d, "dtype": dtype}
    chunks = cut(joined, size)
    order.shuffle(chunks)
    chunks.insert(len(chunks) // 2, joined[:0])
    with small_scale(workspace=workspace):
        expected = metric().table(points, weights).values
        found = streamed_values(metric(), chunks, **options)
    assert np.array_equal(found, expected)


def test_data_twice() -> None:
    """Every row twice is the sample once, also where no row is seen twice in one chunk."""
    points = np.random.default_rng(8).standard_normal((5000, 2))
    once = metric().table(points).values
    with small_scale(few=4096, pilots=4096):
        assert np.array_equal(streamed_values(metric(), [points, points]), once)


@pytest.mark.parametrize("memory_mb", [1, 4, 64])
def test_memory_and_threads_do_not_matter(memory_mb: float) -> None:
    points = np.random.default_rng(2).standard_normal((9000, 4))
    expected = metric().table(points).values
    for n_jobs in (1, 3):
        with small_scale(few=4096, pilots=4096, workspace=1 << 16):
            found = streamed_values(metric(memory_mb=memory_mb, n_jobs=n_jobs), [points])
        assert np.array_equal(found, expected)
