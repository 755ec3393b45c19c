"""Competing distances, checked against linear programs and closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("ot")
pytest.importorskip("cvxpy")

from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from experiments.baselines import (
    max_sliced_wasserstein,
    mmd,
    random_directions,
    robot,
    ruot,
    sliced_wasserstein,
    subspace_robust_wasserstein,
    wasserstein,
)

CALLS = {
    "wasserstein": wasserstein,
    "sliced": lambda X, Y: sliced_wasserstein(X, Y, random_directions(X.shape[1], 20, 0)),
    "max-sliced": lambda X, Y: max_sliced_wasserstein(X, Y, random_directions(X.shape[1], 20, 0)),
    "mmd": lambda X, Y: mmd(X, Y, bandwidth=1.0),
    "robot": lambda X, Y: robot(X, Y, lam=1.0),
    "subspace robust": lambda X, Y: subspace_robust_wasserstein(X, Y, k=1),
    "ruot": lambda X, Y: ruot(X, Y, rho=0.05),
}


def pair_of_samples(seed: int, n: int = 12, m: int = 9, d: int = 2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), 1.5 * rng.normal(size=(m, d)) + 1


def transport_by_linprog(a, b, cost) -> float:
    """Return the minimum cost of transport from masses a to masses b, by a linear program."""
    n, m = cost.shape
    rows, columns = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    result = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([a, b]))
    assert result.status == 0
    return result.fun


@pytest.mark.parametrize("name", CALLS)
def test_zero_to_itself_symmetric_and_invariant_to_shifts(name: str) -> None:
    X, Y = pair_of_samples(0)
    value = CALLS[name](X, Y)
    assert value > 0.01
    # The larger of the stopping tolerances (1e-5 of a square).
    assert CALLS[name](Y, X) == pytest.approx(value, rel=1e-5)
    assert CALLS[name](X + [5, -3], Y + [5, -3]) == pytest.approx(value, rel=1e-5)
    # A square root of rounding errors, or of 1e-7 of the mean cost.
    assert CALLS[name](X, X[::-1]) == pytest.approx(0, abs=1e-3)
    with pytest.raises(ValueError, match="columns"):
        CALLS[name](X, Y[:, :1])


@pytest.mark.parametrize("p", [1, 2, 3.5])
@pytest.mark.parametrize("d", [1, 3])
def test_wasserstein_solves_the_linear_program(p: float, d: int) -> None:
    X, Y = pair_of_samples(1, d=d)
    a, b = np.arange(1, 13), np.arange(2, 11)
    expected = transport_by_linprog(a / a.sum(), b / b.sum(), cdist(X, Y) ** p)
    # Both solvers are exact up to their feasibility tolerance.
    assert wasserstein(X, Y, p=p, weights=(a, b)) == pytest.approx(expected ** (1 / p), rel=1e-7)


@pytest.mark.parametrize("lam", [0.1, 0.7, 3.0])
def test_robot_is_transport_with_a_price_on_removed_mass(lam: float) -> None:
    """ROBOT equals the optimum of the linear program that defines it.

    The program transports the mass a + s to b and pays lam |s| for the change s.
    """
    X, Y = pair_of_samples(2, 7, 6)
    X[0] = 30.0
    start = np.concatenate([np.full(7, 1 / 7), np.zeros(6)])
    cost = cdist(np.vstack([X, Y]), Y)
    N, m = cost.shape
    rows = np.hstack([np.kron(np.eye(N), np.ones(m)), -np.eye(N), np.eye(N)])
    columns = np.hstack([np.kron(np.ones(N), np.eye(m)), np.zeros((m, 2 * N))])
    result = linprog(
        np.concatenate([cost.ravel(), np.full(2 * N, lam)]),
        A_eq=np.vstack([rows, columns]),
        b_eq=np.concatenate([start, np.full(6, 1 / 6)]),
    )
    assert robot(X, Y, lam=lam, p=1) == pytest.approx(result.fun, rel=1e-8)


def test_sliced_distances_of_a_shift_in_closed_form() -> None:
    X, t = np.random.default_rng(3).normal(size=(50, 4)), np.arange(4.0)
    directions = random_directions(4, 30, 0)
    assert np.linalg.norm(directions, axis=1) == pytest.approx(1)
    along = np.abs(directions @ t)
    assert max_sliced_wasserstein(X, X + t, directions) == pytest.approx(along.max())
    expected = np.sqrt(np.mean(along**2))
    assert sliced_wasserstein(X, X + t, directions) == pytest.approx(expected)


def test_mmd_is_the_double_loop() -> None:
    X, Y = pair_of_samples(4)

    def mean(A, B) -> float:
        return np.mean([np.exp(-np.sum((x - y) ** 2) / 8) for x in A for y in B])

    expected = np.sqrt(mean(X, X) + mean(Y, Y) - 2 * mean(X, Y))
    assert mmd(X, Y, bandwidth=2.0) == pytest.approx(expected, rel=1e-10)


def test_subspace_robust_distance_of_a_linear_image_in_closed_form() -> None:
    # Stretching along the axes is optimal under every diagonal Omega at once, so the second moment
    # of the displacements is that of this coupling for any Omega: its k largest eigenvalues.
    grid = np.array(list(itertools.product([-1.0, 1], repeat=3)))
    Y, squares = grid * [4.0, 3.0, 1.5], [9.0, 4.0, 0.25]
    for k in (1, 2, 3):
        distance = subspace_robust_wasserstein(grid, Y, k=k)
        assert distance == pytest.approx(np.sqrt(sum(squares[:k])), rel=1e-5)


def test_ruot_between_bounds_and_at_its_ends() -> None:
    X, Y = pair_of_samples(6)
    values = [ruot(X, Y, rho=rho) for rho in (0.0, 0.01, 0.1, 1.0, 1e4)]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(wasserstein(X, Y), rel=1e-6)
    # If all masses are allowed, only the nearest two points matter.
    assert values[-1] == pytest.approx(cdist(X, Y).min(), rel=1e-5)


def test_ruot_against_one_point_in_closed_form() -> None:
    # Masses r on x against one point: the least mean of the costs is their mean less
    # sqrt(2 rho) standard deviations, as long as no mass becomes negative.
    X = np.array([[1.0, 0], [2, 0], [4, 0], [3, 0]])
    costs = np.array([1.0, 2, 4, 3])
    expected = costs.mean() - np.sqrt(2 * 0.05) * costs.std()
    assert ruot(X, [[0.0, 0]], rho=0.05, p=1) == pytest.approx(expected, rel=1e-6)
