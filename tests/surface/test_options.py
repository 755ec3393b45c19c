"""Options `n_jobs` and `random_state` have the same meaning in all functions."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from text_extra import needs

import isodepth

X, Y = np.random.default_rng(0).normal(size=(2, 50, 3))
CALLS = {
    "distance": lambda **o: isodepth.distance(X, Y, n_directions=20, **o),
    "compare": lambda **o: isodepth.compare(X, Y, n_directions=20, **o).gaps,
    "pairwise": lambda **o: isodepth.pairwise([X, Y], n_directions=20, **o).values,
    "region_tables": lambda **o: isodepth.region_tables([X, Y], n_directions=20, **o).values,
    "two_sample_test": lambda **o: isodepth.two_sample_test(X, Y, n_permutations=19, **o).statistic,
    "DistanceTransformer": lambda **o: isodepth.DistanceTransformer(
        n_directions=20, **o
    ).fit_transform([X, Y]),
    "ProjectionDepth": lambda **o: isodepth.ProjectionDepth(n_directions=20, **o).fit(X).depth_,
}


@pytest.mark.parametrize("name", CALLS)
def test_none_and_minus_one_mean_all_cores(name: str) -> None:
    expected = CALLS[name](random_state=0)
    for n_jobs in (None, -1, 1, np.int64(2)):
        np.testing.assert_array_equal(CALLS[name](random_state=0, n_jobs=n_jobs), expected)
    for wrong in (0, -2, 1.5, True, "all"):
        with pytest.raises(
            isodepth.errors.InvalidOptionError, match="n_jobs must be an integer >= 1"
        ):
            CALLS[name](random_state=0, n_jobs=wrong)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_random_states_of_numpy(name: str, kind: Any) -> None:
    call = CALLS[name]
    np.testing.assert_array_equal(call(random_state=kind(5)), call(random_state=kind(5)))
    shared = kind(5)
    first, second = call(random_state=shared), call(random_state=shared)
    assert not np.array_equal(first, second)
    call(random_state=None)
    np.testing.assert_array_equal(call(random_state=np.int64(3)), call(random_state=3))
    for wrong in (-1, 1.5, "seed", True):
        with pytest.raises(
            isodepth.errors.InvalidOptionError, match="random_state must be an integer"
        ):
            call(random_state=wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda **o: isodepth.distance(X, Y, **o),
        lambda **o: isodepth.pairwise([X, Y], **o),
        lambda **o: isodepth.two_sample_test(X, Y, **o),
        lambda **o: isodepth.pairwise_test([X, Y], **o),
        lambda **o: isodepth.ProjectionDepth(**o).fit(X),
    ],
    ids=["distance", "pairwise", "two_sample_test", "pairwise_test", "ProjectionDepth"],
)
@pytest.mark.parametrize("wrong", [0, 2**31, 1.5, True])
def test_numbers_of_directions_have_one_range(call: Any, wrong: Any) -> None:
    with pytest.raises(
        isodepth.errors.InvalidOptionError, match=r"n_directions must be (an integer|at most)"
    ):
        call(n_directions=wrong)


@needs("torch")
def test_the_loss_has_the_defaults_of_the_distance() -> None:
    import torch

    from isodepth.torch import DepthLoss

    x, y = torch.tensor(X, requires_grad=True), torch.tensor(Y)
    assert DepthLoss()(x, y) == isodepth.distance(x, y, random_state=0)
    loss = inspect.signature(DepthLoss).parameters
    metric = inspect.signature(isodepth.Metric).parameters
    shared = {*loss} & {*metric} - {"random_state"}
    assert len(shared) > 10
    assert {name: loss[name].default for name in shared} == {
        name: metric[name].default for name in shared
    }
