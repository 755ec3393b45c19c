"""Monitors whose reference and batches are read in chunks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth import DepthMonitor, InvalidInputError, InvalidOptionError, scan

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(3000, 3))
BATCH = RNG.normal(size=(60, 3)) + [0.4, 0, 0]


def chunks(points: np.ndarray) -> list[np.ndarray]:
    return [points[:1], points[1:700], points[:0], points[700:]]


def test_scores_of_sources_are_those_of_arrays() -> None:
    options = {"n_directions": 40, "random_state": 0, "scale": "reference"}
    expected = DepthMonitor(POINTS, **options).score(BATCH)
    monitor = DepthMonitor(scan(chunks(POINTS)), **options)
    assert monitor.score(BATCH) == expected
    assert monitor.score(scan([BATCH[:20], BATCH[20:]])) == expected


def test_weights_are_a_column() -> None:
    weights = RNG.integers(1, 5, 3000)
    options = {"n_directions": 40, "random_state": 0}
    expected = DepthMonitor(POINTS, weights=weights, **options).score(BATCH)
    joined = np.column_stack([POINTS, weights])
    assert DepthMonitor(scan(chunks(joined), weights=3), **options).score(BATCH) == expected
    with pytest.raises(InvalidInputError, match="scan the reference without them"):
        DepthMonitor(scan(joined, weights=3), batch_size=60)


@pytest.mark.parametrize("missing", [False, True])
def test_verdicts_of_sources_are_those_of_arrays(missing: bool) -> None:
    points, batch = POINTS.copy(), BATCH.copy()
    options = {"batch_size": 60, "n_directions": 20, "random_state": 1}
    if missing:
        points[5:40, 1] = points[38:50, 2] = batch[3, 0] = np.nan
        options["nan_policy"] = "omit"
    expected = DepthMonitor(points, **options).check(batch)
    monitor = DepthMonitor(scan(chunks(points)), **options)
    found = monitor.check(scan([batch[:7], batch[7:]]))
    assert found == expected
    assert str(found) == str(expected)


def test_rows_are_drawn_where_not_all_fit() -> None:
    """0.03 MB hold 218 rows of three doubles in a few copies."""
    options = {"batch_size": 20, "n_directions": 20, "random_state": 1, "memory_mb": 0.03}
    monitor = DepthMonitor(scan(chunks(POINTS)), **options)
    again = DepthMonitor(scan(chunks(POINTS)), **options)
    assert monitor.calibration is not None
    verdict = monitor.check(BATCH[:20])
    assert verdict == again.check(BATCH[:20])
    other = DepthMonitor(scan(chunks(POINTS)), **{**options, "random_state": 2})
    assert other.check(BATCH[:20]).score != verdict.score
    with pytest.raises(InvalidInputError, match=r"do not fit into memory_mb=0\.03"):
        DepthMonitor(scan(POINTS), **options, groups=np.zeros(3000))


def test_the_rows_drawn_come_from_everywhere() -> None:
    from isodepth.chunked.reading import load_rows

    points = np.arange(6000.0)[:, None]
    found = load_rows(scan([points[:100], points[100:]]), "X", None, "raise", 0.01, seed=0)
    room = int(0.01 * 2**20 / (6 * 8))
    assert found.points.shape == (room, 1)
    drawn = found.points[:, 0]
    assert len(np.unique(drawn)) == room
    # The mean of a uniform sample, within five standard errors.
    assert abs(drawn.mean() - 2999.5) < 5 * 6000 / np.sqrt(12 * room)


def test_what_is_wrong_with_a_source_is_said(tmp_path: Path) -> None:
    holes = POINTS[:100].copy()
    holes[55, 1] = np.nan
    pd.DataFrame(holes, columns=list("abc")).to_parquet(tmp_path / "t.parquet", row_group_size=20)
    with pytest.raises(InvalidInputError, match=r"t\.parquet, row group 2 contains 1 NaN"):
        DepthMonitor(scan(tmp_path), batch_size=10)
    monitor = DepthMonitor(POINTS, batch_size=60, n_directions=20, random_state=0)
    with pytest.raises(
        InvalidInputError, match="same number of columns, got 3 in the reference and 2"
    ):
        monitor.check(scan(BATCH[:, :2]))
    with pytest.raises(InvalidInputError, match="has no row"):
        monitor.check(scan([BATCH[:0], BATCH[:0]]))
    with pytest.raises(InvalidOptionError, match="weights do not apply"):
        monitor.score(scan(BATCH), weights=np.ones(60))
    with pytest.raises(InvalidInputError, match="scan the batch without them"):
        monitor.check(scan(np.column_stack([BATCH, np.ones(60)]), weights=3))
    with pytest.raises(InvalidOptionError, match="pooled"):
        DepthMonitor(scan(POINTS), scale="pooled")


def test_pairs_of_sources_share_a_scale() -> None:
    bags = [POINTS[:50], 3 * POINTS[50:110], POINTS[200:300] * [1, 2, 3]]
    options = {"n_directions": 20, "random_state": 0, "scale": "pooled"}
    expected = isodepth.pairwise(bags, **options)
    sources = [scan([bag[:9], bag[9:]]) for bag in bags]
    assert np.array_equal(isodepth.pairwise(sources, **options), expected)
    assert np.array_equal(isodepth.pairwise([*sources[:2], bags[2]], **options), expected)
    assert np.array_equal(
        isodepth.pairwise(sources[:1], sources[1:], **options)[0], expected[0, 1:]
    )
    made = isodepth.region_tables(sources, **options)
    assert np.array_equal(made.values, isodepth.region_tables(bags, **options).values)
    assert np.array_equal(made.scale, isodepth.region_tables(bags, **options).scale)
    with pytest.raises(InvalidInputError, match="same number of columns"):
        isodepth.pairwise([sources[0], scan(BATCH[:, :2])], **options)
