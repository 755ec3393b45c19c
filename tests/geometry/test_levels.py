"""Compared levels, and power means over levels, equal those of plain loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from twins import naive

import isodepth
from isodepth.geometry.regions import exact_plan, level_plan, power_mean
from isodepth.geometry.trimmed import TrimmedRegions
from isodepth.metric.settings import midpoint_levels

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0]])
Y = np.array([[0.0], [0.5], [2.5], [4.0], [100.0]])


def regions_of(points: np.ndarray) -> TrimmedRegions:
    return isodepth.Metric(depth="halfspace", random_state=0).regions(points)


def count_inside(regions: TrimmedRegions, beta: float) -> int:
    """Return the number of points in the smallest set {depth >= t} with a mass above `beta`."""
    for alpha in sorted(set(regions.depths), reverse=True):
        held = int((regions.depths >= alpha).sum())
        if held > beta * regions.n_rows + 1e-9:
            return held
    raise AssertionError("beta must be below 1")


@pytest.mark.parametrize("eps", [0.05, 0.1, 0.3, 0.7, 0.95])
def test_pieces_cover_the_interval_with_constant_regions(eps: float) -> None:
    x, y = regions_of(X), regions_of(Y)
    plan = exact_plan(x._nested, y._nested, eps)
    assert plan.levels[0, 0] == 0
    assert plan.levels[-1, 1] == 1 - eps
    assert (plan.levels[1:, 0] == plan.levels[:-1, 1]).all()
    widths = plan.levels[:, 1] - plan.levels[:, 0]
    assert (widths > 1e-6).all()  # no interval is as short as a rounding error
    np.testing.assert_allclose(plan.shares, widths / (1 - eps), rtol=1e-14)
    for (start, stop), i, j in zip(
        plan.levels, plan.prefix_sizes_x, plan.prefix_sizes_y, strict=True
    ):
        for beta in (start, (start + stop) / 2):
            assert (i, j) == (count_inside(x, beta), count_inside(y, beta))
    # Each interval ends at a level at which one of the regions grows.
    inner = list(itertools.pairwise(zip(plan.prefix_sizes_x, plan.prefix_sizes_y, strict=True)))
    assert all(before != after for before, after in inner)


def test_eps_one_is_the_innermost_regions_alone() -> None:
    plan = exact_plan(regions_of(X)._nested, regions_of(Y)._nested, 1.0)
    assert plan.levels.tolist() == [[0.0, 0.0]]
    assert plan.shares.tolist() == [1.0]
    assert (plan.prefix_sizes_x.tolist(), plan.prefix_sizes_y.tolist()) == ([2], [1])


def test_given_levels_are_sorted_and_share_alike() -> None:
    x, y = regions_of(X), regions_of(Y)
    plan = level_plan(x._nested, y._nested, np.array([0.75, 0.0, 0.25, 0.5]))
    assert plan.levels.tolist() == [0.0, 0.25, 0.5, 0.75]
    assert plan.shares.tolist() == [0.25] * 4
    assert plan.prefix_sizes_x.tolist() == [count_inside(x, beta) for beta in plan.levels]
    assert plan.prefix_sizes_y.tolist() == [count_inside(y, beta) for beta in plan.levels]


def test_midpoints() -> None:
    np.testing.assert_allclose(midpoint_levels(4, 0.2), [0.1, 0.3, 0.5, 0.7], rtol=1e-15)
    np.testing.assert_allclose(midpoint_levels(1, 0.5), [0.25], rtol=1e-15)


@pytest.mark.parametrize("p", [0.3, 1, 2, 5.5, math.inf])
@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
def test_power_mean_is_that_of_the_definition(p: float, scale: float) -> None:
    rng = np.random.default_rng(0)
    gaps, shares = rng.uniform(0.5, 3, 9), rng.dirichlet(np.ones(9))
    expected = naive.power_mean(gaps.tolist(), shares.tolist(), p)
    # A sum of nine positive terms, and a power 1/p, which increases rounding errors for small p.
    assert power_mean(scale * gaps, shares, p) == pytest.approx(scale * expected, rel=1e-13)
    if p < math.inf:
        plain = power_mean(gaps, shares, p, length=0.75)
        assert plain == pytest.approx(0.75 ** (1 / p) * expected, rel=1e-13)


def test_power_mean_of_zeros() -> None:
    for p in (0.5, 2, math.inf):
        assert power_mean(np.zeros(3), np.full(3, 1 / 3), p) == 0
