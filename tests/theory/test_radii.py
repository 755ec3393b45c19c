"""Means over the radius of a Gaussian vector: closed forms, and how hard the quadrature works."""

from __future__ import annotations

import math

import numpy as np
import pytest

from isodepth.theory import radii


def lines_of(gap, slope, calls: list[int] | None = None):
    """Supporting lines of a smooth convex gap, given with its derivative."""

    def lines(r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if calls is not None:
            calls.append(len(r))
        return gap(r) - r * slope(r), slope(r)

    return lines


@pytest.mark.parametrize("d", [1, 2, 3, 10])
@pytest.mark.parametrize("eps", [1e-6, 0.1, 0.49, 0.51, 0.9, 1.0])
def test_radius_of_mass_is_the_quantile_of_the_chi_law(d: int, eps: float) -> None:
    from scipy.stats import chi

    assert radii.radius_of_mass(d, eps) == pytest.approx(chi.isf(eps, d), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 6.0])
@pytest.mark.parametrize(("d", "eps"), [(1, 0.1), (2, 0.5), (5, 0.01)])
def test_closed_form_and_quadrature_agree(d: int, eps: float, p: float) -> None:
    closed = radii.radius_power_mean(d, eps, p)
    found = radii.power_mean_over_radii(lines_of(lambda r: r, np.ones_like), d, eps, p)
    # The quadrature promises 1e-9.
    assert found == pytest.approx(closed, rel=2e-9)


def test_closed_form_at_its_ends() -> None:
    assert radii.radius_power_mean(3, 0.1, math.inf) == radii.radius_of_mass(3, 0.1)
    assert radii.radius_power_mean(3, 1.0, 2.0) == 0.0
    # Without trimming the second moment of a Gaussian vector is d; the share left out is 1e-14.
    assert radii.radius_power_mean(4, 1e-14, 2.0) == pytest.approx(2.0, rel=1e-11)
    assert radii.radius_power_mean(4, 0.0, 2.0) == pytest.approx(2.0, rel=1e-11)


@pytest.mark.parametrize("p", [0.5, 1.0, 3.0])
def test_a_constant_gap_is_its_own_mean(p: float) -> None:
    lines = lines_of(lambda r: np.full_like(r, 2.5), np.zeros_like)
    assert radii.power_mean_over_radii(lines, 3, 0.1, p) == pytest.approx(2.5, rel=1e-10)


def test_the_largest_gap_is_at_the_outer_radius() -> None:
    lines = lines_of(lambda r: 1 + r**2, lambda r: 2 * r)
    radius = radii.radius_of_mass(2, 0.1)
    assert radii.power_mean_over_radii(lines, 2, 0.1, math.inf) == pytest.approx(1 + radius**2)
    assert radii.power_mean_over_radii(lines, 2, 1.0, 2.0) == pytest.approx(1.0)


def test_the_rule_is_exact_for_polynomials() -> None:
    """The Kronrod rule of 15 nodes is exact to degree 22, the Gauss rule of 7 to degree 13."""
    for degree in range(0, 24, 2):
        exact = 2 / (degree + 1)
        kronrod = float(radii._NODES**degree @ radii._KRONROD)
        gauss = float(radii._NODES[1::2] ** degree @ radii._GAUSS)
        assert kronrod == pytest.approx(exact, rel=1e-14)
        assert (gauss == pytest.approx(exact, rel=1e-14)) is (degree <= 13)
    assert np.abs(radii._NODES + radii._NODES[::-1]).max() == 0


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 8.0])
def test_a_smooth_gap_takes_few_panels(p: float) -> None:
    calls: list[int] = []
    lines = lines_of(lambda r: np.sqrt(1 + r**2), lambda r: r / np.sqrt(1 + r**2), calls)
    radii.power_mean_over_radii(lines, 3, 0.1, p)
    assert sum(calls) <= 15 * 20


@pytest.mark.parametrize("p", [1.0, 2.0, 200.0])
@pytest.mark.parametrize("kink", [0.3, 1.1, 2.2])
def test_a_kink_is_found_and_cut_at(kink: float, p: float) -> None:
    """Halving would close in by one bit a round; the supporting lines meet right at the kink."""
    from scipy.integrate import quad
    from scipy.stats import chi

    def gap(r: np.ndarray) -> np.ndarray:
        return 1.0 + 3.0 * np.maximum(r - kink, 0.0)

    calls: list[int] = []
    lines = lines_of(gap, lambda r: 3.0 * (r > kink), calls)
    found = radii.power_mean_over_radii(lines, 2, 0.1, p)
    end = chi.isf(0.1, 2)
    top = float(gap(np.array(end)))
    parts = [
        quad(lambda r: (gap(r) / top) ** p * chi.pdf(r, 2), *piece, epsabs=0, epsrel=1e-12)[0]
        for piece in ((0, kink), (kink, end))
    ]
    assert found == pytest.approx(top * (math.fsum(parts) / 0.9) ** (1 / p), rel=2e-9)
    assert len(calls) <= 8


def test_cuts_lie_inside_their_panels() -> None:
    low, high = np.array([1.0, 1.0, 1.0, 1.0]), np.array([2.0, 2.0, 3.0, 3.0])
    # Lines that meet at 5/4, lines that are one, lines that meet at the very end, or start.
    intercepts = np.array([[6.0, 1.0], [1.0, 1.0], [6.0, 0.0], [2.0, 0.0]])
    slopes = np.array([[0.0, 4.0], [3.0, 3.0], [0.0, 2.0], [0.0, 2.0]])
    cuts = radii._cuts(low, high, intercepts, slopes)
    np.testing.assert_allclose(cuts, [1.25, 1.5, 3 - 2e-3, 1 + 2e-3], rtol=1e-12)
