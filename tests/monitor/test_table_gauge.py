"""Tables as references: of the size of a batch, with the columns that carry a difference."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth import Metric
from isodepth.inference.table_gauge import TableGauge

RNG = np.random.default_rng(50)


def metric(**options: object) -> Metric:
    return Metric(**{"levels": 6, "n_directions": 60, "random_state": 0, "q": 2, **options})  # type: ignore[arg-type]


def gauge(made: Metric, sizes: tuple[int, ...] = (40,), count: int = 30) -> TableGauge:
    samples = [[RNG.normal(size=(n, 3)) for _ in range(count)] for n in sizes]
    return TableGauge.fit_samples(samples, sizes, None, made)


def test_the_reference_is_the_mean_table() -> None:
    made = metric()
    samples = [RNG.normal(size=(40, 3)) for _ in range(7)]
    found = TableGauge.fit_samples([samples], [40], ("a", "b", "c"), made)
    expected = np.mean([made.table(points).values for points in samples], axis=0)
    assert found.reference.values == pytest.approx(expected, rel=1e-14)
    assert found.reference.columns == ("a", "b", "c")


def test_without_it_small_batches_look_too_small() -> None:
    """Against a large table a batch that has grown is nearer than one that has not."""
    made = metric()
    large = TableGauge.fit(RNG.normal(size=(8000, 3)), None, made)
    matched = gauge(made)
    same = [RNG.normal(size=(40, 3)) for _ in range(40)]
    grown = [1.15 * points for points in same]
    means = [
        [np.mean([kind.measure(points, 40) for points in batches]) for batches in (same, grown)]
        for kind in (large, matched)
    ]
    assert means[0][1] < means[0][0]
    assert means[1][1] > means[1][0]


def test_sizes_between_have_tables_between() -> None:
    found = gauge(metric(), (25, 100))
    small, large = (table.values for table in found.tables)
    assert found.table_of(1).values is found.tables[0].values
    assert found.table_of(25).values is found.tables[0].values
    assert found.table_of(100).values is found.tables[1].values
    assert found.table_of(1000).values is found.tables[1].values
    # The noise of a mean of 44 rows is about half way between.
    assert found.table_of(44).values == pytest.approx((small + large) / 2, abs=0.02)


@pytest.mark.parametrize("q", [1.0, 2.0, np.inf])
def test_columns_that_moved_are_named(q: float) -> None:
    found = gauge(metric(q=q, n_directions=400), (300,))
    shift = np.array([0.0, 3.0, 4.0])
    score, shares = found.score(RNG.normal(size=(300, 3)) + shift, 300)
    assert score == pytest.approx(5.0, rel=0.1)
    assert shares.sum() == pytest.approx(1.0)
    # Squared entries of the shift, within what 300 rows of spread 1 move it by.
    assert shares == pytest.approx([0.0, 9 / 25, 16 / 25], abs=0.08)


@pytest.mark.parametrize("q", [2.0, np.inf])
def test_no_difference_at_all(q: float) -> None:
    points = RNG.normal(size=(40, 3))
    found = TableGauge.fit(points, None, metric(q=q))
    score, shares = found.score(points, 40)
    assert score == 0
    assert shares.sum() == pytest.approx(1.0)
