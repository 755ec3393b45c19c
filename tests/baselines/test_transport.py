"""Wasserstein, Sinkhorn and ROBOT against closed forms and other solvers."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance

from isodepth.baselines import robot, sinkhorn, wasserstein
from isodepth.errors import MissingExtraError


def pair_of_samples(seed: int, n: int = 12, m: int = 9, d: int = 2):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), 1.5 * rng.normal(size=(m, d)) + 1
    return X, Y, (rng.integers(1, 5, n), rng.integers(1, 5, m))


def shares(weights, n):
    return np.full(n, 1 / n) if weights is None else np.asarray(weights) / np.sum(weights)


def transport_by_linprog(a, b, cost) -> float:
    """Optimal transport as a plain linear programme."""
    n, m = cost.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    result = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([a, b]))
    assert result.status == 0
    return result.fun


# -- Wasserstein ------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 2, 3.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_wasserstein_solves_the_linear_programme(p: float, weighted: bool) -> None:
    X, Y, weights = pair_of_samples(0)
    weights = weights if weighted else (None, None)
    cost = cdist(X, Y) ** p
    expected = transport_by_linprog(shares(weights[0], 12), shares(weights[1], 9), cost)
    # Both are exact solvers: what remains is their feasibility tolerance.
    assert wasserstein(X, Y, p=p, weights=weights) == pytest.approx(expected ** (1 / p), rel=1e-9)


def test_wasserstein_on_the_line_is_that_of_scipy() -> None:
    X, Y, weights = pair_of_samples(1, d=1)
    expected = wasserstein_distance(X[:, 0], Y[:, 0], *weights)
    assert wasserstein(X, Y, p=1, weights=weights) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("p", [1, 2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_line_in_the_plane_is_a_line(p: float, weighted: bool) -> None:
    # One is read off the quantiles, the other solved as a linear programme.
    X, Y, weights = pair_of_samples(2, d=1)
    weights = weights if weighted else None
    turned = np.array([[0.6, 0.8]])
    on_line = wasserstein(X, Y, p=p, weights=weights)
    assert wasserstein(X @ turned, Y @ turned, p=p, weights=weights) == pytest.approx(on_line)


def test_wasserstein_of_equal_quantiles_in_closed_form() -> None:
    # Sorted points meet in order: |0-1|, |2-2|, |5-9|.
    X, Y = np.array([[5.0], [0.0], [2.0]]), np.array([[2.0], [9.0], [1.0]])
    assert wasserstein(X, Y, p=1) == pytest.approx(5 / 3)
    assert wasserstein(X, Y, p=2) == pytest.approx(np.sqrt(17 / 3))


def test_wasserstein_of_a_linear_image_in_closed_form() -> None:
    # x -> A x with A positive definite is the gradient of a convex function, hence optimal.
    X = np.random.default_rng(3).normal(size=(40, 3))
    A = np.array([[2.0, 0.3, 0], [0.3, 1, 0.2], [0, 0.2, 0.5]])
    expected = np.sqrt(np.mean(np.sum((X @ A - X) ** 2, axis=1)))
    assert wasserstein(X, X @ A) == pytest.approx(expected, rel=1e-12)


def test_without_pot_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'isodepth\[baselines\]'"):
        wasserstein(np.eye(2), np.eye(2))
    assert wasserstein([[0.0]], [[1.0]]) == 1.0


# -- Sinkhorn ---------------------------------------------------------------------------------


def entropic_by_minimize(a, b, cost, reg) -> tuple[float, float]:
    """Cost of the entropic plan and least cost with entropy, from the dual in g alone."""

    def dual(g: np.ndarray) -> tuple[float, np.ndarray]:
        inner = (g - cost) / reg
        top = inner.max(axis=1)
        kernel = b * np.exp(inner - top[:, None])
        f = -reg * (top + np.log(kernel.sum(axis=1)))
        plan = a[:, None] * kernel / kernel.sum(axis=1, keepdims=True)
        return -(a @ f + b @ g), plan.sum(axis=0) - b

    result = minimize(dual, np.zeros(len(b)), jac=True, method="BFGS", options={"gtol": 1e-11})
    g = result.x
    kernel = b * np.exp((g - cost) / reg)
    plan = a[:, None] * kernel / kernel.sum(axis=1, keepdims=True)
    return float((plan * cost).sum()), -float(result.fun)


@pytest.mark.parametrize("reg", [0.2, 2.0])
@pytest.mark.parametrize("p", [1, 2])
def test_sinkhorn_solves_the_entropic_problem(reg: float, p: float) -> None:
    X, Y, weights = pair_of_samples(4, 6, 5)
    a, b = shares(weights[0], 6), shares(weights[1], 5)

    def solve(x, y, u, v):
        return entropic_by_minimize(u, v, cdist(x, y) ** p, reg)

    cost, value = solve(X, Y, a, b)
    # The marginals are met to 1e-9 by one and about 1e-9 by the other.
    assert sinkhorn(X, Y, reg=reg, p=p, weights=weights) == pytest.approx(cost ** (1 / p), rel=1e-6)
    divergence = value - solve(X, X, a, a)[1] / 2 - solve(Y, Y, b, b)[1] / 2
    assert sinkhorn(X, Y, reg=reg, p=p, debiased=True, weights=weights) == pytest.approx(
        divergence ** (1 / p), rel=1e-6
    )


def test_sinkhorn_is_that_of_pot() -> None:
    ot = pytest.importorskip("ot")
    X, Y, _ = pair_of_samples(5, 30, 20)
    a, b = np.full(30, 1 / 30), np.full(20, 1 / 20)
    expected = ot.sinkhorn2(a, b, cdist(X, Y, "sqeuclidean"), 0.5, stopThr=1e-11)
    assert sinkhorn(X, Y, reg=0.5) == pytest.approx(np.sqrt(expected), rel=1e-7)


def test_sinkhorn_tends_to_wasserstein() -> None:
    X, Y, _ = pair_of_samples(6, 15, 15)
    # The entropic plan costs at most reg log(n) more than the best one.
    excess = sinkhorn(X, Y, reg=0.01) ** 2 - wasserstein(X, Y) ** 2
    assert 0 <= excess <= 0.01 * np.log(15)


def test_sinkhorn_divergence_of_a_shift_is_the_shift() -> None:
    X = np.random.default_rng(7).normal(size=(30, 3))
    distance = sinkhorn(X, X + [2.0, 0, -1], reg=0.3, debiased=True)
    assert distance == pytest.approx(np.sqrt(5), rel=1e-8)


def test_sinkhorn_with_far_outliers_does_not_overflow() -> None:
    X, Y, _ = pair_of_samples(8, 20, 20)
    X[0] = 1e6
    # Most of the cost is the outlier's: |X_0 - y|^2 / 20.
    assert sinkhorn(X, Y, reg=0.1) == pytest.approx(np.sqrt(2e12 / 20), rel=1e-3)


# -- ROBOT ------------------------------------------------------------------------------------


def robot_by_linprog(a, b, x, y, lam, p) -> float:
    """The paper's first formulation: transport from a + s to b, plus lam |s|, on the joint support.

    Minimize <C, P> + lam (s_plus + s_minus) with row sums a + s_plus - s_minus (all of Z = X and Y
    may receive mass) and column sums b.
    """
    z = np.vstack([x, y])
    start = np.concatenate([a, np.zeros(len(b))])
    cost = cdist(z, y) ** p
    N, m = cost.shape
    rows = np.hstack([np.kron(np.eye(N), np.ones(m)), -np.eye(N), np.eye(N)])
    columns = np.hstack([np.kron(np.ones(N), np.eye(m)), np.zeros((m, 2 * N))])
    objective = np.concatenate([cost.ravel(), np.full(2 * N, lam)])
    result = linprog(objective, A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([start, b]))
    assert result.status == 0
    return result.fun


@pytest.mark.parametrize("lam", [0.1, 0.7, 3.0])
@pytest.mark.parametrize("p", [1, 2])
def test_robot_is_transport_with_a_price_on_moved_mass(lam: float, p: float) -> None:
    X, Y, weights = pair_of_samples(9, 7, 6)
    X[0] = 30.0
    a, b = shares(weights[0], 7), shares(weights[1], 6)
    expected = robot_by_linprog(a, b, X, Y, lam, p) ** (1 / p)
    assert robot(X, Y, lam=lam, p=p, weights=weights) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("p", [1, 2])
def test_robot_without_a_limit_is_wasserstein(p: float) -> None:
    X, Y, weights = pair_of_samples(10)
    expected = wasserstein(X, Y, p=p, weights=weights)
    assert robot(X, Y, lam=np.inf, p=p, weights=weights) == pytest.approx(expected, rel=1e-12)


def test_robot_of_an_outlier_in_closed_form() -> None:
    # Against one point nothing can be chosen: the mean of min(|x - y|, 2 lam).
    X = np.array([[1.0, 0], [2, 0], [1000, 0]])
    assert robot(X, [[0.0, 0]], lam=2.5, p=1) == pytest.approx((1 + 2 + 5) / 3)
    assert robot(X, [[0.0, 0]], lam=8.0, p=2) == pytest.approx(np.sqrt((1 + 4 + 16) / 3))
