"""Scaling before projection, and depth models of chunks (cells of ranks, medians, MADs)."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from chunked.streaming import fold_of, rows_of

from isodepth.metric.chunked import depths
from isodepth.metric.chunked.depths import ProjectionModel, RankCells, sized_numbers
from isodepth.metric.chunked.reading import Summary
from isodepth.metric.chunked.selection import RowValues, Selection


def summary_of(points: np.ndarray) -> Summary:
    summary = Summary(len(points))
    summary.add(0, points, None)
    return summary


def moved(numbers: RowValues, points: np.ndarray) -> np.ndarray:
    """Return the points as `numbers` centers and scales them before the projection."""
    points = points if numbers.of is None else numbers.of(points, 1)
    return np.ldexp(points - numbers.frame[0], -numbers.frame[1])


@pytest.mark.parametrize("bits", [9, 8, 7, 6, 5])
def test_rank_cells_of_a_pilot(bits: int) -> None:
    steps, few = np.arange(5.0), np.array([0.0, 0.0, 0.0, 0.0, 8.0])
    points = np.column_stack([4 * steps, few, np.full(5, 7.0), steps * 5e-324])
    numbers, pilot = RowValues((np.zeros(4), 0), np.eye(4)), rows_of(points, np.arange(1, 6))
    # 24 bytes for each of 2 * 8 * 2**bits cells on each of four directions
    memory = 24 * 16 * 2**bits * 4
    assert RankCells.around(numbers, pilot, memory - 1, 1).bits == max(5, bits - 1)
    cells = RankCells.around(numbers, pilot._replace(masses=None), memory, 1)
    assert cells.bits == bits
    assert cells.middles.tolist() == [8.0, 0.0, 7.0, 1e-323]
    # The MAD is 4; 0, replaced by the maximum 8; 0, replaced by 1; and subnormal.
    assert cells.scales.tolist() == [1 / 4, 1 / 8, 1.0, 1 / np.finfo(float).tiny]
    counts = cells.start()
    cells.step(counts, pilot, 1)
    assert counts.shape == (4, 16 << bits)
    # The values 8 and 12 are at the start of the first and second range above the median.
    assert counts[0, [8 << bits, 9 << bits]].tolist() == [3, 4]
    assert counts.sum(axis=1).tolist() == [15] * 4


@pytest.mark.parametrize(
    ("columns", "center", "exponent"),
    [
        # Without a center, the largest value becomes at least 1/2 and below 1.
        ([[-100.0, 1.0, 3.0], [-3.0, 1.0, 5.0]], [0, 0], 7),
        ([[-3.0, 1.0, 100.0], [-5.0, 1.0, 5.0]], [0, 0], 7),
        ([[1000.0, 1003.0, 1005.0], [-5.0, 1.0, 6.0]], [1003, 0], 3),
        ([[1000.0, 1005.0, 1006.0], [1000.0, 1001.0, 1002.0]], [1005, 1001], 3),
        # No value becomes subnormal: the smallest is 2**-1022, or 2**-1022 in its last digit.
        ([[-(2.0**-1002), 1.0, 2.0**30], [-1.0, 0.0, 1.0]], [0, 0], 20),
        ([[-(2.0**-1030), 1.0, 2.0**30], [-1.0, 0.0, 1.0]], [0, 0], 0),
        ([[-(2.0**-949), 1.0, 2.0**30], [1000.0, 1003.0, 1005.0]], [0, 1003], 20),
    ],
)
def test_scaling_by_a_power_of_two_for_ranks(
    columns: list[list[float]], center: list[int], exponent: int
) -> None:
    points = np.array(columns).T.copy()
    numbers = depths.rank_numbers(summary_of(points), points, np.eye(2))
    assert numbers.frame[0].tolist() == center
    assert numbers.frame[1] == exponent


def test_whitened_rows_are_centered_if_the_subtraction_is_exact() -> None:
    points = np.random.default_rng(0).normal(size=(500, 2)) + [1e6, 0.0]
    fold, axes = fold_of(points, None, 77), np.eye(2)
    numbers = depths.whitened_numbers(fold, summary_of(points), points, axes)
    assert np.median(moved(numbers, points)[:, 0]) == pytest.approx(0, abs=0.1)
    assert numbers.frame[0][1] == 0
    ((_, values),) = numbers.along(points, 1)
    assert np.cov(values) / np.var(values[0], ddof=1) == pytest.approx(axes, abs=1e-9)


def test_a_column_that_is_mostly_constant_is_scaled_up() -> None:
    points = np.column_stack([np.r_[np.full(60, 3.0), np.arange(40.0)], np.arange(100.0)])
    largest = np.abs(moved(sized_numbers(points, np.eye(2)), points)).max(axis=0)
    # The maximum distance 36 is divided by 2**(6 - 512).
    assert largest[0] == 36 * 2.0 ** (512 - 6)
    assert 1 < largest[1] < 2


@pytest.mark.parametrize("units", [[1.0, 2.0, 4.0], [1.0, 2.0**9, 2.0**-30]])
def test_projections_are_those_of_the_rows_up_to_a_power_of_two(units: list[float]) -> None:
    rng = np.random.default_rng(3)
    points, directions = rng.normal(size=(50, 3)) * units, rng.normal(size=(5, 3)) / units
    ((_, values),) = sized_numbers(points, directions).along(points, 1)
    exact = directions @ (points - points[0]).T
    ratios = (values - values[:, :1])[:, 1:] / exact[:, 1:]
    powers = np.rint(np.log2(ratios[:, :1]))
    assert ratios == pytest.approx(np.broadcast_to(2.0**powers, ratios.shape), rel=1e-9)


def test_projection_models_have_medians_and_scales() -> None:
    rng = np.random.default_rng(2)
    points = rng.permuted(np.tile(np.arange(101.0)[:, None], 2), axis=0)
    fold = mock.Mock(side_effect=fold_of(points, None, 30))
    selection = Selection(fold, rows_of(points, None), 0.1, 101, 101, 10**4, 1)
    model = ProjectionModel.fit(selection, points, np.eye(2))
    center, exponent = model.numbers.frame
    unit = 2.0**exponent / model.numbers.directions.diagonal()
    assert (model.middles * unit + center).tolist() == [50.0, 50.0]
    assert (model.mads * unit).tolist() == [25.0, 25.0]
    assert (model.scales == 0).all()
    # One pass for the medians and one for the MADs.
    assert fold.call_count == 2
