"""Summaries against slow twins: counts, numbers picked out, digits; merged in any order."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth.chunked.rows import NO_MASSES, Frame, slabs
from isodepth.chunked.selection import digit_search
from isodepth.chunked.summaries import (
    Counts,
    Digits,
    Gathered,
    Intervals,
    distinct,
    exact_bincount,
    keys_of,
    values_of,
)
from isodepth.chunked.thresholds import level_ranks

cases = settings(max_examples=60, deadline=None)


def projections(seed: int, n: int, kind: str, dtype: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((3, n))
    if kind == "ties":
        values = np.rint(2 * values)
    return (values + 0.0).astype(dtype)


def numbers(values: np.ndarray, centers: np.ndarray | None) -> np.ndarray:
    return values if centers is None else np.abs(values - centers[:, None])


def along_axes(values: np.ndarray) -> Any:
    """Rows whose projections on three directions are the values (3, n)."""
    frame = Frame(np.zeros(3, values.dtype), 0, np.eye(3, dtype=values.dtype))
    ((_, found),) = slabs(np.ascontiguousarray(values.T), frame)
    return found


@cases
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 200),
    kind=st.sampled_from(["normal", "ties"]),
    dtype=st.sampled_from(["float32", "float64"]),
    folded=st.booleans(),
    weighted=st.booleans(),
    workspace=st.sampled_from([8, 40, 1000]),
    large=st.booleans(),
)
def test_gathered_and_counted(
    seed: int,
    n: int,
    kind: str,
    dtype: str,
    folded: bool,
    weighted: bool,
    workspace: int,
    large: bool,
) -> None:
    """In parts of fewer rows than a tile has, and of more."""
    values = projections(seed, n, kind, dtype)
    rng = np.random.default_rng(seed)
    masses = rng.integers(1, 5, n) if weighted else np.ones(n, dtype=np.int64)
    centers = np.array([0.0, 1.0, -0.5], dtype=dtype) if folded else None
    low = np.array([0.2, -1.0, 0.0], dtype=dtype)
    high = low + np.array([0.5, 3.0, 0.0], dtype=dtype)
    intervals = Intervals(low, high, centers)
    counts, gathered = [], []
    for _ in range(2):
        counts.append(Counts(intervals, 16))
        gathered.append(Gathered(intervals, workspace))
    size = 36 if large and workspace > 8 else 4
    for first in range(0, n, size):
        own = masses[first : first + size] if weighted else NO_MASSES
        for made in (counts, gathered):
            made[first // size % 2].take(along_axes(values[:, first : first + size]), own)
    counts[1].merge(counts[0])
    gathered[1].merge(pickle.loads(pickle.dumps(gathered[0])))
    looked_at = numbers(values, centers)
    for row in range(3):
        x = looked_at[row]
        inside = (x >= low[row]) & (x <= high[row])
        below = int(masses[x < low[row]].sum())
        assert counts[1].counts[row, 0] == below
        assert counts[1].counts[row, 1:].sum() == masses[inside].sum()
        expected = distinct(x[inside], masses[inside])
        if gathered[1].too_many[row]:
            assert len(expected[0]) > workspace // 4
        else:
            assert gathered[1].below[row] == below
            for found, wanted in zip(gathered[1].numbers(row), expected, strict=True):
                assert np.array_equal(found, wanted)


@cases
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 120),
    kind=st.sampled_from(["normal", "ties"]),
    dtype=st.sampled_from(["float32", "float64"]),
    weighted=st.booleans(),
)
def test_any_rank_by_digits(seed: int, n: int, kind: str, dtype: str, weighted: bool) -> None:
    values = projections(seed, n, kind, dtype)
    rng = np.random.default_rng(seed)
    masses = rng.integers(1, 2**40, n) if weighted else np.ones(n, dtype=np.int64)
    repeated = [np.argsort(row) for row in values]
    ranks = rng.integers(1, int(masses.sum()) + 1, 3)

    def counts(prefixes: np.ndarray, shift: int) -> np.ndarray:
        states = [Digits(prefixes, shift, None) for _ in range(2)]
        for part, state in zip((slice(0, n // 2), slice(n // 2, n)), states, strict=True):
            if part.stop > part.start:
                own = masses[part] if weighted else NO_MASSES
                state.take(along_axes(values[:, part]), own)
        states[0].merge(states[1])
        return states[0].counts

    found = digit_search(counts, np.dtype(dtype), ranks)
    for row, order in enumerate(repeated):
        upto = np.cumsum(masses[order])
        assert found[row] == values[row, order[np.searchsorted(upto, ranks[row])]]


@pytest.mark.parametrize("weighted", [False, True])
def test_one_set_of_numbers_in_many_intervals(weighted: bool) -> None:
    rng = np.random.default_rng(4)
    values, masses = rng.standard_normal(300), rng.integers(1, 9, 300)
    own = masses if weighted else NO_MASSES
    units = masses if weighted else np.ones(300, dtype=np.int64)
    low = np.linspace(-2, 1.5, 20)
    intervals = Intervals(low, low + rng.uniform(0, 1, 20))
    counts, gathered = Counts(intervals, 32), Gathered(intervals, 1000)
    for made in (counts, gathered):
        made.add(values, own)
    for row in range(20):
        inside = (values >= low[row]) & (values <= intervals.high[row])
        assert counts.counts[row, 0] == gathered.below[row] == units[values < low[row]].sum()
        assert counts.counts[row, 1:].sum() == units[inside].sum()
        expected = distinct(values[inside], units[inside])
        for found, wanted in zip(gathered.numbers(row), expected, strict=True):
            assert np.array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_keys_are_in_the_order_of_numbers(dtype: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal(500) * 10.0 ** rng.integers(-30, 30, 500)
    values = np.sort(np.concatenate([values, [0.0, -0.0, 1e-45, -1e-45]]).astype(dtype))
    keys = keys_of(values)
    assert (np.diff(keys.astype(object)) >= 0).all()
    assert np.array_equal(values_of(keys), values)


def test_sums_of_large_masses_are_exact() -> None:
    masses = np.array([2**60 + 1, 2**60 + 3, 5], dtype=np.int64)
    found = exact_bincount(np.array([1, 1, 0]), masses, 3)
    assert found.tolist() == [5, 2**61 + 4, 0]


@pytest.mark.parametrize("total", [1, 7, 10, 12345, 2**40 + 1])
def test_levels_and_the_masses_that_exceed_them(total: int) -> None:
    betas = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.899999])
    for beta, rank in zip(betas, level_ranks(betas, total), strict=True):
        assert np.float64(rank) / total > beta
        assert rank == 1 or np.float64(rank - 1) / total <= beta
