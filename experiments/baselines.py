"""Distances that DR is compared with: wrappers of POT, and two convex programs with cvxpy.

Every function takes two samples of shape (n, d) and (m, d); each row has the same mass unless
`weights`, a pair of arrays (n,) and (m,), is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import ot
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import check_array

# The default limit of POT's network simplex is too low for more than about 5,000 points.
_MAX_PIVOTS = 10_000_000
_MAX_CUTS = 1000


def wasserstein(X: Any, Y: Any, p: float = 2, weights: Any = None) -> float:
    """Return the exact Wasserstein distance W_p.

    Examples
    --------
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> round(wasserstein(X, X + [3, 4]), 6)
    5.0
    """
    x, y, a, b = _read(X, Y, weights)
    if x.shape[1] == 1:
        return float(ot.wasserstein_1d(x[:, 0], y[:, 0], a, b, p=p)) ** (1 / p)
    return _transport_cost(a, b, cdist(x, y) ** p) ** (1 / p)


def robot(X: Any, Y: Any, lam: float, p: float = 2) -> float:
    """Return ROBOT (Mukherjee et al. 2021): transport with the cost min(|x - y|^p, 2 lam).

    The result is the optimal cost to the power 1/p.

    Examples
    --------
    >>> Y = np.array([[1.0, 0], [1, 0], [1, 0], [100, 0]])
    >>> round(robot(np.zeros((4, 2)), Y, lam=2.0), 6)  # sqrt((1 + 1 + 1 + 4) / 4)
    1.322876
    """
    x, y, a, b = _read(X, Y, None)
    return _transport_cost(a, b, np.minimum(cdist(x, y) ** p, 2 * lam)) ** (1 / p)


def partial_wasserstein(X: Any, Y: Any, eps: float, p: float = 2) -> float:
    """Return the robust Wasserstein distance W_p^eps of Nietert et al. (2022).

    A share eps of the mass of each sample is left unmatched, and the rest is scaled to mass one.

    Examples
    --------
    >>> Y = np.array([[1.0, 0], [1, 0], [1, 0], [100, 0]])
    >>> round(partial_wasserstein(np.zeros((4, 2)), Y, eps=0.25), 6)
    1.0
    """
    x, y, a, b = _read(X, Y, None)
    cost = ot.partial.partial_wasserstein2(a, b, cdist(x, y) ** p, m=1 - eps)
    return float(cost / (1 - eps)) ** (1 / p)


def sliced_unbalanced(X: Any, Y: Any, rho: float, directions: np.ndarray, p: float = 2) -> float:
    """Return sliced unbalanced transport (Bonet et al. 2025) along directions (K, d).

    `rho` is the weight of the Kullback-Leibler divergences of the marginals. The result is the mean
    cost to the power 1/p. It needs torch.

    Examples
    --------
    >>> X, Y = np.zeros((4, 1)), np.array([[1.0], [1], [1], [100]])
    >>> sliced_unbalanced(X, Y, rho=1.0, directions=np.ones((1, 1))) < 2
    True
    """
    import torch

    x, y, _, _ = _read(X, Y, None)
    samples = torch.from_numpy(x), torch.from_numpy(y)
    projections = torch.from_numpy(np.ascontiguousarray(directions.T))
    cost = ot.unbalanced.sliced_unbalanced_ot(*samples, rho, projections=projections, p=p)
    return float(cost) ** (1 / p)


def random_directions(d: int, n_directions: int, random_state: Any) -> np.ndarray:
    """Return uniform random directions of shape (n_directions, d)."""
    return ot.sliced.get_random_projections(d, n_directions, seed=random_state).T


def sliced_wasserstein(X: Any, Y: Any, directions: np.ndarray, p: float = 2) -> float:
    """Return the sliced Wasserstein distance along directions (K, d)."""
    x, y, a, b = _read(X, Y, None)
    return float(ot.sliced_wasserstein_distance(x, y, a, b, projections=directions.T, p=p))


def max_sliced_wasserstein(X: Any, Y: Any, directions: np.ndarray, p: float = 2) -> float:
    """Return the max-sliced Wasserstein distance over directions (K, d)."""
    x, y, a, b = _read(X, Y, None)
    return float(ot.max_sliced_wasserstein_distance(x, y, a, b, projections=directions.T, p=p))


def mmd(X: Any, Y: Any, bandwidth: float) -> float:
    """Return the MMD with the kernel exp(-|x - y|^2 / (2 s^2)), where s is the bandwidth.

    This is the square root of the biased V-statistic.

    Examples
    --------
    >>> round(mmd([[0.0]], [[1.0]], bandwidth=1.0), 6)  # sqrt(2 - 2 exp(-1/2))
    0.887096
    """
    x, y, a, b = _read(X, Y, None)
    points, signed = np.concatenate([x, y]), np.concatenate([a, -b])
    squared = signed @ rbf_kernel(points, gamma=1 / (2 * bandwidth**2)) @ signed
    return float(max(0.0, squared)) ** 0.5


def subspace_robust_wasserstein(X: Any, Y: Any, k: int, tolerance: float = 1e-5) -> float:
    """Return the subspace robust Wasserstein distance S_k (Paty and Cuturi 2019).

    S_k^2 is the maximum, over symmetric matrices 0 <= Omega <= I of trace k, of the transport cost
    with (x - y)^T Omega (x - y). This cost is the minimum of <Omega, V> over the second moments V
    of the displacements under all couplings. It is maximized by cutting planes. An Omega that
    maximizes the minimum over the known V gives an upper bound. The optimal coupling for this Omega
    gives a lower bound and a new V. The iteration stops if the relative difference of the bounds is
    at most `tolerance`.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> round(subspace_robust_wasserstein(X, X + [3, 4, 0], k=1), 4)
    5.0
    """
    import cvxpy as cp

    x, y, a, b = _read(X, Y, None)
    d = x.shape[1]
    omega = (k / d) * np.eye(d)
    moments: list[np.ndarray] = []
    lower, unit = 0.0, 1.0
    for _ in range(_MAX_CUTS):
        values, axes = np.linalg.eigh(omega)
        root = axes * np.sqrt(values.clip(0, 1))
        i, j, mass = _plan(a, b, cdist(x @ root, y @ root, "sqeuclidean"))
        moved = x[i] - y[j]
        moments.append((moved.T * mass) @ moved)
        if len(moments) == 1:
            unit = float(np.trace(moments[0]))
            if unit == 0:
                return 0.0
        lower = max(lower, float(np.vdot(root @ root.T, moments[-1])) / unit)
        variable, least = cp.Variable((d, d), symmetric=True), cp.Variable()
        limits = [variable >> 0, variable << np.eye(d), cp.trace(variable) == k]
        cuts = [least <= cp.vdot(variable, moment / unit) for moment in moments]
        upper = float(cp.Problem(cp.Maximize(least), limits + cuts).solve(solver=cp.CLARABEL))
        if upper - lower <= tolerance * upper:
            return float(np.sqrt(unit * lower))
        omega = variable.value
    raise RuntimeError(f"S_{k}^2 is only known to lie in [{unit * lower:g}, {unit * upper:g}]")


def ruot(X: Any, Y: Any, rho: float, p: float = 2, tolerance: float = 1e-7) -> float:
    """Return robust unbalanced optimal transport (Balaji, Chellappa and Feizi 2020).

    The result is the minimum transport cost, to the power 1/p, over all masses a' and b' on the
    points whose chi-square divergences 1/2 sum_i (a'_i - a_i)^2 / a_i and 1/2 sum_j (b'_j - b_j)^2
    / b_j are at most rho. Dropping a share e of the mass requires rho = e / (2 (1 - e)).

    The dual problem is a maximum over potentials with f_i + g_j <= C_ij. Its objective is the
    minimum mean of f over the ball, plus that of g. This minimum is the mean minus sqrt(2 rho)
    times the standard deviation. Few of the n m constraints are active: those violated most are
    added until none is violated by more than `tolerance` times the mean cost.

    Examples
    --------
    Dropping one point of ten takes rho = 0.1 / (2 * 0.9), which is 1/18.

    >>> X, Y = np.zeros((10, 2)), np.ones((10, 2))
    >>> Y[0] = 100.0
    >>> round(ruot(X, Y, rho=1 / 18, p=1), 3)
    1.414
    """
    import cvxpy as cp

    x, y, a, b = _read(X, Y, None)
    cost = cdist(x, y) ** p
    unit = float(a @ cost @ b)
    if unit == 0:
        return 0.0
    cost /= unit

    def least_mean(potential: Any, masses: np.ndarray) -> Any:
        root, center = np.sqrt(masses), cp.Variable()
        spread = cp.norm(cp.multiply(root, potential) - root * center)
        return masses @ potential - np.sqrt(2 * rho) * spread

    # The restricted dual is bounded if some coupling of a and b uses only these pairs.
    chosen = np.zeros(cost.shape, dtype=bool)
    chosen[_plan(a, b, cost)[:2]] = True
    known, violation = 0, np.inf
    # If all violated pairs are included already, the rest is the tolerance of the solver.
    while violation > tolerance and chosen.sum() > known:
        known = int(chosen.sum())
        f, g = cp.Variable(len(a)), cp.Variable(len(b))
        i, j = np.nonzero(chosen)
        objective = least_mean(f, a) + least_mean(g, b)
        problem = cp.Problem(cp.Maximize(objective), [f[i] + g[j] <= cost[i, j]])
        problem.solve(solver=cp.CLARABEL)
        slack = cost - f.value[:, None] - g.value
        violation = -slack.min()
        chosen[np.arange(len(a)), slack.argmin(axis=1)] = True
        chosen[slack.argmin(axis=0), np.arange(len(b))] = True
    return (unit * max(0.0, float(problem.value))) ** (1 / p)


def _read(X: Any, Y: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return both samples in float64, and the masses of their rows, normalized to sum one."""
    x, y = (check_array(sample, dtype=np.float64) for sample in (X, Y))
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"the samples have {x.shape[1]} and {y.shape[1]} columns")
    unnormalized = [np.ones(len(x)), np.ones(len(y))] if weights is None else weights
    a, b = (np.asarray(masses, dtype=np.float64) / np.sum(masses) for masses in unnormalized)
    return x, y, a, b


def _plan(a: np.ndarray, b: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return an optimal coupling for the masses `a` and `b` and a matrix of costs.

    The result has the indices i and j of the pairs with positive mass, and their masses.
    """
    plan = ot.emd(a, b, cost, numItermax=_MAX_PIVOTS)
    i, j = np.nonzero(plan)
    return i, j, plan[i, j]


def _transport_cost(a: np.ndarray, b: np.ndarray, cost: np.ndarray) -> float:
    return float(ot.emd2(a, b, cost, numItermax=_MAX_PIVOTS))
