"""Settings of the depths: what they are when nothing is said, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth import AIIRWDepth, HalfspaceDepth, IRWDepth, ProjectionDepth
from isodepth.errors import InvalidOptionError

ALL = [HalfspaceDepth, ProjectionDepth, IRWDepth, AIIRWDepth]
X = np.random.default_rng(0).standard_normal((12, 2))


@pytest.mark.parametrize("estimator", ALL)
def test_defaults(estimator: type) -> None:
    found = estimator().get_params()
    expected = {"n_directions": 1000, "directions": "uniform", "random_state": None, "n_jobs": None}
    if estimator in (HalfspaceDepth, ProjectionDepth):
        expected |= {"method": "directions", "refine": 0}
    if estimator is AIIRWDepth:
        expected |= {"covariance": "empirical"}
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize(
    "options", [{"n_jobs": 0}, {"n_jobs": -1}, {"n_jobs": 1.5}, {"n_directions": 0}]
)
def test_numbers_that_make_no_sense(estimator: type, options: dict[str, float]) -> None:
    (name,) = options
    with pytest.raises(InvalidOptionError, match=name):
        estimator(**options).fit(X)
    assert estimator(n_jobs=1, n_directions=1).fit(X).depth_.shape == (12,)


@pytest.mark.parametrize("estimator", [HalfspaceDepth, ProjectionDepth])
def test_exact_leaves_nothing_to_refine(estimator: type) -> None:
    with pytest.raises(InvalidOptionError, match="refine=1"):
        estimator(method="exact", refine=1).fit(X)
    with pytest.raises(InvalidOptionError, match="method"):
        estimator(method="best").fit(X)
    with pytest.raises(InvalidOptionError, match="refine"):
        estimator(refine=-1).fit(X)
