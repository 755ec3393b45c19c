"""Whitening: copies of rows that replace weights, samples in a subspace, units of columns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import EmpiricalCovariance

from isodepth import AIIRWDepth, IRWDepth
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.geometry import transforms as whitening
from isodepth.geometry.regions import Sample


@pytest.mark.parametrize("covariance", ["oas", 3, object()])
def test_invalid_covariance(covariance: object) -> None:
    with pytest.raises(InvalidOptionError, match=r"covariance .*empirical.*mcd.*ledoit-wolf"):
        AIIRWDepth(covariance=covariance).fit(np.eye(5))


def test_a_covariance_that_cannot_be_estimated() -> None:
    class Refusing(EmpiricalCovariance):
        def fit(self, X: np.ndarray, y: None = None) -> Refusing:
            raise ValueError("too few rows")

    with pytest.raises(InvalidInputError, match=r"cannot be estimated .*too few rows"):
        AIIRWDepth(covariance=Refusing()).fit(np.eye(5))


@pytest.mark.parametrize("d", [1, 3, 8])
def test_projections_of_scaled_columns_do_not_overflow(d: int) -> None:
    points = np.full((2, d), 1e300) * [[1.0], [-1.0]]
    scaled = whitening.scale_columns(points, np.full(d, -100))
    assert np.isfinite(4 * np.abs(scaled).sum(axis=1)).all()
    np.testing.assert_array_equal(np.sign(scaled), np.sign(points))
    np.testing.assert_array_equal(whitening.scale_columns(points, np.full(d, 2)), points / 4)


def repeats(weights: np.ndarray) -> tuple[np.ndarray, Sample]:
    """Return the number of copies of each row in `whitening._repeated`, and the weighted sample."""
    points = np.arange(float(len(weights)))[:, None]
    sample = Sample.of(points, weights)
    rows = whitening._repeated(sample.points, sample)
    return np.bincount(rows[:, 0].astype(int), minlength=len(weights)), sample


def test_equal_masses_are_not_repeated() -> None:
    assert repeats(np.ones(7))[0].tolist() == [1] * 7


def test_small_totals_are_repeated_exactly() -> None:
    weights = np.array([1, 2, 3, 17, 57])
    assert weights.sum() == whitening._MOST_REPEATS * len(weights) - 20
    assert repeats(weights)[0].tolist() == weights.tolist()
    # Maximum total mass for which rows are repeated exactly.
    weights = np.array([1, 2, 3, 17, 77])
    assert weights.sum() == whitening._MOST_REPEATS * len(weights)
    assert repeats(weights)[0].tolist() == weights.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_larger_totals_are_repeated_in_proportion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 1000, size=40) if seed % 2 else rng.random(40)
    found, sample = repeats(weights)
    limit = whitening._MOST_REPEATS * len(weights)
    assert sample.total > limit
    assert found.sum() == limit
    # Rounded at both ends, so that no row is off by one or more, nor is any sum of neighbors.
    wanted = sample.shares * limit
    assert np.abs(found - wanted).max() < 1
    assert np.abs(np.cumsum(found) - np.cumsum(wanted)).max() <= 0.5


@pytest.mark.parametrize("covariance", ["empirical", "mcd"])
def test_units_of_the_columns_do_not_matter(covariance: str) -> None:
    """Depths hardly change if columns are multiplied by powers of two, up to 2^20 and 2^-30."""
    X = np.random.default_rng(1).standard_normal((60, 3))
    depth = AIIRWDepth(covariance=covariance, n_directions=200, random_state=0)
    plain = depth.fit(X).depth_
    scaled = depth.fit(X * [1.0, 2.0**-30, 2.0**20]).depth_
    # Powers of two: results differ only by the rounding of a matrix root.
    np.testing.assert_allclose(scaled, plain, atol=2 / 60)
    assert np.corrcoef(scaled, plain)[0, 1] > 0.999


def test_white_data_have_the_depths_of_plain_irw_in_mean() -> None:
    """Check that AI-IRW depths of a stretched sample are the IRW depths of the white sample."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 2))
    X -= X.mean(axis=0)
    X = X @ np.linalg.inv(np.linalg.cholesky(np.cov(X.T, bias=True))).T
    stretch = np.array([[3.0, 1.0], [0.0, 0.2]])
    options = {"n_directions": 720, "directions": "equispaced", "random_state": 0}
    plain = IRWDepth(**options).fit(X).depth_
    whitened = AIIRWDepth(**options).fit(X @ stretch.T).depth_
    # Whitening is unique up to a rotation, which hardly matters for 720 equispaced directions.
    np.testing.assert_allclose(whitened, plain, atol=2e-3)


def test_points_off_the_flat_of_the_sample_have_depth_zero() -> None:
    rng = np.random.default_rng(3)
    flat = rng.standard_normal((40, 2)) @ np.array([[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]]) + 5.0
    depth = AIIRWDepth(n_directions=100, random_state=0).fit(flat)
    center = flat.mean(axis=0)
    inside = center + 0.1 * (flat[0] - flat[1])
    off = [center + [0, 0, 1e-3], center + [1.0, 0, 0], center * 3]
    scores = depth.score_samples(np.vstack([center, inside, *off]))
    assert (scores[:2] > 0.2).all()
    assert (scores[2:] == 0).all()


def test_points_off_a_constant_column_have_depth_zero() -> None:
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.standard_normal((30, 2)), np.full(30, 7.0)])
    depth = AIIRWDepth(n_directions=100, random_state=0).fit(X)
    center = X.mean(axis=0)
    scores = depth.score_samples([center, center + [0, 0, 1e-6], center - [0, 0, 100.0]])
    assert scores[0] > 0.2
    assert (scores[1:] == 0).all()


@pytest.mark.parametrize("covariance", whitening.COVARIANCES)
def test_one_point_has_no_spread(covariance: str) -> None:
    sample = Sample.of(np.array([[3.0, 4.0]]), None)
    assert not whitening.Whitening.of(sample, covariance).matrix.any()


@pytest.mark.parametrize("sizes", [(1.0, 1e-40), (1e-44, 1.0), (1e30, 1e-30), (1e37, 1e30)])
@pytest.mark.parametrize("covariance", whitening.COVARIANCES)
def test_columns_of_very_different_size_in_single_precision(
    sizes: tuple[float, float], covariance: str
) -> None:
    """Depths are finite and correct in float32 if the units of columns differ by up to 1e60.

    Directions in the units of the columns would overflow.
    """
    rng = np.random.default_rng(0)
    X = (np.column_stack([rng.uniform(-1, 1, 500), rng.random(500)]) * sizes).astype(np.float32)
    depth = AIIRWDepth(covariance=covariance, n_directions=50, random_state=0)
    single = depth.fit(X).depth_
    scores = depth.score_samples(X[:50] * np.float32(0.5))
    double = depth.fit(X.astype(np.float64))
    # Rounding may exchange rows of adjacent ranks along a direction, which changes depths by 1 / n.
    np.testing.assert_allclose(single, double.depth_, atol=2e-3)
    np.testing.assert_allclose(scores, double.score_samples(X[:50] * np.float32(0.5)), atol=2e-3)
    # The columns are independent and uniform: their units do not change the depths.
    if covariance == "empirical":
        plain = depth.fit(X.astype(np.float64) / sizes).depth_
        np.testing.assert_allclose(single, plain, atol=2e-3 if min(sizes) > 1e-42 else 0.03)
