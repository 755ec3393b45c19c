"""Contributions of columns to a distance equal those of plain loops, for all units and seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from combined import compare_and_test
from twins import naive, naive_where

import isodepth
from isodepth.geometry.directions import unit_vectors
from isodepth.typing import Contribution

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((14, 3)), 1.5 * RNG.standard_normal((17, 3)) + [0.5, 0, 0]


def in_order(contributions: tuple[Contribution, ...]) -> list[float]:
    """Return the contributions in the order of the columns."""
    return [each.fraction for each in sorted(contributions, key=lambda each: each.column)]


def test_shares_of_columns_are_those_of_the_twin() -> None:
    result = isodepth.compare(X, Y, scale=None, random_state=0)
    widths = np.diff(result.level_intervals, axis=1)[:, 0]
    wanted = naive_where.shares_of_levels(result.gaps, widths, result.gap_directions)
    assert in_order(result.contributions) == pytest.approx(wanted, rel=1e-12)
    assert sum(in_order(result.contributions)) == pytest.approx(1.0, rel=1e-12)
    shares = [each.fraction for each in result.contributions]
    assert shares == sorted(shares, reverse=True)


def test_the_contribution_of_a_single_column_is_one() -> None:
    rng = np.random.default_rng(0)
    for n in range(2, 60):
        (only,) = isodepth.compare(rng.normal(size=(n, 1)), rng.normal(size=(40, 1))).contributions
        assert only.fraction == pytest.approx(1.0, rel=1e-12)
        assert only.fraction <= 1.0


@pytest.mark.parametrize("q", [1, 2, 3.5])
def test_shares_with_means_are_those_of_the_twin(q: float) -> None:
    U = unit_vectors(3, 21, directions="uniform", random_state=np.random.default_rng(1))
    x, y = (naive.depth_regions("halfspace", rows, U) for rows in (X, Y))
    result = isodepth.compare(X, Y, scale=None, q=q, depth="halfspace", directions=U)
    wanted = naive_where.shares_of_directions(x, y, U, 0.1, q)
    assert in_order(result.contributions) == pytest.approx(wanted, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("q", [1, 2, 4, np.inf])
def test_shares_of_a_translation_are_its_squares(q: float) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((300, 4))
    options = {"q": q, "directions": "orthogonal", "random_state": 0}
    shares = isodepth.compare(x, x + [2, 0, 0, 1], scale=None, **options).contributions
    # For a finite q, the tolerance is the error of a mean over a thousand directions.
    assert in_order(shares) == pytest.approx([0.8, 0, 0, 0.2], abs=0.06 if q < np.inf else 1e-6)


@pytest.mark.parametrize("q", [2, np.inf])
@pytest.mark.parametrize("columns", [3, 1])
@pytest.mark.usefixtures("without_pictures")
def test_a_distance_of_zero_has_no_contributions(q: float, columns: int, tmp_path: Path) -> None:
    x = X[:, :columns]
    result = compare_and_test(x, x, scale=None, q=q, n_permutations=19, random_state=0)
    assert result.distance == 0
    for each in (result, result.without_rows(), isodepth.compare(x, x, q=q)):
        assert each.contributions == each.largest_gap.contributions == ()
        assert each.to_dict()["contributions"] == []
        assert "contributions" not in str(each)
        assert each.to_frame()["fraction"].tolist() == [0.0] * columns
    assert result.to_frame()["pvalue"].tolist() == [1.0] * columns
    isodepth.compare(x, x, q=q).report(tmp_path / "report.html")
    assert "Contributions of the columns" not in (tmp_path / "report.html").read_text("utf-8")


def test_shares_do_not_depend_on_units() -> None:
    one = isodepth.compare(X, Y, scale=None, q=2, random_state=0).contributions
    for size in (1e-200, 1e200):
        other = isodepth.compare(size * X, size * Y, scale=None, q=2, random_state=0).contributions
        assert in_order(other) == pytest.approx(in_order(one), rel=1e-9)


@pytest.mark.parametrize("q", [2, np.inf])
def test_the_leading_column_does_not_depend_on_the_seed(q: float) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, 1500, 6))
    y[:, 2] += 0.6
    leaders = {
        isodepth.compare(x, y, scale=None, q=q, random_state=seed).contributions[0].column
        for seed in range(5)
    }
    assert leaders == {"column 2"}
