"""Subspace robust Wasserstein and RUOT against other solvers, closed forms and bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from isodepth.baselines import ruot, subspace_robust_wasserstein, wasserstein
from isodepth.baselines.chi_square_solver import relaxed_transport
from isodepth.baselines.fantope import maximize_over_fantope

#: What the issue asks for; both solvers stop at a duality gap far below it.
AGREEMENT = 1e-4


def pair_of_samples(seed: int, n: int = 12, m: int = 9, d: int = 2):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), 1.5 * rng.normal(size=(m, d)) + 1
    return X, Y, (rng.integers(1, 5, n), rng.integers(1, 5, m))


# -- subspace robust Wasserstein --------------------------------------------------------------


def largest_over_fantope(moments: np.ndarray, k: int) -> float:
    """The largest, over 0 <= Omega <= I of trace k, of the least <Omega, V>, by linear programmes.

    0 <= Omega <= I says 0 <= <u, Omega u> <= 1 for all unit vectors u; those that the last solution
    violates by more than 1e-6 are added, until none is left.
    """
    d = moments.shape[1]
    at = [(i, j) for i in range(d) for j in range(i, d)]

    def row(matrix: np.ndarray) -> list[float]:
        return [matrix[i, j] * (1 if i == j else 2) for i, j in at]

    A = [[*(-np.array(row(V))), 1.0] for V in moments]
    b = [0.0] * len(moments)
    trace = [[*row(np.eye(d)), 0.0]]
    for _ in range(1000):
        bounds = [(-1, 1)] * len(at) + [(None, None)]
        solved = linprog([0.0] * len(at) + [-1.0], A, b, trace, [k], bounds)
        assert solved.status == 0
        omega = np.zeros((d, d))
        for (i, j), value in zip(at, solved.x, strict=False):
            omega[i, j] = omega[j, i] = value
        values, vectors = np.linalg.eigh(omega)
        if values[0] > -1e-6 and values[-1] < 1 + 1e-6:
            return -solved.fun
        for value, u in zip(values, vectors.T, strict=True):
            if value < -1e-7:
                A.append([*(-np.array(row(np.outer(u, u)))), 0.0])
                b.append(0.0)
            if value > 1 + 1e-7:
                A.append([*row(np.outer(u, u)), 0.0])
                b.append(1.0)
    raise AssertionError("the cuts did not converge")


@pytest.mark.parametrize(("d", "k"), [(2, 1), (3, 1), (3, 2), (4, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_subspace_robust_equals_linear_programmes_over_all_matchings(
    d: int, k: int, seed: int
) -> None:
    # Couplings of five equal points are mixtures of the 120 matchings.
    X, Y, _ = pair_of_samples(seed, 5, 5, d)
    moments = []
    for matching in itertools.permutations(range(5)):
        displacement = X - Y[list(matching)]
        moments.append(displacement.T @ displacement / 5)
    expected = np.sqrt(largest_over_fantope(np.array(moments), k))
    assert subspace_robust_wasserstein(X, Y, k=k) == pytest.approx(expected, rel=AGREEMENT / 10)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_subspace_robust_in_all_dimensions_is_wasserstein(d: int) -> None:
    X, Y, weights = pair_of_samples(3, d=d)
    expected = wasserstein(X, Y, weights=weights)
    distance = subspace_robust_wasserstein(X, Y, k=d, weights=weights)
    assert distance == pytest.approx(expected, rel=1e-12)


def test_subspace_robust_distance_of_a_linear_image_in_closed_form() -> None:
    # Stretching along the axes is optimal under every diagonal Omega at once, so the second moment
    # of the displacements is that of this coupling, whatever Omega: its k largest eigenvalues.
    grid = np.stack(np.meshgrid([-1.0, 1], [-1.0, 1], [-1.0, 1]), axis=-1).reshape(-1, 3)
    Y = grid * [4.0, 3.0, 1.5]
    squares = [9.0, 4.0, 0.25]
    for k in (1, 2, 3):
        distance = subspace_robust_wasserstein(grid, Y, k=k)
        assert distance == pytest.approx(np.sqrt(sum(squares[:k])), rel=AGREEMENT / 10)


def test_subspace_robust_distances_rise_with_k() -> None:
    X, Y, weights = pair_of_samples(4, 30, 20, 5)
    distances = [subspace_robust_wasserstein(X, Y, k=k, weights=weights) for k in (1, 2, 3, 4, 5)]
    assert np.all(np.diff(distances) > 0)
    # S_k^2 is concave in k and k/d times W_2^2 at least (Omega = k/d I).
    squares = np.square(distances)
    assert np.all(np.diff(squares, 2) < 1e-4 * squares[-1])
    assert np.all(squares >= squares[-1] * np.arange(1, 6) / 5 * (1 - 1e-5))


def test_subspace_robust_sees_every_subspace() -> None:
    # At least the W_2 of the projections on any one plane.
    X, Y, _ = pair_of_samples(5, 20, 20, 4)
    whole = subspace_robust_wasserstein(X, Y, k=2)
    for seed in range(5):
        basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 2)))[0]
        assert whole >= wasserstein(X @ basis, Y @ basis) * (1 - 1e-5)


def test_maximize_over_fantope_of_one_matrix_is_its_top_eigenvalues() -> None:
    V = np.diag([5.0, 1.0, 3.0, 0.5])
    assert maximize_over_fantope(lambda _: V, 4, 2) == pytest.approx(8.0, rel=1e-5)
    assert maximize_over_fantope(lambda _: np.zeros((4, 4)), 4, 2) == 0.0


def test_subspace_robust_says_when_it_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from isodepth.baselines import fantope

    monkeypatch.setattr(fantope, "_MOST_STEPS", 1)
    X, Y, _ = pair_of_samples(6)
    with pytest.warns(RuntimeWarning, match="between .* and"):
        subspace_robust_wasserstein(X, Y, k=1)


# -- RUOT -------------------------------------------------------------------------------------


def ruot_by_linprog(a, b, cost, rho) -> float:
    """The convex programme as it stands, by linear programmes.

    The divergences are convex, so they lie above each of their tangents; the tangents where the
    last solution is outside a ball are added, until it is not, up to 1e-7.
    """
    n, m = cost.shape
    sums = [np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))]
    A, limits = [], []
    for _ in range(1000):
        solved = linprog(
            cost.ravel(), A or None, limits or None, np.ones((1, n * m)), [1.0], (0, None)
        )
        assert solved.status == 0
        inside = True
        for sum_up, masses in zip(sums, (a, b), strict=True):
            excess = sum_up @ solved.x / masses - 1
            divergence = 0.5 * masses @ excess**2
            if divergence > rho + 1e-7:
                inside = False
                A.append(excess @ sum_up)
                limits.append(rho - divergence + excess @ (sum_up @ solved.x))
        if inside:
            return solved.fun
    raise AssertionError("the tangents did not converge")


@pytest.mark.parametrize("rho", [0.01, 0.1, 0.6])
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_ruot_equals_a_general_solver(rho: float, p: float, weighted: bool) -> None:
    X, Y, weights = pair_of_samples(7, 5, 6)
    if not weighted:
        weights = (np.ones(5), np.ones(6))
    a, b = weights[0] / weights[0].sum(), weights[1] / weights[1].sum()
    expected = ruot_by_linprog(a, b, cdist(X, Y) ** p, rho) ** (1 / p)
    distance = ruot(X, Y, rho=rho, p=p, weights=weights)
    assert distance == pytest.approx(expected, rel=AGREEMENT / 10)


@pytest.mark.parametrize("p", [1, 2])
def test_ruot_without_room_is_wasserstein(p: float) -> None:
    X, Y, weights = pair_of_samples(8)
    expected = wasserstein(X, Y, p=p, weights=weights)
    assert ruot(X, Y, rho=0, p=p, weights=weights) == pytest.approx(expected, rel=1e-12)
    # The cost falls by at most sqrt(2 rho) = 1.4e-4 times the spread of both potentials, here less
    # than twice the cost itself.
    assert ruot(X, Y, rho=1e-8, p=p, weights=weights) == pytest.approx(expected, rel=4e-4)


@pytest.mark.parametrize("rho", [0.001, 0.02, 0.05])
def test_ruot_against_one_point_in_closed_form(rho: float) -> None:
    # The least mean of given costs in a chi-square ball, while no weight vanishes, is their mean
    # less sqrt(2 rho) standard deviations.
    X, _, weights = pair_of_samples(9, 10)
    a = weights[0] / weights[0].sum()
    costs = np.linalg.norm(X, axis=1)
    mean = a @ costs
    deviation = np.sqrt(a @ (costs - mean) ** 2)
    assert np.all(1 - np.sqrt(2 * rho) * (costs - mean) / deviation > 0)
    distance = ruot(X, [[0.0, 0.0]], rho=rho, p=1, weights=(weights[0], None))
    assert distance == pytest.approx(mean - np.sqrt(2 * rho) * deviation, rel=1e-7)


def test_ruot_drops_the_share_it_is_given_room_for() -> None:
    # rho = e / (2 (1 - e)) pays for dropping a share e, here one far point of twenty.
    X, _, _ = pair_of_samples(10, 20)
    Y = X + [3.0, 4.0]
    Y[0] = 1e4
    e = 1 / 20
    # Without point 0 on either side all displacements are (3, 4).
    # That is where dropping just becomes possible, a degenerate programme.
    assert ruot(X, Y, rho=e / (2 * (1 - e))) <= 5 * (1 + AGREEMENT)
    assert ruot(X, Y, rho=0.9 * e / (2 * (1 - e))) > 10


def test_ruot_with_all_the_room_is_the_smallest_distance() -> None:
    X, Y, _ = pair_of_samples(11)
    assert ruot(X, Y, rho=100.0, p=1) == pytest.approx(cdist(X, Y).min(), rel=1e-6)


def test_ruot_falls_with_rho_and_does_not_depend_on_the_side() -> None:
    X, Y, weights = pair_of_samples(12, 40, 25)
    values = [ruot(X, Y, rho=rho, weights=weights) for rho in (0, 0.001, 0.01, 0.1, 1)]
    assert np.all(np.diff(values) < 0)
    assert ruot(Y, X, rho=0.1, weights=weights[::-1]) == pytest.approx(values[3], rel=1e-7)


def test_ruot_of_a_sample_with_itself_is_zero() -> None:
    X, _, _ = pair_of_samples(13, 30)
    # The cost is known to 1e-13 of its mean, so its root to about 3e-7.
    assert ruot(X, X, rho=0.1) == pytest.approx(0, abs=2e-6)
    assert ruot(X[:1], X[:1], rho=0.1) == 0.0


def test_ruot_with_far_outliers_converges(recwarn: pytest.WarningsRecorder) -> None:
    rng = np.random.default_rng(14)
    X, Y = rng.standard_cauchy((80, 2)), rng.standard_cauchy((60, 2))
    a, b = np.full(80, 1 / 80), np.full(60, 1 / 60)
    value = relaxed_transport(a, b, cdist(X, Y, "sqeuclidean"), 0.05)
    assert 0 < value < wasserstein(X, Y) ** 2
    assert not recwarn.list


def test_ruot_says_when_it_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from isodepth.baselines import chi_square_solver

    monkeypatch.setattr(chi_square_solver, "_MOST_STEPS", 2)
    X, Y, _ = pair_of_samples(15)
    with pytest.warns(RuntimeWarning, match="between .* and"):
        ruot(X, Y, rho=0.1)
