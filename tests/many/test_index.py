"""Nearest neighbors: exactly those of comparing with everything, for less work."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from twins import naive_tables

from isodepth import InvalidInputError, InvalidOptionError, Metric, RegionIndex, pairwise, tables
from isodepth.many.stack import TableStack


def make_stack(values: np.ndarray, p: float, normalize: bool = True) -> TableStack:
    """Return tables with the given values (N, L, W): the index knows nothing of regions."""
    n_levels, width = values.shape[1:]
    metric = Metric(
        p=p, levels=n_levels, n_directions=width // 2, refine=0, normalize=normalize, random_state=0
    )
    return TableStack(values, metric.signature, 2)


def brute_force(stack: TableStack, query: int, k: int) -> tuple[list[float], list[int]]:
    row = pairwise(stack[query : query + 1], stack)[0].tolist()
    places = naive_tables.nearest(row, k)
    return [row[i] for i in places], places


@seed(3)
@settings(max_examples=150, deadline=None)
@given(
    number=st.integers(0, 10**6),
    count=st.integers(1, 60),
    p=st.sampled_from([0.1, 0.5, 1.0, 2.0, 3.0, 7.5, float("inf")]),
    n_pivots=st.integers(1, 20),
    kind=st.sampled_from(["gaussian", "clustered", "lattice", "constant", "large"]),
    storage=st.sampled_from(["float64", "float32"]),
    normalize=st.booleans(),
)
def test_neighbors_are_those_of_brute_force(
    number, count, p, n_pivots, kind, storage, normalize
) -> None:
    rng = np.random.default_rng(number)
    shape = (count, int(rng.integers(1, 6)), 2 * int(rng.integers(1, 5)))
    values = rng.normal(size=shape)
    if kind == "clustered":
        values = 1e-3 * values + rng.normal(0, 10, (4, *shape[1:]))[rng.integers(0, 4, count)]
    elif kind == "lattice":  # equal distances and equal tables by the dozen
        values = rng.integers(0, 2, shape).astype(float)
    elif kind == "constant":
        values = np.ones(shape)
    elif kind == "large":  # rounding far larger than the distances between neighbors
        values = 1e8 + 1e-6 * values
    stack = make_stack(values.astype(storage), p, normalize)
    index = RegionIndex(stack, n_pivots=n_pivots)
    k = int(rng.integers(1, count + 1))
    query = int(rng.integers(count))
    found = index.query(stack[query], k)
    distances, places = brute_force(stack, query, k)
    assert found.indices.tolist() == places
    assert found.distances.tolist() == distances
    assert 0 <= found.pruned < 1


@pytest.fixture(scope="module")
def stack() -> TableStack:
    """Return the tables of 400 samples in ten groups."""
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 4, (10, 3))
    bags = [rng.normal(centers[i % 10], 1, (int(rng.integers(30, 60)), 3)) for i in range(400)]
    return tables(bags, levels=10, n_directions=30, random_state=0)


@pytest.mark.parametrize("k", [1, 5])
def test_most_of_the_work_is_pruned(stack: TableStack, k: int) -> None:
    index = RegionIndex(stack[:350])
    assert len(index) == 350
    shares = []
    for query in range(350, 400):
        found = index.query(stack[query], k)
        row = pairwise(stack[query : query + 1], stack[:350])[0].tolist()
        assert found.indices.tolist() == naive_tables.nearest(row, k)
        shares.append(found.pruned)
    # Ten groups: a perfect bound would leave one group and the pivots, 0.15 of the work.
    assert np.mean(shares) > 0.5


def test_work_is_counted_honestly(stack: TableStack) -> None:
    # All neighbors wanted: nothing can be left out, and every pivot was looked at once.
    assert RegionIndex(stack[:50]).query(stack[0], 50).pruned == 0.0


def test_a_table_finds_itself(stack: TableStack) -> None:
    found = RegionIndex(stack).query(stack[123])
    assert found.indices.tolist() == [123]
    assert found.distances.tolist() == [0.0]


def test_a_plain_list_of_tables_will_do(stack: TableStack) -> None:
    few = list(stack[:40])
    a, b = RegionIndex(few).query(few[7], 3), RegionIndex(stack[:40]).query(few[7], 3)
    assert (a.indices == b.indices).all()
    assert (a.distances == b.distances).all()


def test_bad_queries(stack: TableStack) -> None:
    index = RegionIndex(stack[:10])
    other = Metric(levels=10, n_directions=30, random_state=1).table(np.vander(range(1, 7), 3))
    with pytest.raises(InvalidInputError, match="differ in seed"):
        index.query(other)
    with pytest.raises(InvalidInputError, match="must be a RegionTable"):
        index.query(np.eye(3))  # type: ignore[arg-type]
    with pytest.raises(InvalidOptionError, match="at most the number of indexed tables, 10"):
        index.query(stack[0], 11)
    with pytest.raises(InvalidOptionError, match="k must be an integer"):
        index.query(stack[0], 0)
    with pytest.raises(InvalidOptionError, match="n_pivots"):
        RegionIndex(stack, n_pivots=0)
    with pytest.raises(InvalidInputError, match=r"tables\[0\] is ndarray"):
        RegionIndex([np.eye(3)])  # type: ignore[list-item]
    with pytest.raises(InvalidInputError, match="tables is empty"):
        RegionIndex([])
    with pytest.raises(InvalidInputError, match="differ in seed"):
        RegionIndex([stack[0], other])
