"""Samples at the vertices of a simplex, and samples of any scale and location."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from isodepth import AIIRWDepth, HalfspaceDepth, IRWDepth, ProjectionDepth
from isodepth.errors import DegenerateDepthWarning
from isodepth.geometry.regions import Sample
from isodepth.geometry.transforms import standardize

CORNERS = np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [1.0, 1.0, 7.0]])


@pytest.mark.parametrize("estimator", [HalfspaceDepth, ProjectionDepth, AIIRWDepth])
@pytest.mark.parametrize("weights", [None, [1, 1, 1, 1]])
def test_a_corner_has_the_depth_of_a_corner_however_it_is_asked_for(estimator, weights) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        depth = estimator(n_directions=60, random_state=0).fit(CORNERS, sample_weight=weights)
    assert len(set(depth.depth_.tolist())) == 1
    # 0.0 and -0.0 are equal.
    for rows in (CORNERS, np.where(CORNERS == 0, -0.0, CORNERS), CORNERS[::-1]):
        assert depth.score_samples(rows).tolist() == depth.depth_.tolist()
    # The middle is deeper than the corners, a point far away is not.
    middle, far = depth.score_samples([CORNERS.mean(axis=0), CORNERS[0] + 1000.0])
    assert middle > far


@pytest.mark.parametrize(
    # The mid-ranks of three points are 1/6, 1/2 and 5/6.
    ("estimator", "corner"),
    [(HalfspaceDepth, 1 / 3), (ProjectionDepth, 0.0), (AIIRWDepth, (1 / 6 + 1 / 2 + 1 / 6) / 3)],
)
def test_the_corners_of_a_triangle_have_equal_depths(estimator, corner: float) -> None:
    with pytest.warns(DegenerateDepthWarning, match="cannot order 3 points"):
        depth = estimator(n_directions=60, random_state=0).fit(CORNERS[:3, :2])
    assert depth.depth_ == pytest.approx([corner] * 3)


@pytest.mark.filterwarnings("ignore::isodepth.errors.DegenerateDepthWarning")
def test_a_corner_with_most_of_the_mass_is_the_median_along_every_direction() -> None:
    depth = ProjectionDepth(random_state=0).fit(CORNERS, sample_weight=[9, 2, 2, 2]).depth_
    assert depth[0] == 1.0
    assert (depth[1:] < 1.0).all()
    assert depth[1] == depth[2] == depth[3]
    # A corner with half of the remaining mass deviates by at most twice the median deviation.
    depth = ProjectionDepth(random_state=0).fit(CORNERS, sample_weight=[20, 3, 2, 1]).depth_
    assert depth.tolist() == [1.0, 1 / 3, 0.0, 0.0]


@pytest.mark.filterwarnings("ignore::isodepth.errors.DegenerateDepthWarning")
def test_a_weighted_triangle_has_the_mean_depths_over_all_directions() -> None:
    # A corner of the whitened triangle is in the middle for a fraction angle / pi of directions.
    angles = np.arccos(np.array([9, 2, 2]) / np.sqrt([11 * 11, 11 * 4, 11 * 4]))
    ends, middles = np.array([[2, 9, 9], [20, 13, 13]]) / 40
    expected = ends + (middles - ends) * angles / np.pi
    depth = AIIRWDepth(random_state=0).fit(CORNERS[:3, :2], sample_weight=[2, 9, 9]).depth_
    assert depth == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("covariance", ["empirical", "mcd", "ledoit-wolf"])
def test_whitening_does_not_change_depths_on_a_line(covariance: str) -> None:
    X = np.random.default_rng(0).standard_normal((25, 1)) * 7 + 3
    plain = IRWDepth().fit(X).depth_
    assert AIIRWDepth(covariance=covariance).fit(X).depth_ == pytest.approx(plain, abs=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [-100, -65, -64, -30, -1, 0, 3, 30, 64, 65, 100])
def test_of_any_size_to_about_one(exponent: int, dtype: str) -> None:
    rows = np.random.default_rng(0).uniform(-1, 1, (50, 3)).astype(dtype)
    points = np.ldexp(rows, exponent)
    sample = Sample.of(points)
    moved = standardize(sample, points)
    assert moved.dtype == dtype
    # The scale is determined by a few rows, whose maximum deviation is between 1/2 and 1.
    assert 0.4 < np.abs(moved).max() < 4
    # Division by powers of two does not round; only the subtraction of the center does.
    np.testing.assert_array_equal(moved, standardize(Sample.of(rows), rows))


def test_the_middle_comes_to_zero() -> None:
    rows = np.random.default_rng(1).uniform(-1, 1, (60, 2)) + [1000.0, -500.0]
    moved = standardize(Sample.of(rows), rows)
    assert np.abs(np.median(moved, axis=0)).max() < 1.0
    # Every column is centered. Otherwise the column farthest from 0 would determine the scale.
    assert moved.std(axis=0).min() > 0.1


def test_a_single_point_and_equal_points() -> None:
    for rows in (np.full((1, 2), 7.0), np.full((4, 2), -3.0)):
        assert standardize(Sample.of(rows), rows).tolist() == np.zeros(rows.shape).tolist()
