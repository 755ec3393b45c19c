"""Extreme but valid input gives correct results, without warnings of NumPy or scikit-learn."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.covariance import OAS, MinCovDet

import isodepth
from isodepth.geometry.weights import exact_masses

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3))
Y = RNG.standard_normal((9, 3)) + 1
SPREAD = np.array([1e-300, 1.0, 1e300])

#: x, y, weights
CASES: dict[str, tuple[Any, Any, Any]] = {
    "ordinary": (X, Y, None),
    "weights whose sum overflows": (X, Y, (np.full(12, 1e308), np.linspace(0.1, 1, 9) * 1.7e308)),
    "weights below the normal numbers": (X, Y, (np.full(12, 5e-324), np.arange(1, 10) * 5e-324)),
    "weights that vanish beside others": (X, Y, (np.repeat([1e-300, 1e300], 6), None)),
    "columns at 1e-300 beside 1e300": (X * SPREAD, Y * SPREAD, None),
    "a column that is small beside others": (X * [1e-307, 1, 1], Y * [1e-307, 1, 1], None),
    "a column of subnormal numbers": (X * [1e-310, 1, 1], Y * [1e-310, 1, 1], None),
    "all subnormal": (X * 1e-310, Y * 1e-310, None),
    "all huge": (X * 1e300, Y * 1e300, None),
    "small float32": ((X * 1e-40).astype(np.float32), (Y * 1e-40).astype(np.float32), None),
    "large float32": ((X * 1e37).astype(np.float32), (Y * 1e37).astype(np.float32), None),
    "one row": (X[:1], Y, None),
    "one row each": (X[:1], Y[:1], None),
    "two equal rows": (X[[0, 0]], Y, None),
    "two rows": (X[:2], Y[:2], None),
    "a constant column": (X * [1, 0, 1], Y * [1, 0, 1], None),
    "rows on a line": (X[:, :1] * [1, 2, 3], Y[:, :1] * [1, 2, 3], None),
    "one column": (X[:, :1], Y[:, :1], None),
}
DEPTHS: dict[str, Any] = {
    "projection": isodepth.ProjectionDepth(),
    "halfspace": isodepth.HalfspaceDepth(),
    "irw": isodepth.IRWDepth(),
    "empirical": isodepth.AIIRWDepth(),
    "mcd": isodepth.AIIRWDepth(covariance="mcd"),
    "ledoit-wolf": isodepth.AIIRWDepth(covariance="ledoit-wolf"),
    "estimator OAS": isodepth.AIIRWDepth(covariance=OAS()),
    "estimator MinCovDet": isodepth.AIIRWDepth(covariance=MinCovDet(random_state=0)),
}


@pytest.mark.parametrize("case", CASES)
def test_distances_are_silent_and_right(case: str) -> None:
    x, y, weights = CASES[case]
    back = None if weights is None else weights[::-1]
    same = None if weights is None else (weights[0], weights[0])
    # The last depth uses the same covariance fit as "mcd", which is tested below.
    for name, depth in list(DEPTHS.items())[:-1]:
        metric = isodepth.Metric(depth=depth, n_directions=40, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # Warnings of isodepth about few rows or about very different columns are correct.
            warnings.simplefilter("ignore", isodepth.errors.DegenerateDepthWarning)
            warnings.simplefilter("ignore", isodepth.errors.ScaleWarning)
            found = metric.compare(x, y, weights=weights)
            assert str(found)
            # Four more fits of "mcd" would take longer than all other depths.
            if name != "mcd" or case == "ordinary":
                assert metric.distance(y, x, weights=back) == found.distance
                assert metric.distance(x, x, weights=same) == 0.0
        assert np.isfinite(found.distance)
        assert found.distance > 0


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("options", [{"q": 2}, {"q": 1, "scale": "pooled"}, {"levels": 5}], ids=str)
def test_settings_are_silent_and_right(case: str, options: dict) -> None:
    x, y, weights = CASES[case]
    metric = isodepth.Metric(n_directions=40, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", isodepth.errors.DegenerateDepthWarning)
        warnings.simplefilter("ignore", isodepth.errors.ScaleWarning)
        found = metric.compare(x, y, weights=weights)
        shares = [each.fraction for each in found.contributions]
    assert found.distance > 0
    assert np.isfinite(found.distance)
    assert sum(shares) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_fits_are_silent_and_right(case: str) -> None:
    x, y, weights = CASES[case]
    for depth in DEPTHS.values():
        estimator = clone(depth)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", isodepth.errors.DegenerateDepthWarning)
            estimator.fit(x, sample_weight=None if weights is None else weights[0])
            depths = np.concatenate([estimator.score_samples(x), estimator.score_samples(y)])
        assert (depths >= 0).all()
        assert (depths <= 1).all()


def test_estimates_that_do_not_exist_are_refused() -> None:
    """A covariance that cannot be estimated robustly is an error.

    More than half of the rows are equal, so that their covariance is singular.
    """
    rows = np.concatenate([X[:5], X[[0] * 7]])
    depth = isodepth.AIIRWDepth(covariance="mcd")
    with pytest.raises(
        isodepth.errors.InvalidInputError, match=r"cannot be estimated.*ledoit-wolf"
    ):
        isodepth.distance(rows, Y, depth=depth)


def test_weights_that_vanish_beside_others_are_not_made_their_equals() -> None:
    masses = exact_masses(np.array([2.0**1000, 2.0**1000, 2.0**-1000]))
    assert masses[0] == masses[1]
    assert masses[0] >= 2**52
    assert masses[2] == 1


def test_threads_restore_the_filters_of_warnings() -> None:
    """The filters of warnings are unchanged after a computation in several threads.

    Repeated columns make scikit-learn warn of a singular covariance in the threads.
    """
    rows = np.column_stack([X, X[:, 0]])
    depth = isodepth.AIIRWDepth(covariance="mcd")
    metric = isodepth.Metric(depth=depth, n_directions=40, random_state=0)
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: metric.distance(rows, rows + 1), range(12)))
    assert len(set(found)) == 1
    assert warnings.filters == before
