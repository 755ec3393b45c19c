"""The local search for directions that make a point look shallower."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth import HalfspaceDepth, ProjectionDepth
from isodepth.depth.direction_search import search_directions


def judge_of(points: np.ndarray):
    """Shallowness of a point along u: how far it lies out, in units of the spread along u."""

    def judge(directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        projections = points @ directions.T
        spread = np.abs(projections).mean(axis=0)
        out = np.abs(projections) / spread
        return out.max(axis=1), out.argmax(axis=1)

    return judge


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((120, 5)) @ np.diag([1.0, 0.5, 0.25, 0.1, 0.05])


def test_the_given_directions_come_first_and_all_have_length_one(points: np.ndarray) -> None:
    given = np.eye(5)[:3]
    for steps in (0, 1, 4):
        found = search_directions(points, given, steps, judge_of(points))
        # Each point proposes one direction at the start and one at each step.
        assert found.shape == (3 + (steps + 1) * len(points), 5)
        assert (found[:3] == given).all()
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-12)


def test_the_first_proposals_are_those_of_the_ellipse_of_the_deeper_half(
    points: np.ndarray,
) -> None:
    """S^-1 (x - c), with the center and the scatter of the points that look deepest so far."""
    shallow, _ = judge_of(points)(np.eye(5))
    deeper = points[np.argsort(shallow)[: len(points) // 2]]
    expected = (points - deeper.mean(axis=0)) @ np.linalg.inv(np.cov(deeper.T))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    first = search_directions(points, np.eye(5), 0, judge_of(points))[5:]
    np.testing.assert_allclose(first, expected, rtol=0, atol=1e-10)


def test_tilts_become_smaller(points: np.ndarray) -> None:
    """Proposals of late steps lie close to the best direction known: they are small tilts of it."""
    steps = 12
    found = search_directions(points, np.eye(5), steps, judge_of(points))
    parts = found[5:].reshape(steps + 1, len(points), 5)
    # Angles between the proposals of a point in the last two steps, and in the first two.
    late = np.arccos(np.abs((parts[-1] * parts[-2]).sum(axis=1)).clip(max=1))
    early = np.arccos(np.abs((parts[1] * parts[2]).sum(axis=1)).clip(max=1))
    # The tilt of the last step is 0.75**11 of the first, 0.04 times: an angle below 0.1.
    assert np.median(late) < 0.1
    assert np.median(early) > 0.3


def test_searching_on_finds_shallower_views_than_trying_as_many_at_random(
    points: np.ndarray,
) -> None:
    judge = judge_of(points)
    found = search_directions(points, np.eye(5), 8, judge)
    random = np.random.default_rng(1).standard_normal(found.shape)
    random /= np.linalg.norm(random, axis=1, keepdims=True)
    searched, tried = judge(found)[0], judge(random)[0]
    assert (searched >= judge(np.eye(5))[0]).all()
    assert searched.mean() > 1.02 * tried.mean()


def test_points_at_the_center_do_not_propose_directions() -> None:
    points = np.zeros((4, 3))

    def judge(directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(4), np.zeros(4, dtype=int)

    found = search_directions(points, np.eye(3), 0, judge)
    assert (found == np.eye(3)).all()
    assert len(search_directions(points, np.eye(3), 2, judge)) == 3 + 2 * 4


def test_a_single_point_and_two_points() -> None:
    for points in (np.array([[0.5, 0.25]]), np.array([[0.5, 0.25], [-0.5, 0.125]])):
        found = search_directions(points, np.eye(2), 1, judge_of(points))
        assert np.isfinite(found).all()


def test_of_very_many_points_a_part_proposes_each_time() -> None:
    points = np.random.default_rng(0).standard_normal((2500, 2))
    found = search_directions(points, np.eye(2), 1, judge_of(points))
    assert len(found) == 2 + 2 * 2000


@pytest.mark.parametrize("estimator", [HalfspaceDepth, ProjectionDepth])
def test_searched_depths_come_near_the_exact_ones_in_a_thin_cloud(estimator: type) -> None:
    X = np.random.default_rng(2).standard_normal((50, 2)) * [1, 0.05]
    # In the plane, many equispaced directions give nearly the exact depth.
    exact = estimator(n_directions=20_000, directions="equispaced").fit(X).depth_
    plain = estimator(n_directions=15, random_state=0).fit(X).depth_
    searched = estimator(n_directions=15, random_state=0, refine=15).fit(X).depth_
    assert (searched >= exact - 1e-3).all()
    assert (searched - exact).mean() < 0.05 * (plain - exact).mean()
