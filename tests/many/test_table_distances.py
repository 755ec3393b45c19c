"""Distances between many region tables equal those of plain loops, for any blocks."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from twins import naive, naive_gaps, naive_tables

from isodepth import Metric, _core, pairwise
from isodepth.errors import InvalidInputError
from isodepth.metric import region_table as table_module
from isodepth.metric.region_table import RegionTables
from isodepth.metric.settings import used_settings


def stack_of(values: np.ndarray, p: float = 2.0) -> RegionTables:
    """Return N region tables with the given values (N, L, W), L levels and W support values."""
    n_levels, width = values.shape[1:]
    metric = Metric(p=p, levels=n_levels, n_directions=width // 2, refine=0, random_state=0)
    return RegionTables(values, used_settings(metric, metric.dtype, 0), 2, None)


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


def test_tables_are_compared_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "_BLOCK_BYTES", 1)
    values = np.random.default_rng(0).normal(size=(35, 2, 4000))
    found = pairwise(stack_of(values), n_jobs=1)
    for i, j in [(0, 34), (15, 16), (16, 31), (32, 1), (20, 20)]:
        expected = np.sqrt(np.mean(np.abs(values[i] - values[j]).max(axis=1) ** 2))
        assert found[i, j] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-300, 1e-42, 1.0, 1e30, 1e300])
@pytest.mark.parametrize("q", [1.0, 2.0, 3.5, math.inf])
@pytest.mark.parametrize("p", [0.5, 2.0, math.inf])
def test_means_of_any_order_and_size(dtype: str, scale: float, q: float, p: float) -> None:
    rng = np.random.default_rng(5)
    # The last two tables are equal. The sizes are not multiples of the length of a vector register.
    values = rng.normal(size=(7, 3, 37)) * np.array([1.0, 0.0, 5.0])[:, None]
    values[-1] = values[-2]
    with np.errstate(over="ignore", under="ignore"):
        values = (
            np.clip(values * scale, -1e38, 1e38).astype(dtype)
            if dtype == "float32"
            else values * scale
        )
    means = {"p": p, "q": q, "unit": 0.7, "length": 0.9}
    found = table_distances(values, None, **means)
    np.testing.assert_array_equal(found, found.T)
    assert (np.diag(found) == 0).all()
    assert found[-1, -2] == 0
    np.testing.assert_array_equal(table_distances(values, values[2:4], **means), found[:, 2:4])
    for i, j in ((0, 1), (2, 6), (5, 3)):
        level = naive_gaps.gaps(values[i].astype(float), values[j].astype(float), q) / 0.7
        shares = [Fraction(1, 3)] * 3
        expected = naive.power_mean(level.tolist(), shares, p)
        if p < math.inf:
            expected *= 0.9 ** (1 / p)
        # A difference of float32 numbers is rounded once where it is compared as such.
        rel = 1e-12 if dtype == "float64" else 2e-7
        assert found[i, j] == pytest.approx(
            expected, rel=rel, abs=1e-44 if dtype == "float32" else 0
        )


def table_distances(rows, columns, *, p, q, unit, length, n_threads=1):
    return _core.table_distances(rows, columns, p, q, length, n_threads) / unit


def test_same_bits_for_any_number_of_threads() -> None:
    values = np.random.default_rng(0).normal(size=(40, 5, 200))
    for q in (1.5, 2.0, math.inf):
        means = {"p": 2.0, "q": q, "unit": 1.0, "length": 1.0}
        found = {
            table_distances(values, None, **means, n_threads=n_jobs).tobytes()
            for n_jobs in (1, 2, 7, 16)
        }
        assert len(found) == 1


def test_distances_to_one_table() -> None:
    stack = stack_of(np.random.default_rng(1).normal(size=(20, 3, 6)))
    np.testing.assert_array_equal(stack.distances(stack[4], n_jobs=1), pairwise(stack)[4])
    with pytest.raises(InvalidInputError, match="must be a RegionTable, got ndarray"):
        stack.distances(np.eye(3))  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"differ in .*levels"):
        stack.distances(stack_of(np.ones((1, 2, 6)))[0])


def test_repr_and_slices_of_a_stack() -> None:
    stack = stack_of(np.ones((3, 2, 4)))
    assert repr(stack).startswith("RegionTables(3 tables of RegionTable(2 levels, 2 x 2 directions")
    assert repr(stack[:1]).startswith("RegionTables(1 tables of RegionTable(")
    assert stack[1].values.shape == (2, 4)
    assert len(stack[1:]) == 2
