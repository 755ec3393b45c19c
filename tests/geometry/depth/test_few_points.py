"""Depths for text scores, of few points: IRW with a control variate, and dual depth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from isodepth import Metric
from isodepth.geometry.depth.integrated import IRW, MOST_POINTS, CorrectedIRW, Dual, span_of_sample
from isodepth.geometry.directions import unit_vectors
from isodepth.geometry.regions import Sample

DEPTHS = [CorrectedIRW(), Dual()]


def depths_of(depth, points, weights=None, queries=None, n_directions=1000, seed=0):
    """Return the depths of the rows of `points`, or of `queries` with respect to `points`."""
    sample = Sample.of(points, weights)
    directions = unit_vectors(points.shape[1], n_directions, random_state=seed)
    if queries is not None:
        return depth._depths(sample, directions, queries)
    return depth._all_depths(sample, directions)[1]


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(20, 40)) * np.linspace(0.2, 2, 20)[:, None]


def mean_over_the_circle(points, of_rank, weights, steps=100_000):
    """Return for each point, with mid-rank F, the mean over directions of `of_rank` (2 F - 1).

    The mean is over `steps` directions at equal distances.
    """
    shares = np.asarray(weights) / np.sum(weights)
    angles = (np.arange(steps) + 0.5) * np.pi / steps
    projections = points @ np.array([np.cos(angles), np.sin(angles)])
    signs = np.sign(projections[:, None] - projections[None])
    return of_rank(np.einsum("ijk,j->ik", signs, shares)).mean(axis=1)


@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1], [1, 2, 3, 1, 5]])
def test_closed_form_is_the_mean_over_all_directions(weights):
    points = np.random.default_rng(1).normal(size=(5, 2))
    expected = mean_over_the_circle(points, lambda v: (1 - v**2) / 2, weights)
    depth = depths_of(Dual(), points, weights)
    # Each of the 10 pairs of points changes sides once in half a turn: the grid may misplace every
    # such jump, of height 2 at most, by half a step.
    assert depth == pytest.approx(expected, abs=10 * 2 / 100_000)


def test_closed_form_on_a_line_is_the_simplicial_depth():
    ranks = (np.arange(7) + 0.5) / 7
    depth = depths_of(Dual(), np.array([[1.0], [2], [3], [5], [8], [13], [21]]))
    assert depth == pytest.approx(2 * ranks * (1 - ranks), abs=1e-7)


@pytest.mark.parametrize("weights", [None, np.arange(1, 21)])
def test_corrected_irw_estimates_the_same_depth_with_less_noise(points, weights):
    truth = depths_of(IRW(), points, weights, n_directions=200_000)

    def mean_square_error(depth):
        errors = [
            depths_of(depth, points, weights, n_directions=500, seed=seed) - truth
            for seed in range(1, 9)
        ]
        return np.mean(np.square(errors))

    # For ranks that are uniform on [0, 1], a sixteenth of the error remains. These ranks are only
    # nearly uniform, and the reference has a simulation error of 500 / 200,000 of the plain error.
    assert mean_square_error(CorrectedIRW()) < mean_square_error(IRW()) / 6


def test_repeated_rows_are_weights(points):
    counts = np.arange(20) % 3 + 1
    for depth in DEPTHS:
        weighted = depths_of(depth, points, counts)
        repeated = depths_of(depth, np.repeat(points, counts, axis=0))
        assert (np.repeat(weighted, counts) == repeated).all()


@pytest.mark.parametrize("depth", DEPTHS)
def test_other_points_agree_with_the_sample(points, depth):
    depths = depths_of(depth, points)
    assert (depths_of(depth, points, queries=points) == depths).all()
    assert depths_of(depth, points, queries=points + 100.0).max() < 0.05
    center = points.mean(axis=0, keepdims=True)
    assert depths_of(depth, points, queries=center)[0] > np.median(depths)


@pytest.mark.parametrize("depth", DEPTHS)
def test_moved_and_scaled_points_have_equal_depths(points, depth):
    # A power of two, and a shift with small rounding errors.
    assert depths_of(depth, points * 4.0 + 8.0) == pytest.approx(depths_of(depth, points), abs=1e-9)


@pytest.mark.parametrize("size", [1e9, 1e200])
def test_outliers_keep_the_dual_depth_in_its_range(points, size):
    rows = points[:, :3].copy()
    rows[:2] *= size
    depths = depths_of(Dual(), rows)
    assert np.isfinite(depths).all()
    assert depths.min() >= 0
    assert depths.max() <= 0.5


def test_many_points_are_left_to_plain_irw():
    points = np.random.default_rng(2).normal(size=(MOST_POINTS + 1, 3))
    plain = depths_of(IRW(), points, n_directions=50)
    assert (depths_of(CorrectedIRW(), points, n_directions=50) == plain).all()


def test_one_and_two_points():
    for depth in DEPTHS:
        assert depths_of(depth, np.ones((1, 9))) == pytest.approx([0.5])
        two = depths_of(depth, np.eye(9)[:2])
        assert two[0] == pytest.approx(two[1], abs=1e-12)


def test_a_metric_takes_them(points):
    for depth in DEPTHS:
        metric = Metric(depth=depth, gap="exact", random_state=0)
        assert metric.distance(points, points + 1.0) == pytest.approx(np.sqrt(40), rel=1e-6)
        assert depth._name in metric.signature


@pytest.mark.parametrize(("n", "d", "columns"), [(5, 9, 4), (5, 5, 4), (6, 5, 5), (1, 3, 3)])
def test_few_points_are_looked_at_in_their_span(n, d, columns):
    rows = np.random.default_rng(0).normal(size=(n, d))
    sample = Sample.of(rows)
    inside = span_of_sample(sample)
    assert inside.shape == (n, columns)
    # Ratios of distances are unchanged.
    there, here = pdist(sample.points), pdist(inside)
    if n > 1:
        assert here / there == pytest.approx(np.full(len(here), here[0] / there[0]), rel=1e-12)
