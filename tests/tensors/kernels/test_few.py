"""Ranks of a few points on tensors: the numbers of the compiled loops, for many samples at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from isodepth import _core

torch = pytest.importorskip("torch")

from isodepth.tensors import ranks as few  # noqa: E402
from isodepth.tensors.products import full_precision  # noqa: E402

BUDGET = 1 << 24


def samples(seed, kind):
    """Points (B, n, r) with masses (B, n); from the second sample on some have no mass."""
    rng = np.random.default_rng(seed)
    count, n, r = (int(k) for k in rng.integers([1, 2, 2], [5, 12, 6]))
    points = rng.normal(size=(count, n, r))
    masses = np.ones((count, n), dtype=np.int64)
    if kind == "tied":
        # Ties along the first axis; all points differ along the second.
        points = points.round()
        points[..., 1] += 0.001 * np.arange(n)
    if kind == "weighted":
        masses = rng.integers(1, 9, (count, n))
    for b in range(1, count):
        masses[b, n - b % n :] = 0
        points[b, n - b % n :] = points[b, 0]
    return points, masses


@pytest.mark.parametrize("kind", ["plain", "tied", "weighted"])
@pytest.mark.parametrize("seed", range(8))
def test_ranks_are_those_of_the_compiled_loop(seed, kind):
    points, masses = samples(seed, kind)
    units = np.random.default_rng(seed + 50).normal(size=(40, points.shape[2]))
    if kind == "tied":
        units[:10] = np.eye(points.shape[2])[0]
    with full_precision(torch.device("cpu")):
        given = torch.from_numpy(points), torch.from_numpy(masses), torch.from_numpy(units)
        found = few.centered_ranks(*given, BUDGET)
        blocks = few.centered_ranks(*given, 20_000)
    for b in range(len(points)):
        kept = masses[b] > 0
        sums = _core.centered_rank_sums(points[b, kept], units, masses[b, kept])
        for mine, cut, expected in zip(found, blocks, sums, strict=True):
            assert np.array_equal(mine[b].numpy()[kept], expected)
            assert np.array_equal(cut[b].numpy()[kept], expected)


@pytest.mark.parametrize("kind", ["plain", "tied", "weighted"])
@pytest.mark.parametrize("seed", range(8))
def test_mean_squares_are_those_of_the_compiled_loop(seed, kind):
    """The same series, summed in another order."""
    points, masses = samples(seed, kind)
    shares = masses / masses.sum(axis=1, keepdims=True)
    given = torch.from_numpy(points), torch.from_numpy(shares)
    found = few.mean_squared_ranks(*given, BUDGET).numpy()
    assert np.allclose(few.mean_squared_ranks(*given, 5_000).numpy(), found, rtol=1e-13)
    for b in range(len(points)):
        kept = masses[b] > 0
        own = points[b, kept]
        expected = _core.mean_squared_rank(cdist(own, own, "sqeuclidean"), shares[b, kept])
        # An angle near zero or a half turn carries the root of what rounding does to its cosine.
        assert np.allclose(found[b, kept], expected, rtol=1e-7 if kind == "tied" else 1e-12)
