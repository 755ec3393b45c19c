"""Rows outside the ranges of usual values are those with the scores of suspicious rows."""

from __future__ import annotations

import numpy as np
import pytest
from monitor.coded import coded

from isodepth.monitor.columns import UsualValues
from isodepth.rows.suspicious.scoring import Rows, RowScorer


@pytest.mark.parametrize("n", [4, 30, 300])
def test_rows_outside_the_ranges_are_those_with_scores_above_one(n: int) -> None:
    """Rows outside the usual ranges are those with scores above 1 in the search of suspicious rows.

    The columns have negative, positive, tied, constant, missing and huge values.
    """
    rng = np.random.default_rng(n)
    normal = rng.normal(size=n)
    columns = [
        normal, np.exp(normal), np.exp(3 * normal), np.round(np.exp(normal)) + 1, np.ones(n),
        (rng.random(n) < 0.05).astype(float), np.where(rng.random(n) < 0.3, np.nan, normal),
        np.full(n, np.nan), 1e200 * normal, 1e-200 * np.exp(normal),
    ]  # fmt: skip
    sizes = 10.0 ** np.arange(-6, 7)
    values = np.concatenate([-sizes, [0.0, np.nan], sizes])
    for column in columns:
        scale = np.nanmax(np.abs(column), initial=1e-200)
        tried = np.concatenate([column, values * scale])[:, None]
        codes = np.empty((len(tried), 0), np.int64)
        scorer = RowScorer(Rows(column[:, None], codes[:n]), related=())
        found = UsualValues.of_numbers(column[:, None]).suspicious(coded(tried, 1))
        assert found.tolist() == (scorer.score(Rows(tried, codes)) > 1).tolist()
        assert not found[:n].any()


@pytest.mark.parametrize("value", [0.1, 0.7, 3.3, 1e-5, 1e30])
def test_the_value_of_a_constant_column_is_usual(value: float) -> None:
    """The value of a constant column, and its neighboring float, are inside the usual range."""
    rows = np.full((300, 1), value)
    for column in (rows, np.where(np.arange(300)[:, None] % 2, value, np.nextafter(value, np.inf))):
        assert not UsualValues.of_numbers(column).suspicious(coded(column, 1)).any()
    assert UsualValues.of_numbers(rows).suspicious(coded(rows * [[1.0 + 1e-9]], 1)).all()


def test_no_numeric_columns() -> None:
    rows = coded(np.array([[0.0], [-1.0], [np.nan]]), 0)
    assert UsualValues.of_numbers(rows.numbers).suspicious(rows).tolist() == [False, True, False]
