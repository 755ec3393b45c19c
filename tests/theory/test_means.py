"""Means over directions and over radii: closed forms, and integrands with kinks and peaks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

import isodepth
from experiments.theory import gaussian_mean_distance
from experiments.theory.means import _mean_product, mean_square_of_shapes
from isodepth.errors import InvalidOptionError
from isodepth.geometry.directions import mean_of_direction
from isodepth.theory.radii import power_mean_over_radii, radius_of_mass, radius_power_mean


def covariance(seed: int, d: int) -> np.ndarray:
    a = np.random.default_rng(seed).standard_normal((d, d))
    return a @ a.T


@pytest.mark.parametrize("q", [1, 2, 4, math.inf])
@pytest.mark.parametrize("d", [1, 2, 5, 30])
@pytest.mark.parametrize("p", [1, 2, math.inf])
def test_a_translation_has_its_length_for_every_q(q: float, d: int, p: float) -> None:
    shift = np.arange(1.0, d + 1)
    S = covariance(d, d)
    found = gaussian_mean_distance(np.zeros(d), S, shift, S, p=p, q=q)
    assert found == pytest.approx(math.sqrt(d * (d + 1) * (2 * d + 1) / 6), rel=1e-14)


@pytest.mark.parametrize("q", [1, 1.5, 2, 4])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_on_the_line_by_quadrature(q: float, p: float) -> None:
    # Regions are m -+ r s; the gaps at both ends are |1 - r| and |1 + r|.
    def gap(beta: float) -> float:
        r = stats.chi.ppf(beta, 1)
        return float(np.mean([abs(1 - r) ** q, abs(1 + r) ** q]) ** (p / q))

    kink = stats.chi.cdf(1, 1)
    total, _ = integrate.quad(gap, 0, 0.9, points=[kink], epsabs=1e-12, epsrel=1e-12)
    found = gaussian_mean_distance(0, 1, 1, 4, p=p, q=q)
    assert found == pytest.approx((total / 0.9) ** (1 / p), rel=1e-8)


@pytest.mark.parametrize("d", [3, 4, 9])
def test_the_mean_of_a_product_of_lengths(d: int) -> None:
    S, ball = covariance(1, d), np.eye(d)
    # Equal shapes: E z'Sz. A multiple: its root comes out.
    assert _mean_product(S, S) == pytest.approx(np.trace(S), rel=1e-11)
    assert _mean_product(9 * S, 4 * S) == pytest.approx(6 * np.trace(S), rel=1e-11)
    # The ball and an ellipsoid of rank 1: E |z| |z_1| = E|z|^2 E|u_1|.
    flat = np.zeros((d, d))
    flat[0, 0] = 1.0
    assert _mean_product(ball, flat) == pytest.approx(d * mean_of_direction(d, 1), rel=1e-10)
    # Two independent coordinates: (E|z_1|)^2.
    other = np.zeros((d, d))
    other[1, 1] = 1.0
    assert _mean_product(flat, other) == pytest.approx(2 / math.pi, rel=1e-10)


def test_both_ways_agree_in_the_plane() -> None:
    S1, S2 = covariance(2, 2), covariance(3, 2)
    wanted = np.trace(S1) + np.trace(S2) - 2 * _mean_product(S1, S2)
    assert mean_square_of_shapes(S1, S2) == pytest.approx(wanted, rel=1e-9)


def test_shapes_against_many_directions() -> None:
    S1, S2 = covariance(4, 6), covariance(5, 6)
    u = np.random.default_rng(0).standard_normal((400_000, 6))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    a, b = (np.sqrt(np.einsum("ni,ij,nj->n", u, S, u)) for S in (S1, S2))
    squares = 6 * (a - b) ** 2
    error = squares.std() / math.sqrt(len(u))
    assert abs(mean_square_of_shapes(S1, S2) - squares.mean()) < 4 * error


def test_two_orthogonal_parts_for_q_2() -> None:
    # DR_2^2 = |m|^2 + E[r^2] G^2, the mean over the radii that are kept.
    S1, S2, m = covariance(6, 4), covariance(7, 4), np.array([1.0, 0, -2, 0])
    betas = (np.arange(200_000) + 0.5) / 200_000 * 0.9
    radii = stats.chi2.ppf(betas, 4)
    wanted = math.sqrt(5 + radii.mean() * mean_square_of_shapes(S1, S2))
    assert gaussian_mean_distance(np.zeros(4), S1, m, S2, q=2) == pytest.approx(wanted, rel=1e-7)


def test_degenerate_shapes() -> None:
    zero = np.zeros((3, 3))
    assert gaussian_mean_distance(np.zeros(3), zero, [0, 3, 4], zero, q=2) == 5.0
    # Against a point: E z'Sz = tr S at every radius.
    S = covariance(8, 3)
    r2 = gaussian_mean_distance(np.zeros(3), np.eye(3), np.zeros(3), zero, q=2) ** 2 / 3
    found = gaussian_mean_distance(np.zeros(3), S, np.zeros(3), zero, q=2)
    assert found == pytest.approx(math.sqrt(r2 * np.trace(S)), rel=1e-9)


def test_units_of_any_size() -> None:
    S1, S2 = covariance(9, 3), covariance(10, 3)
    one = gaussian_mean_distance(np.zeros(3), S1, np.ones(3), S2, q=2)
    big = gaussian_mean_distance(np.zeros(3), 1e200 * S1, 1e100 * np.ones(3), 1e200 * S2, q=2)
    assert big == pytest.approx(1e100 * one, rel=1e-12)


def test_what_is_not_known() -> None:
    with pytest.raises(InvalidOptionError, match="q=3 in 3 dimensions"):
        gaussian_mean_distance(np.zeros(3), np.eye(3), np.ones(3), 2 * np.eye(3), q=3)
    with pytest.raises(InvalidOptionError, match="q must lie"):
        gaussian_mean_distance(0, 1, 1, 1, q=0.5)


@pytest.mark.parametrize("q", [1, 2])
def test_samples_come_close(q: float) -> None:
    rng = np.random.default_rng(0)
    S1, S2 = np.diag([1.0, 4.0]), np.diag([4.0, 1.0])
    x = rng.multivariate_normal([0, 0], S1, 20_000)
    y = rng.multivariate_normal([1, 0], S2, 20_000)
    found = isodepth.distance(
        x, y, q=q, n_directions=200, directions="equispaced", levels=40, eps=0.3
    )
    wanted = gaussian_mean_distance([0, 0], S1, [1, 0], S2, q=q, eps=0.3)
    # Regions of 20000 points have supports within some hundredths of their limits.
    assert found == pytest.approx(wanted, abs=0.05)


@pytest.mark.parametrize("d", [1, 2, 3, 10])
@pytest.mark.parametrize("eps", [1e-6, 0.1, 0.49, 0.51, 0.9, 1.0])
def test_radius_of_mass_is_the_quantile_of_the_chi_distribution(d: int, eps: float) -> None:
    assert radius_of_mass(d, eps) == pytest.approx(stats.chi.isf(eps, d), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("p", [1e-8, 0.5, 1.0, 2.0, 6.0, 1e4])
@pytest.mark.parametrize(("d", "eps"), [(1, 0.1), (2, 0.5), (5, 0.01), (80, 0.1)])
def test_closed_form_and_quadrature_agree(d: int, eps: float, p: float) -> None:
    found = power_mean_over_radii(lambda r: r, d, eps, p)
    # The quadrature has an error of at most 1e-9. For tiny p the root in the closed form loses
    # digits.
    slack = 2e-9 + 1e-15 / min(p, 1)
    assert found == pytest.approx(radius_power_mean(d, eps, p), rel=slack)


def test_closed_form_at_its_ends() -> None:
    assert radius_power_mean(3, 0.1, math.inf) == radius_of_mass(3, 0.1)
    assert radius_power_mean(3, 1.0, 2.0) == 0.0
    # Without trimming the second moment of a Gaussian vector is d; the share left out is 1e-14.
    assert radius_power_mean(4, 1e-14, 2.0) == pytest.approx(2.0, rel=1e-11)
    assert radius_power_mean(4, 0.0, 2.0) == pytest.approx(2.0, rel=1e-11)


@pytest.mark.parametrize("p", [0.5, 1.0, 3.0])
def test_a_constant_gap_is_its_own_mean(p: float) -> None:
    found = power_mean_over_radii(lambda r: np.full_like(r, 2.5), 3, 0.1, p)
    assert found == pytest.approx(2.5, rel=1e-10)


def test_the_largest_gap_is_at_the_outer_radius() -> None:
    radius = radius_of_mass(2, 0.1)
    found = power_mean_over_radii(lambda r: 1 + r**2, 2, 0.1, math.inf)
    assert found == pytest.approx(1 + radius**2)
    assert power_mean_over_radii(lambda r: 1 + r**2, 2, 1.0, 2.0) == pytest.approx(1.0)


@pytest.mark.parametrize("p", [0.3, 1.0, 2.0, 200.0])
@pytest.mark.parametrize("kink", [0.3, 1.1, 2.2])
def test_a_gap_with_a_kink(kink: float, p: float) -> None:
    def gap(r: np.ndarray) -> np.ndarray:
        return 1.0 + 3.0 * np.maximum(r - kink, 0.0)

    end = stats.chi.isf(0.1, 2)
    top = float(gap(np.array(end)))
    parts = [
        integrate.quad(
            lambda r: (gap(r) / top) ** p * stats.chi.pdf(r, 2), *piece, epsabs=0, epsrel=1e-12
        )[0]
        for piece in ((0, min(kink, end)), (min(kink, end), end))
    ]
    found = power_mean_over_radii(gap, 2, 0.1, p)
    assert found == pytest.approx(top * (math.fsum(parts) / 0.9) ** (1 / p), rel=2e-9)
