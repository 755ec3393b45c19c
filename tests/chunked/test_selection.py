"""Order statistics in chunks against sorting all numbers, from any bracket."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from chunked.streaming import KINDS, points_of
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isodepth.chunked.rows import Rows
from isodepth.chunked.selection import (
    Numbers,
    Pilot,
    Selection,
    keys_of,
    level_ranks,
    values_of,
)


def rows_of(points: np.ndarray, masses: np.ndarray | None) -> Rows:
    return Rows(points, None, masses, 0, np.zeros(3 + points.shape[1], dtype=np.uint64))


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(1, 200),
    seed=st.integers(0, 10**6),
    dtype=st.sampled_from(["float32", "float64"]),
    weighted=st.booleans(),
    numbers=st.integers(1, 3000),
    size=st.sampled_from([1, 30, 1000]),
    bracket=st.sampled_from(["right", "below", "above", "all", "empty", "one"]),
    folded=st.booleans(),
)
@example("line", 1, 1, "float32", False, 1, 1, "below", False)  # cells reach beyond the bracket
def test_any_rank_from_any_bracket(
    kind: str, n: int, seed: int, dtype: str, weighted: bool, numbers: int, size: int, bracket: str,
    folded: bool,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    points = points_of(kind, n, 3, seed, dtype)
    masses = rng.integers(1, 9, n) if weighted else None
    units = np.ones(n, dtype=np.int64) if masses is None else masses
    total = int(units.sum())
    ranks = np.sort(rng.integers(0, total, (3, 2)), axis=1)
    centers = points[n // 2].copy() if folded else None
    values = points.T if centers is None else np.abs(points.T - centers[:, None])
    expected = np.array(
        [np.sort(np.repeat(v, units))[own] for v, own in zip(values, ranks, strict=True)]
    )
    low, high = expected[:, 0].copy(), np.nextafter(expected[:, 1], np.inf, dtype=dtype)
    spread = np.ptp(values, axis=1).astype(dtype) + 1
    if bracket == "below":
        low, high = low - 3 * spread, low - 2 * spread
    elif bracket == "above":
        low, high = high + 2 * spread, high + 3 * spread
    elif bracket == "all":
        low, high = np.full((2, 3), [[-np.inf], [np.inf]], dtype=dtype)
    elif bracket == "empty":
        high = low
    elif bracket == "one":
        high = np.nextafter(low, np.inf, dtype=dtype)

    def fold(work: Any) -> Any:
        # Two states, as two workers would have them.
        states = [work.start(), work.start()]
        for i, place in enumerate(range(0, n, size)):
            own = None if masses is None else masses[place : place + size]
            work.step(states[i % 2], rows_of(points[place : place + size], own), 1 + i % 2)
        work.merge(*states)
        return states[0]

    selection = Selection(fold, Pilot(points, masses), total, n, numbers, 1)
    directions = np.eye(3, dtype=dtype)
    sets = Numbers((np.zeros(3, dtype), 0), directions, centers)
    with mock.patch.object(Numbers, "guess", return_value=(low, high)):
        found = selection.order_statistics(sets, ranks)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_keys_are_in_the_order_of_numbers(dtype: str) -> None:
    rng = np.random.default_rng(0)
    some = rng.standard_t(0.3, 1000).clip(-1e30, 1e30)
    values = np.sort(np.concatenate([some, [-np.inf, np.inf, 0.0, 1e-40, -1e-40]]).astype(dtype))
    keys = keys_of(values)
    assert (np.diff(keys.astype(object)) >= 0).all()
    assert np.array_equal(values_of(keys, values.dtype), values)
    assert keys_of(np.array([-0.0], dtype)) == keys_of(np.array([0.0], dtype))
    steps = keys_of(np.nextafter(values[:-1], np.inf, dtype=dtype)) - keys[:-1]
    assert set(steps.tolist()) <= {1, 2}  # 2 across -0.0


@pytest.mark.parametrize("total", [1, 7, 10, 12345, 2**40 + 1])
def test_levels_and_the_masses_that_exceed_them(total: int) -> None:
    betas = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.9])
    for beta, rank in zip(betas, level_ranks(betas, total).tolist(), strict=True):
        assert (rank + 1) / total > beta
        assert rank == 0 or rank / total <= beta
