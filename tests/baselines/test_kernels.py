"""MMD and energy distance against double loops and SciPy."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from scipy.stats import energy_distance

from isodepth.baselines import energy, kernels, mmd


def pair_of_samples(seed: int, n: int = 11, m: int = 8, d: int = 3):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), 1.5 * rng.normal(size=(m, d)) + 1
    return X, Y, (rng.integers(1, 5, n), rng.integers(1, 5, m))


def mean_over_pairs(function, X, Y, wx, wy) -> float:
    total = 0.0
    for x, a in zip(X, wx, strict=True):
        for y, b in zip(Y, wy, strict=True):
            total += a * b * function(math.dist(x, y))
    return total / (sum(wx) * sum(wy))


def naive(function, X, Y, wx, wy) -> float:
    """E f(x, x') + E f(y, y') - 2 E f(x, y), every point with itself as well."""
    return (
        mean_over_pairs(function, X, X, wx, wx)
        + mean_over_pairs(function, Y, Y, wy, wy)
        - 2 * mean_over_pairs(function, X, Y, wx, wy)
    )


@pytest.mark.parametrize("bandwidth", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
@pytest.mark.parametrize("weighted", [False, True])
def test_mmd_is_the_double_loop(bandwidth: float, kernel: str, weighted: bool) -> None:
    X, Y, weights = pair_of_samples(0)
    if not weighted:
        weights = (np.ones(len(X)), np.ones(len(Y)))

    def k(distance: float) -> float:
        if kernel == "gaussian":
            return math.exp(-(distance**2) / (2 * bandwidth**2))
        return math.exp(-distance / bandwidth)

    expected = math.sqrt(naive(k, X, Y, *weights))
    distance = mmd(X, Y, kernel=kernel, bandwidth=bandwidth, weights=weights)
    assert distance == pytest.approx(expected, rel=1e-10)


def test_the_bandwidth_is_the_median_distance() -> None:
    X, Y, _ = pair_of_samples(1, 9, 9)
    pooled = np.vstack([X, Y])
    median = statistics.median(math.dist(x, y) for x, y in itertools.combinations(pooled, 2))
    assert mmd(X, Y) == pytest.approx(mmd(X, Y, bandwidth=median), rel=1e-13)


def test_the_median_gives_each_sample_half_of_the_mass() -> None:
    # Between two of Y: 1, of mass (1/2)^2/16 for each of six pairs. From X to Y: about 10, of mass
    # 1/2 in all. Within X there is only one point. So the median is a distance from X to Y.
    X = np.array([[10.0]])
    Y = np.array([[0.0], [0.1], [0.2], [0.3]])
    pairs = [(10 - y, 0.25) for y in Y[:, 0]]
    pairs += [(abs(a - b), 1 / 16) for a, b in itertools.combinations(Y[:, 0], 2)]
    pairs.sort()
    mass = np.cumsum([w for _, w in pairs])
    expected = pairs[int(np.searchsorted(mass, mass[-1] / 2))][0]
    assert mmd(X, Y) == pytest.approx(mmd(X, Y, bandwidth=expected), rel=1e-12)


def test_a_large_sample_takes_the_median_of_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y, _ = pair_of_samples(2, 400, 400)
    exact = mmd(X, Y)
    monkeypatch.setattr(kernels, "_MEDIAN_ROWS", 200)
    part = mmd(X, Y, random_state=0)
    assert part == mmd(X, Y, random_state=0)
    # 200 of 800 points: the median of their distances has a standard error of about 3%.
    assert part == pytest.approx(exact, rel=0.1)


def test_blocks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y, weights = pair_of_samples(3, 50, 40)
    whole = mmd(X, Y, weights=weights), energy(X, Y, weights=weights)
    monkeypatch.setattr(kernels, "_BLOCK_ELEMENTS", 700)
    blocks = mmd(X, Y, weights=weights), energy(X, Y, weights=weights)
    assert blocks == pytest.approx(whole, rel=1e-12)


def test_energy_on_the_line_is_that_of_scipy() -> None:
    X, Y, weights = pair_of_samples(4, 30, 20, 1)
    assert energy(X, Y) == pytest.approx(energy_distance(X[:, 0], Y[:, 0]), rel=1e-12)
    expected = energy_distance(X[:, 0], Y[:, 0], *weights)
    assert energy(X, Y, weights=weights) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_energy_is_the_double_loop(weighted: bool) -> None:
    X, Y, weights = pair_of_samples(5)
    if not weighted:
        weights = (np.ones(len(X)), np.ones(len(Y)))
    expected = math.sqrt(-naive(lambda distance: distance, X, Y, *weights))
    assert energy(X, Y, weights=weights) == pytest.approx(expected, rel=1e-10)


def test_what_both_samples_share_cancels_exactly() -> None:
    # Seven shared points out of eight: only the last one counts, at 1/8 of its mass.
    rng = np.random.default_rng(6)
    X = rng.normal(size=(8, 2)) + 1e4
    Y = np.vstack([X[:7][::-1], X[7] + [3, 4]])
    assert energy(X, Y) == pytest.approx(math.sqrt(2 * 5) / 8, rel=1e-9)
    assert energy(X, X[::-1]) == 0.0
    assert mmd(X, X[::-1]) == 0.0
