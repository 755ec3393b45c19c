"""Columns of which only counts are known are described like columns with values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from isodepth.functions.counted import CountedPair, Counts
from isodepth.functions.describer import describe_column
from isodepth.functions.explanations import ColumnPair

LEVELS = (0.01, 0.03, *(np.arange(1, 16) / 16), 0.97, 0.99)
SINGLES = np.array([-999.0, 0.0])


def counted(x: np.ndarray, y: np.ndarray, *, scalable: bool = True) -> CountedPair:
    """Return the counts of two samples up to quantiles of the first one, and to its ends."""
    cuts = np.unique([x.min(), *np.quantile(x, LEVELS, method="inverted_cdf"), x.max()])

    def counts(values: np.ndarray) -> Counts:
        quartiles = np.quantile(values, [0.25, 0.5, 0.75])
        return Counts(
            len(values),
            np.array([np.count_nonzero(values <= cut) for cut in cuts]),
            np.array([np.count_nonzero(values == single) for single in SINGLES]),
            float(quartiles[1]),
            float(quartiles[2] - quartiles[0]),
        )

    return CountedPair("v", cuts, SINGLES, counts(x), counts(y), discrete=False, scalable=scalable)


def draw(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.gamma(4.0, 10.0, n)


CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "location": lambda y: y + 15.0,
    "spread": lambda y: np.median(y) + 2.0 * (y - np.median(y)),
    "unit": lambda y: 2.54 * y,
    "sign": lambda y: -y,
}


@pytest.mark.parametrize("kind", CHANGES)
def test_changes_have_the_kind_of_the_values(kind: str) -> None:
    right = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, y = draw(rng, 1500), CHANGES[kind](draw(rng, 400))
        (of_counts, *_), (of_values, *_) = (
            describe_column(pair, 0.01) for pair in (counted(x, y), ColumnPair("v", x, y))
        )
        right += of_counts.kind == of_values.kind == kind
        if of_counts.kind == of_values.kind and kind in ("location", "sign"):
            assert (of_counts.before, of_counts.after) == (of_values.before, of_values.after)
    assert right >= 9


@pytest.mark.parametrize("factor", [0.1, 2.54, 1000.0])
def test_factors_are_approximate_and_only_of_columns_that_have_factors(factor: float) -> None:
    rng = np.random.default_rng(0)
    x, y = draw(rng, 4000), factor * draw(rng, 1000)
    change = describe_column(counted(x, y), 0.01)[0]
    assert change.kind == "unit"
    assert change.is_approximate
    assert change.factor == pytest.approx(factor, rel=0.06)
    dates = describe_column(counted(x, y, scalable=False), 0.01)
    assert {each.kind for each in dates} <= {"location", "spread", "shape", "extremes"}
    assert all(each.factor is None for each in dates)


def test_values_outside_of_all_cut_points_are_moved_to_the_median() -> None:
    """Only the quartiles of the second sample are known, and they determine its values."""
    rng = np.random.default_rng(0)
    x, y = draw(rng, 1000), 1e6 + draw(rng, 300)
    pair = counted(x, y)
    assert np.median(pair.y) == pytest.approx(np.median(y), abs=0.5)
    assert np.subtract(*np.quantile(pair.y, [0.75, 0.25])) == pytest.approx(
        np.subtract(*np.quantile(y, [0.75, 0.25])), rel=0.05
    )


def test_known_single_values_are_kept() -> None:
    rng = np.random.default_rng(0)
    x, y = draw(rng, 1000), draw(rng, 300)
    y[:30] = -999.0
    pair = counted(x, y)
    assert np.count_nonzero(pair.y == -999.0) == 30
    assert not (pair.x == -999.0).any()
    values, before, after = pair.distribution_functions()
    for cut, share, new_share in zip(values, before, after, strict=True):
        assert share == np.mean(x <= cut)
        assert new_share == np.mean(y <= cut)
