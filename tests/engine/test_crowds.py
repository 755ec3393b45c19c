"""Values in crowds far from each other: sorted and ranked like any others, and almost as soon."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.engine.compiled.buckets import (
    center_and_spread,
    fill_buckets,
    fill_by_crowds,
    has_crowds,
    n_probes,
)
from isodepth.engine.compiled.sorting import STRETCH, sort_with_index, sort_workspace
from isodepth.engine.rank_passes import mean_rank_weight, smallest_halfspace
from isodepth.engine.threads import Resources


def crowds(n: int, kind: str, dtype: str) -> np.ndarray:
    rng = np.random.default_rng(n)
    centers = rng.standard_normal(5) * 100
    which = rng.integers(0, 5, n)
    values = {
        "tight": lambda: centers[which] + 0.1 * rng.standard_normal(n),
        "tighter than single precision": lambda: centers[which] + 1e-5 * rng.standard_normal(n),
        "of unequal size": lambda: centers[(which > 3) * 1] + 0.01 * rng.standard_cauchy(n),
        "nested": lambda: centers[which] + 1e-3 * (rng.integers(0, 9, n) + 1e-4 * rng.random(n)),
        "huge": lambda: 1e30 * (centers[which] + 1e-3 * rng.standard_normal(n)),
    }[kind]()
    return values.astype(dtype)


KINDS = ["tight", "tighter than single precision", "of unequal size", "nested", "huge"]
SIZES = [40, 300, 5000, STRETCH + 3000]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_crowds_are_sorted(kind: str, n: int, dtype: str) -> None:
    values = crowds(n, kind, dtype)
    workspace = sort_workspace(n, values.dtype)
    sort_with_index(values, workspace)
    np.testing.assert_array_equal(workspace.keys, np.sort(values))
    np.testing.assert_array_equal(values[workspace.index], workspace.keys)
    assert len(np.unique(workspace.index)) == n


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [200, 3000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ranks_in_crowds_follow_the_definition(kind: str, n: int, dtype: str) -> None:
    values = crowds(n, kind, dtype)
    upto = np.searchsorted(np.sort(values), values, side="right")
    from_ = n - np.searchsorted(np.sort(values), values, side="left")
    points, line = values[:, None], np.ones((1, 1))
    masses, _ = smallest_halfspace(points, None, n, line, Resources(1))
    np.testing.assert_array_equal(masses, np.minimum(upto, from_))
    weights = mean_rank_weight(points, None, n, line, Resources(1))
    below = (upto + n - from_) / (2 * n)
    np.testing.assert_allclose(weights, np.minimum(below, 1 - below), atol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_bucket_is_full(dtype: str) -> None:
    n = 10_000
    values = crowds(n, "tight", dtype)
    scratch, bucket = np.empty(n, dtype), np.empty(n, np.uint32)
    center, spread = center_and_spread(values, scratch)
    assert has_crowds(scratch[: n_probes(n)], center, spread)
    fill_buckets(values, center, spread, 2 * n, bucket)
    assert np.bincount(bucket).max() > 24
    fill_by_crowds(values, center, spread, scratch, np.empty(n, np.uint32), 2 * n, bucket)
    assert np.bincount(bucket).max() < 20
    assert (np.diff(bucket[np.argsort(values)].astype(int)) >= 0).all()


@pytest.mark.parametrize("law", ["normal", "cauchy", "uniform", "exponential", "few values"])
def test_usual_data_have_no_crowds(law: str) -> None:
    rng = np.random.default_rng(0)
    draw = {
        "normal": rng.standard_normal,
        "cauchy": rng.standard_cauchy,
        "uniform": rng.random,
        "exponential": rng.standard_exponential,
        "few values": lambda n: rng.integers(0, 4, n).astype(float),
    }[law]
    found = 0
    for _ in range(200):
        values, scratch = draw(2000), np.empty(2000)
        center, spread = center_and_spread(values, scratch)
        found += has_crowds(scratch[: n_probes(2000)], center, spread)
    # By chance two neighbors of sixteen are close together now and then.
    assert found < 10
