"""Projections of the compiled core, compared with NumPy matrix products."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isodepth import _core


@given(
    n=st.integers(1, 70),
    d=st.integers(1, 9),
    count=st.integers(1, 40),
    dtype=st.sampled_from([np.float32, np.float64]),
    n_threads=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_projections_are_products(
    n: int, d: int, count: int, dtype: type, n_threads: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    points, directions = (rng.standard_normal((rows, d)).astype(dtype) for rows in (n, count))

    found = _core.project(points, directions, n_threads)

    exact = directions.astype(np.longdouble) @ points.T.astype(np.longdouble)
    # The error of a sum of d products, in any order, is at most d roundings of the absolute terms.
    bound = d * np.finfo(dtype).eps * (np.abs(directions) @ np.abs(points).T)
    assert found.dtype == dtype
    assert (np.abs(found - exact) <= bound).all()
