"""Order statistics of values in chunks equal those of sorted values, for any first bracket."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from chunked.streaming import KINDS, fold_of, points_of, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth.metric.chunked import selection
from isodepth.metric.chunked.selection import (
    BracketPass,
    RowValues,
    Selection,
    level_ranks,
    margin_of,
)

NUMBERS = RowValues((np.zeros(1), 0), np.eye(1))


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(1, 1000),
    seed=st.integers(0, 10**6),
    dtype=st.sampled_from(["float32", "float64"]),
    weighted=st.booleans(),
    least=st.sampled_from([200, 1000]),
    size=st.sampled_from([30, 1000]),
    bracket=st.sampled_from(["right", "below", "above", "all", "empty", "one"]),
    folded=st.booleans(),
)
def test_any_rank_from_any_bracket(
    kind: str, n: int, seed: int, dtype: str, weighted: bool, least: int, size: int, bracket: str,
    folded: bool,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    points = points_of(kind, n, 3, seed, dtype)
    masses = None
    if weighted:  # a few rows may have most of the mass
        masses = (2.0 ** rng.integers(1, rng.choice([5, 40]), n)).astype(np.int64)
    units = np.ones(n, dtype=np.int64) if masses is None else masses
    total = int(units.sum())
    ranks = rng.integers(0, total, (3, 1)) + rng.integers(0, 2, (3, 2)).cumsum(axis=1)
    ranks = ranks.clip(max=total - 1)
    centers = points[n // 2].copy() if folded else None
    values = points.T if centers is None else np.abs(points.T - centers[:, None])
    order = values.argsort(axis=1)
    upto = units[order].cumsum(axis=1)
    expected = np.array(
        [
            v[np.searchsorted(row, rank, "right")]
            for v, row, rank in zip(np.take_along_axis(values, order, 1), upto, ranks, strict=True)
        ]
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
        high = low.copy()
    elif bracket == "one":
        high = np.nextafter(low, np.inf, dtype=dtype)

    fold = mock.Mock(side_effect=fold_of(points, masses, size))
    selecting = Selection(fold, rows_of(points, None), 0.05, total, n, 1, 1)
    directions = np.eye(3, dtype=dtype)
    sets = RowValues((np.zeros(3, dtype), 0), directions, centers)
    with (
        mock.patch.object(Selection, "guess", return_value=(low, high)),
        mock.patch.object(selection, "_LEAST_NUMBERS", least),
    ):
        values = selecting.order_statistics(sets, ranks)
    assert np.array_equal(values, expected)
    assert fold.call_count < 40  # brackets shrink for any random rows


def test_a_pilot_brackets_order_statistics_for_one_pass() -> None:
    values = np.random.default_rng(0).permutation(np.arange(20_000.0))[:, None]
    works: list[BracketPass] = []
    run = fold_of(values, None, 3000)
    fold = mock.Mock(side_effect=lambda work: (works.append(work), run(work))[1])
    pilot = rows_of(np.arange(0.0, 20_000, 20)[:, None], None)
    # The pilot has every 20th value, and each value equals its rank. The bracket of the ranks 5000
    # and 5001 has the orders 0.25 - 0.07 and 0.25005 + 0.07.
    for most, shares in ((3360, [None]), (3359, [3359 / 3360, None]), (1, [1024 / 3360, None])):
        works.clear()
        selecting = Selection(fold, pilot, 0.07, 20_000, 20_000, most, 1)
        found = selecting.order_statistics(NUMBERS, np.array([[5000, 5001]]))
        assert found.tolist() == [[5000.0, 5001.0]]
        first = works[0]
        assert (first.low[0], first.high[0]) == (3600, np.nextafter(6400, np.inf))
        assert [work.share for work in works] == pytest.approx(shares)
        if len(shares) == 2:
            # The subset has 2801 * share of the 2801 values in the bracket. The new bracket has
            # the margin of error of a frequency in this subset on both sides.
            width = 2 * margin_of(2801 * first.share) * 2801
            assert works[1].high[0] - works[1].low[0] == pytest.approx(width, rel=0.1)


@pytest.mark.parametrize(
    ("low", "high"), [(100, 200), (9000, 9100), (5000, 5001), (5000, 5000), (4900, 5001), (0, 9000)]
)
def test_passes_from_a_wrong_bracket(low: float, high: float) -> None:
    values = np.repeat(np.random.default_rng(0).permutation(np.arange(20_000.0)), 2).reshape(-1, 2)
    fold = mock.Mock(side_effect=fold_of(values, None, 3000))
    selecting = Selection(fold, rows_of(values[:9], None), 0.01, 20_000, 20_000, 1, 1)
    ends = np.array([4900.0, low]), np.array([5100.0, high])
    with mock.patch.object(Selection, "guess", return_value=ends):
        numbers = RowValues((np.zeros(2), 0), np.eye(2))
        found = selecting.order_statistics(numbers, np.array([[5000, 5001]] * 2))
    assert found.tolist() == [[5000.0, 5001.0]] * 2
    # One pass finds that the bracket is wrong. Two passes with random values and a margin of error
    # of 0.08 narrow 5000 to 15,000 values to less than 1024, and one pass collects these.
    assert fold.call_count == 4


def test_many_rows_with_a_small_part_of_the_mass() -> None:
    points, masses = np.arange(3000.0)[:, None], np.where(np.arange(3000) < 2900, 1, 2**30)
    run, passes = fold_of(points, masses, 1000), iter(range(20))
    pilot, mass = rows_of(points[-100:], None), int(masses.sum())
    selecting = Selection(lambda work: (run(work), next(passes))[0], pilot, 0.05, mass, 3000, 1, 1)
    values = selecting.order_statistics(NUMBERS, np.array([[1450]]))
    assert values == 1450


def test_projections_are_computed_in_blocks_of_bounded_size() -> None:
    numbers = RowValues((np.zeros(1), 0), np.ones((2**12, 1)))
    assert max(values.size for _, values in numbers.along(np.ones((2**11, 1)), 1)) <= 2**22


@pytest.mark.parametrize("total", [1, 7, 10, 12345, 2**40 + 1])
def test_levels_and_the_masses_that_exceed_them(total: int) -> None:
    betas = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.9])
    for beta, rank in zip(betas, level_ranks(betas, total).tolist(), strict=True):
        assert (rank + 1) / total > beta
        assert rank == 0 or rank / total <= beta
