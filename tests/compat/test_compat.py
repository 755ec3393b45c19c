"""Functions with the interface of the authors equal a slow reference written from the paper."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.covariance import MinCovDet
from twins import naive_compat as naive

from isodepth.compat import DRPM, DepthScoreMetric
from isodepth.errors import InvalidInputError, InvalidOptionError


def pair(seed: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return two random samples, and random arguments of DRPM."""
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(8, 40), rng.integers(8, 40), rng.integers(1, 6)
    X = rng.normal(size=(n, d))
    Y = rng.normal(size=(m, d)) * rng.uniform(0.5, 2) + rng.normal(size=d)
    options = {
        "n_alpha": int(rng.integers(1, 9)),
        "eps_min": int(rng.integers(0, 5)) / 10,
        "eps_max": [0.75, 1.0][seed % 2],
        "n_dirs": int(rng.integers(3, 40)),
    }
    return X, Y, options


def reference(X: Any, Y: Any, depth: str, options: dict[str, Any], seed: int) -> list[list[float]]:
    return naive.signed_gaps(X.tolist(), Y.tolist(), depth, seed=seed, **options)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("depth", ["irw", "projection", "tukey"])
def test_even_powers_equal_the_formulas_of_the_authors(seed: int, depth: str) -> None:
    X, Y, options = pair(seed)
    start = 0 if depth == "irw" else seed
    gaps = reference(X, Y, depth, options, start)
    p = (2, 4)[seed % 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = DRPM(X, Y, data_depth=depth, p=p, random_state=seed, **options)
    assert found == pytest.approx(naive.printed_distance(gaps, p), rel=1e-12)
    assert found == pytest.approx(naive.distance(gaps, p), rel=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_odd_powers_equal_them_if_no_difference_is_negative(seed: int) -> None:
    X, Y, options = pair(seed)
    # Regions of a larger sample around that of X: h_Y - h_X is positive in all directions.
    Y = 3 * (X - X.mean(axis=0)) + X.mean(axis=0) if seed % 2 else 50 + 5 * abs(Y)
    gaps = reference(Y, X, "irw", options, 0)
    printed = naive.printed_distance(gaps, 5)
    differs = not np.isclose(printed, naive.distance(gaps, 5), rtol=1e-9)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = DRPM(Y, X, data_depth="irw", p=5, **options)
    assert found == pytest.approx(naive.distance(gaps, 5), rel=1e-12)
    assert len(caught) == differs


def test_signed_powers_are_replaced_with_one_warning() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    options = {"n_alpha": 5, "eps_min": 0.1, "eps_max": 0.5, "n_dirs": 50}
    gaps = reference(X, 2 * X, "irw", options, 0)
    assert np.isnan(naive.printed_distance(gaps, 5))
    with pytest.warns(UserWarning, match="power 5 without absolute value, .* nan inst") as caught:
        found = DRPM(X, 2 * X, p=5, **options)
    assert len(caught) == 1
    assert found == pytest.approx(naive.distance(gaps, 5), rel=1e-12)
    # The other way the authors' number is right, and there is no warning.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert DRPM(2 * X, X, p=5, **options) == pytest.approx(found, rel=1e-12)


def test_percentiles_are_not_rounded_down() -> None:
    X, Y, options = pair(3)
    options |= {"eps_min": 0.29, "n_alpha": 4}  # int(0.29 * 100) is 28
    with pytest.warns(UserWarning, match="rounds eps_min"):
        found = DRPM(X, Y, p=2, **options)
    assert found == pytest.approx(naive.distance(reference(X, Y, "irw", options, 0), 2), rel=1e-12)


def test_defaults_and_the_whole_hull() -> None:
    X, Y, _ = pair(4)
    options = {"n_alpha": 10, "eps_min": 0, "eps_max": 1, "n_dirs": 100 * X.shape[1]}
    assert DRPM(X, Y) == DRPM(X, Y, data_depth="irw", p=2, **options)
    hull = {"n_alpha": 1, "eps_min": 0.0, "eps_max": 1.0, "n_dirs": 20}
    stream = np.random.RandomState(0)
    stream.standard_normal((20, X.shape[1]))
    U = stream.standard_normal((20, X.shape[1]))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    expected = np.abs((X @ U.T).max(axis=0) - (Y @ U.T).max(axis=0)).max()
    assert DRPM(X, Y, **hull) == pytest.approx(expected, rel=1e-12)


def test_robust_whitening_uses_the_covariance_of_the_inner_half() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2)) @ [[5.0, 0.0], [0.0, 0.2]]
    X[:6] = [0.0, 1e3] + rng.normal(size=(6, 2))
    stream = np.random.RandomState(0)
    covariance = MinCovDet(random_state=stream).fit(X).covariance_
    values, axes = np.linalg.eigh(covariance)
    whitened = X @ axes[:, ::-1] / np.sqrt(values[::-1])
    # The sign of an axis does not change the depth along directions with the same sign.
    depths = [
        naive.depths((whitened * signs).tolist(), "irw", ordering)
        for ordering in [[naive.direction(stream, 2) for _ in range(30)]]
        for signs in np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    ]
    U = np.array([naive.direction(stream, 2) for _ in range(30)])
    # The deepest points of X and of X / 2 are compared.
    distances = [np.abs(U @ X[int(np.argmax(depth))]).max() / 2 for depth in depths]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = DRPM(X, 0.5 * X, data_depth="ai_irw", n_alpha=1, eps_min=1.0, n_dirs=30)
    assert np.isclose(found, distances, rtol=1e-9).any()


def test_affine_invariant_depth_of_fewer_points_than_columns() -> None:
    X = np.random.default_rng(6).normal(size=(5, 8))
    metric = DepthScoreMetric(lambda texts: [X + len(text) for text in texts], 9, "ai_irw", p=2)
    (score,) = metric.evaluate_batch("ab", "abc")["depth_score"]
    assert 0 < score < 2


def letters(texts: Any) -> list[list[list[float]]]:
    return [[[ord(c) % 7 + 1, ord(c) % 5, 1] for c in text] for text in texts]


def test_scores_of_texts_are_those_of_unit_vectors() -> None:
    metric = DepthScoreMetric(letters)
    with pytest.warns(UserWarning, match="absolute value"):
        scores = metric.evaluate_batch(["abcdef", "xyz"], ["abd", "uvwxyz"])
    assert list(scores) == ["depth_score"]
    options = {"n_alpha": 5, "eps_min": 0.3, "eps_max": 1.0, "p": 5, "n_dirs": 10_000}
    for score, text, target in zip(
        scores["depth_score"], ["abcdef", "xyz"], ["abd", "uvwxyz"], strict=True
    ):
        clouds = [np.array(cloud, dtype=float) for cloud in letters([target, text])]
        x, y = ((c / np.linalg.norm(c, axis=1, keepdims=True)).astype("f4") for c in clouds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert score == pytest.approx(DRPM(x, y, **options), rel=1e-12)


def test_errors() -> None:
    X, Y, _ = pair(0)
    with pytest.raises(InvalidOptionError, match="data_depth"):
        DRPM(X, Y, data_depth="halfspace")
    with pytest.raises(InvalidOptionError, match="eps_max"):
        DRPM(X, Y, eps_min=0.5, eps_max=0.2)
    with pytest.raises(InvalidOptionError, match="considered_measure"):
        DepthScoreMetric(letters, considered_measure="wasserstein")
    with pytest.raises(InvalidInputError, match="at least one token"):
        DepthScoreMetric(letters).evaluate_batch([""], ["a"])
