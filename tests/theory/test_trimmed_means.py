"""Means over the radius of a Gaussian vector: closed forms, kinks and sharp peaks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi

from isodepth.theory.trimmed_means import (
    power_mean_over_radii,
    radius_of_mass,
    radius_power_mean,
)


@pytest.mark.parametrize("d", [1, 2, 3, 10])
@pytest.mark.parametrize("eps", [1e-6, 0.1, 0.49, 0.51, 0.9, 1.0])
def test_radius_of_mass_is_the_quantile_of_the_chi_distribution(d: int, eps: float) -> None:
    assert radius_of_mass(d, eps) == pytest.approx(chi.isf(eps, d), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("p", [1e-8, 0.5, 1.0, 2.0, 6.0, 1e4])
@pytest.mark.parametrize(("d", "eps"), [(1, 0.1), (2, 0.5), (5, 0.01), (80, 0.1)])
def test_closed_form_and_quadrature_agree(d: int, eps: float, p: float) -> None:
    found = power_mean_over_radii(lambda r: r, d, eps, p)
    # The quadrature promises 1e-9; for tiny p the closed form loses digits in the root.
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

    end = chi.isf(0.1, 2)
    top = float(gap(np.array(end)))
    parts = [
        quad(lambda r: (gap(r) / top) ** p * chi.pdf(r, 2), *piece, epsabs=0, epsrel=1e-12)[0]
        for piece in ((0, min(kink, end)), (min(kink, end), end))
    ]
    found = power_mean_over_radii(gap, 2, 0.1, p)
    assert found == pytest.approx(top * (math.fsum(parts) / 0.9) ** (1 / p), rel=2e-9)
