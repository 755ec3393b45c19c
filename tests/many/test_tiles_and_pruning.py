"""Matrices of many tiles, and how much an index leaves out when the bounds are as good as exact."""

from __future__ import annotations

import numpy as np
import pytest
from twins import naive_tables

from isodepth import Metric, RegionIndex, pairwise
from isodepth.many.stack import TableStack


def stack_of(values: np.ndarray, p: float = 2.0) -> TableStack:
    """Return tables with the given values (N, L, W)."""
    n_levels, width = values.shape[1:]
    metric = Metric(p=p, levels=n_levels, n_directions=width // 2, refine=0, random_state=0)
    return TableStack(values, metric.signature, 2)


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (8, 9), (129, 65), (140, 3), (64, 128)])
def test_every_entry_is_that_of_its_two_tables(count: int, columns: int) -> None:
    rng = np.random.default_rng(count)
    mine, theirs = rng.normal(size=(count, 2, 4)), rng.normal(size=(columns, 2, 4))
    found = pairwise(stack_of(mine), stack_of(theirs), n_jobs=1)
    assert found.shape == (count, columns)
    for i in {0, 7, 63, 127, 128, count - 1} & set(range(count)):
        expected = [
            naive_tables.distance(mine[i].tolist(), table.tolist(), 2.0) for table in theirs
        ]
        np.testing.assert_allclose(found[i], expected, rtol=1e-13)


@pytest.mark.parametrize("count", [2, 65, 150])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_matrix_of_one_list_is_symmetric_and_whole(count: int, n_jobs: int) -> None:
    values = np.random.default_rng(count).normal(size=(count, 2, 4))
    stack = stack_of(values, p=1.0)
    out = np.full((count, count), np.nan)
    found = pairwise(stack, out=out, n_jobs=n_jobs)
    assert found is out
    np.testing.assert_array_equal(found, found.T)
    assert (np.diag(found) == 0).all()
    np.testing.assert_array_equal(found, pairwise(stack, stack))
    assert found[0, -1] == pytest.approx(
        naive_tables.distance(values[0].tolist(), values[-1].tolist(), 1.0)
    )


def test_large_tables_make_small_tiles() -> None:
    """Tables of more than half a megabyte are compared eight by eight, and the rest as well."""
    values = np.random.default_rng(0).normal(size=(19, 2, 40_000))
    found = pairwise(stack_of(values), n_jobs=1)
    for i, j in [(0, 18), (7, 8), (8, 16), (18, 1), (15, 15)]:
        expected = np.sqrt(np.mean(np.abs(values[i] - values[j]).max(axis=1) ** 2))
        assert found[i, j] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, float("inf")])
def test_tables_along_a_line_need_few_looks(p: float) -> None:
    """There the distances to the ends of the line say everything: the bound is the distance."""
    places = np.random.default_rng(1).permutation(400).astype(float)
    values = np.repeat(places, 6).reshape(400, 3, 2)
    stack = stack_of(values, p)
    index = RegionIndex(stack, n_pivots=2)
    for query in (5, 77, 399):
        found = index.query(stack[query], k=3)
        row = [abs(places[query] - place) for place in places]
        assert found.indices.tolist() == naive_tables.nearest(row, 3)
        np.testing.assert_allclose(found.distances, sorted(row)[:3], rtol=1e-9)
        # Two pivots, and for p >= 1 hardly more than the neighbors themselves. Below 1 the bound
        # of the p-th powers is weaker, but from both ends still close.
        assert found.pruned > (0.98 if p >= 1 else 0.8)


def test_pivots_lie_far_apart() -> None:
    """One far table, and one far on the other side: these two are the first to measure from."""
    places = np.concatenate([np.linspace(0, 1, 50), [100.0, -60.0]])
    stack = stack_of(np.repeat(places, 4).reshape(52, 2, 2))
    index = RegionIndex(stack, n_pivots=2)
    assert sorted(index._pivots.tolist()) == [50, 51]


def test_equal_tables_need_one_pivot() -> None:
    stack = stack_of(np.ones((9, 2, 2)))
    found = RegionIndex(stack, n_pivots=5).query(stack[3], k=9)
    assert found.indices.tolist() == list(range(9))
    assert found.distances.tolist() == [0.0] * 9
    assert len(RegionIndex(stack, n_pivots=5)._pivots) == 1


def test_levels_that_tell_most_are_looked_at_first() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(300, 5, 4)) * np.array([0.1, 10.0, 1.0, 0.01, 100.0])[:, None]
    # What counts is how the tables differ, not how large the numbers are that they share.
    values[:, 3] += 1000.0
    index = RegionIndex(stack_of(values))
    assert index._levels.tolist() == [4, 1, 2, 0, 3]


def test_a_stack_says_what_it_holds() -> None:
    stack = stack_of(np.ones((3, 2, 4)))
    assert repr(stack).startswith("TableStack(3 tables of RegionTable(2 levels, 2 x 2 directions")
    assert repr(stack[:1]).startswith("TableStack(1 tables of RegionTable(")
    assert stack[1].values.shape == (2, 4)
    assert len(stack[1:]) == 2
