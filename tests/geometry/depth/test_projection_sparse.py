"""Projection depth of samples of which at least half have equal projections on a direction."""

from __future__ import annotations

import numpy as np
import pytest
from twins import naive, naive_geometry

import isodepth
from isodepth import ProjectionDepth
from isodepth.geometry.regions import Sample

FEW = 64  # maximum number of points that are projected on several directions at once
# Ratios of sums of a few products, in units of 1e-16.
RELATIVE = 1e-12


def repeated_rows(rng: np.random.Generator, n: int, share: float, d: int) -> np.ndarray:
    """Return n rows of which the fraction `share` are equal."""
    rows = rng.normal(size=(n, d))
    rows[: int(share * n)] = rng.normal(size=d)
    return rng.permutation(rows)


def mostly_flat(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return n distinct rows, three quarters of which are zero in the first column."""
    rows = rng.normal(size=(n, d))
    rows[: 3 * n // 4, 0] = 0.0
    return rng.permutation(rows)


@pytest.mark.parametrize("share", [0.5, 0.55, 0.8, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_repeated_rows_have_the_depths_of_the_definition(share: float, weighted: bool) -> None:
    rng = np.random.default_rng([int(100 * share), weighted])
    X, Z = repeated_rows(rng, 40, share, 3), rng.normal(size=(9, 3))
    weights = rng.integers(0, 4, size=40) if weighted else None
    U = rng.normal(size=(30, 3))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    depth = ProjectionDepth(directions=U).fit(X, sample_weight=weights)
    for found, targets in ((depth.depth_, X), (depth.score_samples(Z), Z)):
        expected = naive.projection_depth(X, U, weights, targets)
        np.testing.assert_allclose(found, expected, rtol=RELATIVE)


@pytest.mark.parametrize("n", [12, 13, FEW + 20, FEW + 21])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_flat_direction_among_others(n: int, weighted: bool) -> None:
    """One direction with MAD zero changes depths as defined, for any sample size and weights."""
    rng = np.random.default_rng([n, weighted])
    X, Z = mostly_flat(rng, n, 2), rng.normal(size=(9, 2))
    weights = rng.integers(1, 4, size=n) if weighted else None
    U = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    depth = ProjectionDepth(directions=U).fit(X, sample_weight=weights)
    for found, targets in ((depth.depth_, X), (depth.score_samples(Z), Z)):
        expected = np.asarray(naive.projection_depth(X, U, weights, targets))
        np.testing.assert_allclose(found, expected, rtol=RELATIVE)


def test_the_flat_direction_alone() -> None:
    X = np.array(
        [[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0], [1.0, 5.0], [-2.0, 6.0], [9, 7.0]]
    )
    depth = ProjectionDepth(directions=[[1.0, 0.0]]).fit(X)
    # Deviations 1, 2 and 9 with median 2.
    np.testing.assert_allclose(depth.depth_, [1, 1, 1, 1, 2 / 3, 1 / 2, 2 / 11], rtol=RELATIVE)
    found = depth.score_samples([[0.0, 50.0], [4.0, 0.0], [1e300, 0.0]])
    np.testing.assert_allclose(found, [1, 1 / 3, 0], rtol=RELATIVE, atol=1e-299)


def test_if_all_rows_coincide_only_other_points_are_outlying() -> None:
    depth = ProjectionDepth(directions=[[1.0, 0.0]]).fit([[2.0, 0.0], [2.0, 1.0], [2.0, 2.0]] * 2)
    assert depth.depth_.tolist() == [1.0] * 6
    assert depth.score_samples([[2.0, 9.0], [2.5, 1.0]]).tolist() == [1.0, 0.0]


def test_rounding_is_not_a_deviation() -> None:
    """Check that rows whose projections differ only by rounding have outlyingness 0."""
    rng = np.random.default_rng(3)
    places = rng.normal(size=90)
    # Three quarters lie on a line up to rounding; the direction is its normal.
    X = np.column_stack([0.1 * places, 0.3 * places])
    X[:20, 0] += rng.uniform(1, 2, 20)
    normal = np.array([[3.0, -1.0]]) / np.sqrt(10)
    depths = ProjectionDepth(directions=normal).fit(X).depth_
    assert (depths[20:] == 1).all()
    off = X[:20] @ normal[0] - np.median(X[20:] @ normal[0])
    np.testing.assert_allclose(depths[:20], 1 / (1 + off / np.median(off)), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_nothing(dtype: str, n_jobs: int) -> None:
    rng = np.random.default_rng(5)
    X = repeated_rows(rng, 700, 0.7, 4).astype(dtype)
    found = ProjectionDepth(random_state=0, n_jobs=n_jobs).fit(X).depth_
    expected = ProjectionDepth(random_state=0, n_jobs=None).fit(X).depth_
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "units",
    [
        [1],
        [2, 1],
        [3, 3],
        [1, 1, 1],
        [3, 1, 1],
        [4, 1, 2],
        [2, 1, 1],
        [5, 1, 1],
        [2, 2, 3],
        [1, 9, 4],
    ],
)
def test_corners_of_a_simplex_have_the_depths_of_all_directions(units: list[int]) -> None:
    corners = np.array([[0.0, 1.0], [4.0, 3.0], [2.0, -5.0]])[: len(units)]
    sample = Sample.of(corners, units)
    expected = naive_geometry.projection_depths(sample.points, sample.unit_masses, sample.points)
    found = ProjectionDepth()._tied_depth(sample)
    assert found.tolist() == [float(x) for x in expected]


def test_most_rows_identical_and_one_bad_row() -> None:
    rng = np.random.default_rng(0)
    X, Y = repeated_rows(rng, 2000, 0.6, 6), repeated_rows(rng, 2000, 0.6, 6)
    bad = X.copy()
    bad[np.flatnonzero((np.median(X, axis=0) != X).any(axis=1))[0]] = 1e6
    clean = isodepth.distance(X, Y, eps=0.1, random_state=0)
    assert isodepth.distance(bad, Y, eps=0.1, random_state=0) == pytest.approx(clean, rel=0.05)
    assert isodepth.distance(np.vstack([X, bad[bad[:, 0] == 1e6]]), Y, eps=0.1, random_state=0) == (
        pytest.approx(clean, rel=0.05)
    )


def precipitation_and_visibility(rng: np.random.Generator, n: int, wetter: float) -> np.ndarray:
    """Return hourly rain, 0 in nine of ten hours, and visibility, mostly at its maximum.

    `wetter` multiplies the rain.
    """
    rain = np.where(rng.random(n) < 0.9, 0.0, np.round(wetter * rng.exponential(size=n), 2))
    clear = rng.random(n) < 0.85 - 0.5 * (rain > 0)
    return np.column_stack([rain, np.where(clear, 10.0, np.round(10 * rng.random(n), 1))])


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("eps", [0.1, 0.05])
def test_one_bad_reading_among_mostly_constant_columns(column: int, eps: float) -> None:
    rng = np.random.default_rng(1)
    X = precipitation_and_visibility(rng, 2226, 1.0)
    Y = precipitation_and_visibility(rng, 2226, 3.0)
    bad = X.copy()
    bad[1000, column] = 1000.0
    clean = isodepth.distance(X, Y, eps=eps, random_state=0)
    assert clean > 0
    assert isodepth.distance(bad, Y, eps=eps, random_state=0) == pytest.approx(clean, rel=0.05)
