"""The depths of few points: the same depth as IRW, with less noise, and a closed form with none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from isodepth import DualDepth, IRWDepth, Metric, SteadyIRWDepth
from isodepth.core.regions import Sample
from isodepth.depth.integrated import MOST_POINTS, span_of_sample


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(20, 40)) * np.linspace(0.2, 2, 20)[:, None]


def mean_over_the_circle(points, of_rank, weights, steps=100_000):
    """Mean over a fine grid of angles of a function of 2 F - 1; the slow and obvious way."""
    shares = np.asarray(weights) / np.sum(weights)
    angles = (np.arange(steps) + 0.5) * np.pi / steps
    projections = points @ np.array([np.cos(angles), np.sin(angles)])
    signs = np.sign(projections[:, None] - projections[None])
    return of_rank(np.einsum("ijk,j->ik", signs, shares)).mean(axis=1)


@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1], [1, 2, 3, 1, 5]])
def test_closed_form_is_the_mean_over_all_directions(weights):
    points = np.random.default_rng(1).normal(size=(5, 2))
    expected = mean_over_the_circle(points, lambda v: (1 - v**2) / 2, weights)
    depth = DualDepth().fit(points, sample_weight=weights).depth_
    # Each of the 10 pairs of points changes sides once in half a turn: the grid may misplace every
    # such jump, of height 2 at most, by half a step.
    assert depth == pytest.approx(expected, abs=10 * 2 / 100_000)


def test_closed_form_on_a_line_is_the_simplicial_depth():
    ranks = (np.arange(7) + 0.5) / 7
    depth = DualDepth().fit(np.array([[1.0], [2], [3], [5], [8], [13], [21]])).depth_
    assert depth == pytest.approx(2 * ranks * (1 - ranks), abs=1e-7)


@pytest.mark.parametrize("weights", [None, np.arange(1, 21)])
def test_steady_irw_estimates_the_same_depth_with_less_noise(points, weights):
    truth = IRWDepth(n_directions=200_000, random_state=0).fit(points, sample_weight=weights)

    def mean_square_error(depth):
        errors = [
            depth(n_directions=500, random_state=seed).fit(points, sample_weight=weights).depth_
            - truth.depth_
            for seed in range(1, 9)
        ]
        return np.mean(np.square(errors))

    # For ranks uniform on [0, 1] a sixteenth is left; these are only about uniform, and the truth
    # has noise of its own, of 500 / 200,000 of the plain error.
    assert mean_square_error(SteadyIRWDepth) < mean_square_error(IRWDepth) / 6


def test_repeated_rows_are_weights(points):
    counts = np.arange(20) % 3 + 1
    for depth in (SteadyIRWDepth(random_state=0), DualDepth()):
        weighted = depth.fit(points, sample_weight=counts).depth_
        repeated = depth.fit(np.repeat(points, counts, axis=0)).depth_
        assert (np.repeat(weighted, counts) == repeated).all()


@pytest.mark.parametrize("depth", [SteadyIRWDepth(random_state=0), DualDepth()])
def test_other_points_agree_with_the_sample(points, depth):
    depth.fit(points)
    assert (depth.score_samples(points) == depth.depth_).all()
    assert depth.score_samples(points + 100.0).max() < 0.05
    center = points.mean(axis=0, keepdims=True)
    assert depth.score_samples(center)[0] > np.median(depth.depth_)


@pytest.mark.parametrize("depth", [SteadyIRWDepth(random_state=0), DualDepth()])
def test_moving_and_scaling_change_nothing(points, depth):
    before = depth.fit(points).depth_.copy()
    # Powers of two, and a shift that the points survive without rounding much.
    after = depth.fit(points * 4.0 + 8.0).depth_
    assert after == pytest.approx(before, abs=1e-9)


def test_many_points_are_left_to_plain_irw():
    points = np.random.default_rng(2).normal(size=(MOST_POINTS + 1, 3))
    plain = IRWDepth(n_directions=50, random_state=0).fit(points).depth_
    steady = SteadyIRWDepth(n_directions=50, random_state=0).fit(points).depth_
    assert (steady == plain).all()


def test_one_and_two_points():
    for depth, alone in ((SteadyIRWDepth(random_state=0), 0.5), (DualDepth(), 0.5)):
        assert depth.fit(np.ones((1, 9))).depth_ == pytest.approx([alone])
        two = depth.fit(np.eye(9)[:2]).depth_
        assert two[0] == pytest.approx(two[1], abs=1e-12)


def test_a_metric_takes_them(points):
    for depth in (SteadyIRWDepth(), DualDepth()):
        metric = Metric(depth=depth, gap="exact", random_state=0)
        assert metric.distance(points, points + 1.0) == pytest.approx(np.sqrt(40), rel=1e-6)
        assert depth.name in metric.signature


@pytest.mark.parametrize(("n", "d", "columns"), [(5, 9, 4), (5, 5, 4), (6, 5, 5), (1, 3, 3)])
def test_few_points_are_looked_at_in_their_span(n, d, columns):
    rows = np.random.default_rng(0).normal(size=(n, d))
    sample = Sample.of(rows)
    inside = span_of_sample(sample)
    assert inside.shape == (n, columns)
    # Distances are kept, up to the one scale that all of them share.
    there, here = pdist(sample.points), pdist(inside)
    if n > 1:
        assert here / there == pytest.approx(np.full(len(here), here[0] / there[0]), rel=1e-12)
