"""Whitening: estimators that know no weights, flat samples, columns of any unit."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from sklearn.covariance import EmpiricalCovariance

from isodepth import AIIRWDepth, IRWDepth


class Noting(EmpiricalCovariance):
    """An estimator that notes the rows it is given."""

    seen: ClassVar[list[np.ndarray]] = []

    def fit(self, X, y=None):
        self.seen.append(np.array(X))
        return super().fit(X)


def rows_given(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    Noting.seen.clear()
    AIIRWDepth(covariance=Noting(), n_directions=10, random_state=0).fit(
        points, sample_weight=weights
    )
    (rows,) = Noting.seen
    return rows


def counts_of(rows: np.ndarray) -> list[int]:
    """How often each distinct row occurs, in lexicographic order."""
    return np.unique(rows, axis=0, return_counts=True)[1].tolist()


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    rows = np.random.default_rng(0).standard_normal((8, 2))
    return rows[np.lexsort(rows.T[::-1])]


def test_small_whole_weights_are_repeated_rows(points: np.ndarray) -> None:
    weights = np.array([1, 2, 3, 4, 5, 6, 7, 8])
    assert counts_of(rows_given(points, weights)) == weights.tolist()


def test_weights_of_any_size_are_repeated_in_proportion(points: np.ndarray) -> None:
    """Cumulative rounding: each count is within one of its share, and the total does not drift."""
    weights = np.array([101.0, 211.0, 307.0, 401.0, 503.0, 601.0, 701.0, 809.0])
    rows = rows_given(points, weights)
    counts = counts_of(rows)
    assert 100 < len(rows) <= 20 * len(points)
    assert np.abs(counts - weights / weights.sum() * len(rows)).max() <= 1


def test_without_weights_rows_are_given_once(points: np.ndarray) -> None:
    assert counts_of(rows_given(points, np.ones(8))) == [1] * 8
    assert counts_of(rows_given(points, np.full(8, 0.37))) == [1] * 8


@pytest.mark.parametrize("covariance", ["empirical", "mcd"])
def test_units_of_the_columns_do_not_matter(covariance: str) -> None:
    """Metres beside nanometres: the covariance must not look singular."""
    X = np.random.default_rng(1).standard_normal((60, 3))
    depth = AIIRWDepth(covariance=covariance, n_directions=200, random_state=0)
    plain = depth.fit(X).depth_
    scaled = depth.fit(X * [1.0, 2.0**-30, 2.0**20]).depth_
    # Powers of two: the same numbers but for how a root of a matrix rounds.
    np.testing.assert_allclose(scaled, plain, atol=2 / 60)
    assert np.corrcoef(scaled, plain)[0, 1] > 0.999


def test_white_data_have_the_depths_of_plain_irw_in_mean() -> None:
    """After whitening a stretched cloud is as deep as the cloud before it was stretched."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 2))
    X -= X.mean(axis=0)
    X = X @ np.linalg.inv(np.linalg.cholesky(np.cov(X.T, bias=True))).T
    stretch = np.array([[3.0, 1.0], [0.0, 0.2]])
    options = {"n_directions": 720, "directions": "equispaced", "random_state": 0}
    plain = IRWDepth(**options).fit(X).depth_
    whitened = AIIRWDepth(**options).fit(X @ stretch.T).depth_
    # Whitening is free up to a rotation, which 720 equispaced directions hardly see.
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
