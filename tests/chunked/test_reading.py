"""First pass over a source: limits for the memory, summary of the rows, and random rows."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from isodepth import Metric, scan
from isodepth.errors import InvalidInputError
from isodepth.metric.chunked import reading
from isodepth.metric.chunked.reading import (
    CheckedSource,
    Limits,
    Summary,
    load_table,
    selection_of,
)
from isodepth.metric.chunked.selection import margin_of
from isodepth.stream.passes import DaskRunner, Runner, row_keys

RNG = np.random.default_rng(7)


@pytest.mark.parametrize(
    ("memory_mb", "shape", "count", "options", "expected"),
    [
        # 2**22 bytes for 24 copies of a chunk of 5 columns, 2**23 bytes for collected values of 8
        # bytes, 2**22 bytes for 3 copies of the pilot, 2**24 bytes for 10 copies of all rows. A row
        # of the pilot or of all rows has 16 bytes more than its values.
        (16, (None, 5), 12, {}, (4369, 2**20, 24966, 29959)),
        # Values of 4 bytes, collected values with masses, and 1/128 of the rows in the pilot.
        (16, (4_000_000, 5), 12, {"weighted": True, "dtype": "float32"},
         (4369, 2**19, 31250, 46603)),
        (16, (4_000_000, 5), 12, {"weighted": True}, (4369, 2**19, 24966, 29959)),
        # The minimum sizes of a chunk and of the pilot.
        (1, (None, 700), 12, {}, (64, 2**16, 4096, 18)),
        # Limits on the projections per chunk, and on the data that Dask sends.
        (4096, (2**25, 5), 4096, {"dask": True}, (8192, 2**26, 2**17, 7_669_584)),
        (4096, (2**25, 5), 4096, {}, (8192, 2**28, 2**18, 7_669_584)),
        # The maximum size of a chunk, and of the pilot if the number of rows is unknown or small.
        (4096, (None, 1), 3, {}, (2**15, 2**28, 2**16, 17_895_697)),
        (4096, (9, 1), 3, {}, (2**15, 2**28, 2**14, 17_895_697)),
    ],
)  # fmt: skip
def test_limits_for_a_given_memory(
    memory_mb: float, shape: tuple, count: int, options: dict, expected: tuple
) -> None:
    rows = np.broadcast_to(np.float32(0), (shape[0] or 1, shape[1]))
    source = scan(rows if shape[0] else lambda: [rows], dtype=options.pop("dtype", "float64"))
    runner = DaskRunner() if options.pop("dask", False) else Runner()
    fitted = Metric(n_directions=count, memory_mb=memory_mb, levels=2, random_state=0)
    limits = Limits.of(fitted.with_directions(shape[1]), replace(source, **options), runner)
    assert limits == expected


@pytest.mark.parametrize(
    ("n", "whole", "capacity"), [(600, 600, 50), (601, 600, 50), (600, 0, 600), (600, 0, 1)]
)
@pytest.mark.parametrize("size", [1000, 250, 40])
def test_the_summary_of_any_chunks(n: int, whole: int, capacity: int, size: int) -> None:
    points, weights = RNG.normal(size=(n, 2)), RNG.integers(1, 9, n) / 8
    points[::3] = 0.0
    states = [Summary(capacity, 5, whole), Summary(capacity, 5, whole)]
    for start in range(0, n, size):
        state = states[start > n / 2]
        state.add(start, points[start : start + size], weights[start : start + size])
        state.add(start, points[:0], None)
        assert sum(len(part[0]) for part in state.parts) <= 1.25 * max(capacity, whole)
    summary = states[0]
    summary += states[1]
    order = np.arange(n) if n <= max(whole, capacity) else np.argsort(row_keys(5, 0, n))[:capacity]
    for found, expected in zip(summary.drawn(), (points, weights), strict=True):
        assert np.array_equal(found, expected[order])
    assert (summary.n_rows, summary.integral) == (n, False)
    assert summary.mean_weight == pytest.approx(weights.mean(), rel=1e-14)
    assert summary.row_count == n
    assert np.array_equal(summary.ends, [-points.min(axis=0), points.max(axis=0)])
    assert summary.smallest == np.abs(points[points != 0]).min()


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("n", "whole"), [(18, True), (19, False)])
def test_rows_that_fit_into_memory_are_kept(n: int, whole: bool, known: bool) -> None:
    rows = RNG.normal(size=(n, 700))
    fitted = Metric(n_directions=3, memory_mb=1, levels=2, random_state=0).with_directions(700)
    source = scan(rows if known else lambda: [rows])
    with mock.patch.object(reading, "LEAST_PILOTS", 5):
        checked = CheckedSource.of(Runner(), source, fitted, in_memory=True)
    assert (n <= checked.summary.whole) == whole
    assert len(checked.summary.drawn()[0]) == (n if whole else 15)
    assert not CheckedSource.of(Runner(), source, fitted).summary.whole


@pytest.mark.parametrize(
    ("weights", "share", "squares", "mass"),
    [
        (np.full(100, 3.0), 1 / 2, 300 + 900, 600),
        # Non-integer weights count as 100 rows.
        (np.repeat([0.5, 2.5], 50), 1 / 4, 300 + 50 * (1 / 9 + 25 / 9), 400),
    ],
)
def test_the_pilot_of_pooled_sources(
    weights: np.ndarray, share: float, squares: float, mass: int
) -> None:
    fitted = Metric(random_state=0).with_directions(1)
    pooled = scan(np.zeros((300, 1))), scan(np.column_stack([np.ones(100), weights]), weights=1)
    selection = selection_of(*(CheckedSource.of(Runner(), each, fitted) for each in pooled))
    assert len(selection.pilot.points) == selection.n_rows == 400
    assert selection.pilot.points.mean() == share
    assert selection.margin == pytest.approx(margin_of(mass**2 / squares))
    # Masses are weights multiplied by a power of two.
    assert selection.mass / 2.0 ** (60 - mass.bit_length()) == pytest.approx(mass)


def test_a_reference_that_does_not_fit_into_memory() -> None:
    rows = RNG.normal(size=(73, 3))
    # 10,485 bytes for 6 copies of 24 bytes per row.
    with mock.patch.object(reading, "MEMORY_MB", 0.01):
        found = load_table(scan(rows[:72]), "reference", None, None)
        assert np.array_equal(found.numbers, rows[:72])
        with pytest.raises(InvalidInputError, match=r"than 72 rows, .* 0\.01 MB"):
            load_table(scan(rows), "reference", None, None)
        found = load_table(scan(rows, chunk_rows=10), "reference", None, 3)
    assert len(found) == 72
