"""Sliced and max-sliced Wasserstein against POT, closed forms and a fine grid."""

from __future__ import annotations

import time

import numpy as np
import pytest

from isodepth.baselines import max_sliced_wasserstein, sliced_wasserstein, wasserstein

BOTH = [sliced_wasserstein, max_sliced_wasserstein]
CASES = {
    "equal": (200, 200, False),
    "unequal": (200, 130, False),
    "one point": (50, 1, False),
    "weighted": (90, 120, True),
}


def pair_of_samples(seed: int, n: int, m: int, d: int, weighted: bool = False):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), 1.5 * rng.normal(size=(m, d)) + rng.normal(size=d)
    weights = (rng.random(n), rng.random(m)) if weighted else (None, None)
    return X, Y, weights


def shares(weights):
    return None if weights is None else weights / weights.sum()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("p", [1, 2, 3])
def test_equal_to_pot_for_the_same_directions(case: str, p: int) -> None:
    ot = pytest.importorskip("ot")
    n, m, weighted = CASES[case]
    X, Y, weights = pair_of_samples(0, n, m, 4, weighted)
    U = np.random.default_rng(1).normal(size=(70, 4))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    theirs = {"a": shares(weights[0]), "b": shares(weights[1]), "projections": U.T, "p": p}
    ours = {"directions": U, "p": p, "weights": weights}
    assert sliced_wasserstein(X, Y, **ours) == pytest.approx(
        ot.sliced_wasserstein_distance(X, Y, **theirs), rel=1e-10
    )
    assert max_sliced_wasserstein(X, Y, **ours) == pytest.approx(
        ot.max_sliced_wasserstein_distance(X, Y, **theirs), rel=1e-10
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_each_slice_is_a_wasserstein_distance(weighted: bool) -> None:
    X, Y, weights = pair_of_samples(2, 15, 11, 3, weighted)
    U = np.random.default_rng(3).normal(size=(5, 3))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    slices = [wasserstein(X @ u[:, None], Y @ u[:, None], weights=weights) for u in U]
    assert sliced_wasserstein(X, Y, directions=U, weights=weights) == pytest.approx(
        np.sqrt(np.mean(np.square(slices))), rel=1e-12
    )
    assert max_sliced_wasserstein(X, Y, directions=U, weights=weights) == pytest.approx(
        max(slices), rel=1e-12
    )


def test_sliced_distance_of_a_shift_in_closed_form() -> None:
    # The mean of <u, t>^2 over an orthonormal basis is exactly |t|^2 / d.
    X, _, _ = pair_of_samples(4, 100, 1, 6)
    t = np.arange(6.0)
    distance = sliced_wasserstein(X, X + t, directions="orthogonal", n_directions=12)
    assert distance == pytest.approx(np.linalg.norm(t) / np.sqrt(6), rel=1e-12)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("d", [2, 5, 50])
def test_refined_distance_of_a_shift_is_the_shift(p: int, d: int) -> None:
    # Along u it is |<u, t>|: one hill, with its top at t.
    X, _, _ = pair_of_samples(5, 80, 1, d)
    t = np.linspace(-1, 2, d)
    distance = max_sliced_wasserstein(X, X + t, p=p, refine=100, n_directions=50, random_state=0)
    assert distance == pytest.approx(np.linalg.norm(t), rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_refining_reaches_the_top_in_the_plane(seed: int, weighted: bool) -> None:
    X, Y, weights = pair_of_samples(seed, 40, 30, 2, weighted)
    # No direction is further than pi/80000 from the grid, and W along u changes with the angle by
    # at most sqrt(E|x - y|^2) under the coupling along u, here less than five times W itself.
    grid = max_sliced_wasserstein(
        X, Y, directions="equispaced", n_directions=40_000, weights=weights
    )
    refined = max_sliced_wasserstein(
        X, Y, n_directions=50, refine=100, weights=weights, random_state=seed
    )
    assert refined == pytest.approx(grid, rel=2e-4)


@pytest.mark.parametrize("refine", [1, 3, 30])
def test_refining_never_lowers(refine: int) -> None:
    X, Y, _ = pair_of_samples(6, 50, 60, 10)
    plain = max_sliced_wasserstein(X, Y, n_directions=20, random_state=1)
    refined = max_sliced_wasserstein(X, Y, n_directions=20, random_state=1, refine=refine)
    assert plain <= refined <= wasserstein(X, Y) * (1 + 1e-12)


def test_refining_finds_what_random_directions_miss() -> None:
    # Shifted by 7 in each of 50 coordinates: random directions fall short by half.
    rng = np.random.default_rng(7)
    X, Y = rng.normal(size=(300, 50)), rng.normal(size=(300, 50)) + 7
    truth = 7 * np.sqrt(50)
    assert max_sliced_wasserstein(X, Y, random_state=0) < 0.6 * truth
    assert max_sliced_wasserstein(X, Y, random_state=0, refine=20) == pytest.approx(truth, rel=0.02)


@pytest.mark.parametrize("function", BOTH)
def test_on_the_line_it_is_wasserstein(function) -> None:
    X, Y, weights = pair_of_samples(8, 30, 20, 1, True)
    expected = wasserstein(X, Y, weights=weights)
    assert function(X, Y, weights=weights) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_do_not_change_the_result(function, weighted: bool) -> None:
    X, Y, weights = pair_of_samples(9, 700, 600, 3, weighted)
    results = {
        function(X, Y, random_state=0, weights=weights, n_jobs=jobs) for jobs in (1, 2, None)
    }
    assert len(results) == 1


@pytest.mark.parametrize("function", BOTH)
def test_the_seed_decides(function) -> None:
    X, Y, _ = pair_of_samples(10, 30, 30, 3)
    first = function(X, Y, random_state=3)
    assert function(X, Y, random_state=3) == first
    assert function(X, Y, random_state=np.random.default_rng(3)) == first
    assert function(X, Y, random_state=4) != first


@pytest.mark.slow
def test_ten_times_faster_than_pot() -> None:
    ot = pytest.importorskip("ot")
    X, Y, _ = pair_of_samples(11, 1000, 1000, 5)
    U = np.random.default_rng(12).normal(size=(1000, 5))
    U /= np.linalg.norm(U, axis=1, keepdims=True)

    def best(call, times: int) -> float:
        took = []
        for _ in range(times):
            start = time.perf_counter()
            call()
            took.append(time.perf_counter() - start)
        return min(took)

    for ours, theirs in zip(
        BOTH, (ot.sliced_wasserstein_distance, ot.max_sliced_wasserstein_distance), strict=True
    ):
        ours(X, Y, directions=U)  # compile
        fast = best(lambda: ours(X, Y, directions=U), 10)  # noqa: B023
        slow = best(lambda: theirs(X, Y, projections=U.T), 3)  # noqa: B023
        assert slow > 10 * fast
