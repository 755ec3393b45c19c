"""Compiled loops against NumPy, on data made to be awkward for them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from isodepth.engine.blocks import FEW
from isodepth.engine.compiled.halfspace_bounds import WORTH_BOUNDS, bounds_workspace
from isodepth.engine.compiled.ranks import halfspace_block, rank_weight_block
from isodepth.engine.compiled.small_spread import medians_and_mads
from isodepth.engine.compiled.sorting import STRETCH, sort_with_index, sort_workspace
from isodepth.engine.compiled.spread import (
    median_and_mad,
    spread_workspace,
    weighted_median,
)
from isodepth.engine.ordering import order_of


def awkward(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Values (n,) that stress one weakness of a bucket sort or of a bracketing selection."""
    if kind == "normal":
        return rng.standard_normal(n)
    if kind == "cauchy":
        return rng.standard_cauchy(n)
    if kind == "constant":
        return np.full(n, 0.1)
    if kind == "two values":
        return rng.integers(0, 2, n).astype(float)
    if kind == "few values":
        return rng.integers(0, 7, n) / 3
    if kind == "tight clusters":
        return rng.integers(0, 3, n) + 1e-12 * rng.standard_normal(n)
    if kind == "one far away":
        return np.append(rng.standard_normal(n - 1), 1e300)
    if kind == "tiny":
        return 1e-300 * rng.standard_normal(n)
    if kind == "rising":
        return np.sort(rng.standard_normal(n))
    if kind == "falling":
        return np.sort(rng.standard_normal(n))[::-1].copy()
    if kind == "periodic":
        # The evenly spaced elements looked at first are all alike.
        return np.where(np.arange(n) % 8 == 0, 5.0, rng.standard_normal(n))
    raise AssertionError(kind)


KINDS = [
    "normal", "cauchy", "constant", "two values", "few values", "tight clusters", "one far away",
    "tiny", "rising", "falling", "periodic",
]  # fmt: skip
SIZES = [1, 2, 3, 4, 5, 7, 24, 25, 63, 64, 65, 100, 1000, 20_001, 100_003]


def sort(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    workspace = sort_workspace(len(values), values.dtype)
    sort_with_index(values, workspace)
    return workspace.keys, workspace.index


def spread(values: np.ndarray) -> tuple[float, float]:
    workspace = spread_workspace(len(values), values.dtype)
    if len(values) <= FEW:
        middle, mad, other = np.empty((3, 2), dtype=values.dtype)
        medians_and_mads(np.column_stack([values, -values]), middle, mad, other)
        assert middle[1] == -middle[0]
        assert mad[1] == mad[0]
        return middle[0], mad[0]
    return median_and_mad(values, workspace)


def weighted(values: np.ndarray, masses: np.ndarray) -> float:
    return weighted_median(
        values, masses, np.int64(masses.sum()), sort_workspace(len(values), values.dtype)
    )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sort_with_index(kind: str, n: int, dtype: str) -> None:
    with np.errstate(over="ignore"):
        values = awkward(kind, n, np.random.default_rng(n)).astype(dtype)
    values = np.nan_to_num(values)
    keys, index = sort(values)
    np.testing.assert_array_equal(keys, np.sort(values))
    np.testing.assert_array_equal(values[index], keys)
    np.testing.assert_array_equal(np.sort(index), np.arange(n))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_median_and_mad(kind: str, n: int, dtype: str) -> None:
    with np.errstate(over="ignore"):
        values = awkward(kind, n, np.random.default_rng(n)).astype(dtype)
    values = np.nan_to_num(values)

    # The mean of the two middle elements, halves added: what the loops promise to the bit.
    def middle(v: np.ndarray) -> np.floating:
        v = np.sort(v)
        half = v.dtype.type(0.5)
        return half * v[(n - 1) // 2] + half * v[n // 2]

    found, mad = spread(values)
    assert found == middle(values)
    assert mad == middle(np.abs(values - middle(values)))


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    arrays(np.float64, st.integers(1, 130), elements=st.integers(-4, 4).map(float)),
    st.data(),
)
def test_weighted_median_is_the_median_of_repeated_values(
    values: np.ndarray, data: st.DataObject
) -> None:
    masses = data.draw(arrays(np.int64, len(values), elements=st.integers(0, 5)))
    masses[0] += 1
    assert weighted(values, masses) == np.median(np.repeat(values, masses))


@settings(max_examples=300, derandomize=True, deadline=None)
@given(arrays(np.float64, st.integers(1, 200), elements=st.floats(-1e150, 1e150)))
def test_sort_any_values(values: np.ndarray) -> None:
    keys, index = sort(values)
    np.testing.assert_array_equal(keys, np.sort(values))
    np.testing.assert_array_equal(values[index], keys)


def projections_of(kind: str, n: int, dtype: str, n_directions: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    points = np.column_stack([awkward(kind, n, rng) for _ in range(3)])
    return np.nan_to_num((rng.standard_normal((n_directions, 3)) @ points.T).astype(dtype))


def counted(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many values are below each, and how many up to it."""
    rising = np.sort(row)
    return np.searchsorted(rising, row), np.searchsorted(rising, row, side="right")


# Around the size from which points are ranked by bounds, and the size of a stretch; of the last
# even the few that are ranked are more than a stretch.
@pytest.mark.parametrize(
    "n", [1, 2, 50, WORTH_BOUNDS - 1, WORTH_BOUNDS, 1000, STRETCH + 1, 7 * STRETCH]
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_halfspace_masses(kind: str, n: int, dtype: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        projections = projections_of(kind, n, dtype, 40 if n < 10_000 else 20)
    expected = np.full(n, n + 1)
    for row in projections:
        below, upto = counted(row)
        expected = np.minimum(expected, np.minimum(upto, n - below))
    best, none = np.full(n, n + 1, dtype=np.int32), np.empty(0, dtype=np.int64)
    rooms = sort_workspace(n, projections.dtype), bounds_workspace(n, projections.dtype)
    for block in np.array_split(projections, 3):
        halfspace_block(block, none, np.int64(n), *rooms, best, 0, none)
    np.testing.assert_array_equal(best, expected)


@pytest.mark.parametrize("n", [1, 2, 50, 1000, STRETCH, STRETCH + 1, 100_003])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rank_weights(kind: str, n: int, dtype: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        projections = projections_of(kind, n, dtype, 4)
    expected = np.zeros(n, dtype=np.int64)
    for row in projections:
        twice = np.add(*counted(row))
        expected += np.minimum(twice, 2 * n - twice)
    sums, none = np.zeros(n, dtype=np.int64), np.empty(0, dtype=np.int64)
    workspace = sort_workspace(n, projections.dtype)
    rank_weight_block(projections, none, np.int64(n), np.int64(0), workspace, sums)
    np.testing.assert_array_equal(sums, expected)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(kind, "float64") for kind in KINDS]
    # The others are out of the range of float32.
    + [(kind, "float32") for kind in KINDS if kind not in ("one far away", "tiny")],
)
@pytest.mark.parametrize("n", [1, 50, 4096, 4097, 100_003])
def test_order_of(kind: str, n: int, dtype: str) -> None:
    values = awkward(kind, n, np.random.default_rng(n)).astype(dtype)
    order = order_of(values)
    assert order.dtype == np.intp
    assert np.array_equal(np.sort(order), np.arange(n))
    assert np.array_equal(values[order], np.sort(values))
    # A column of a table is not contiguous.
    assert np.array_equal(order_of(np.column_stack([values, values])[:, 0]), order)
