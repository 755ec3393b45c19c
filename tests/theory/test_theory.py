"""Formula for one dimension, bounds for shifted distributions, and breakdown points."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import eps_values, lattice_points, orders
from twins import naive

import isodepth
from experiments.theory import univariate_distance
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.theory import (
    breakdown_bound,
    breakdown_from_levels,
    gaussian_bounds,
    gaussian_distance,
    translation_bounds,
)

# A sum of n < 100 terms of one sign and a root: rounding of about n * 2^-53 at most.
SUM_ROUNDING = 1e-12


def distinct_numbers(size: st.SearchStrategy[int]) -> st.SearchStrategy[list[float]]:
    numbers = st.floats(-1e3, 1e3, allow_subnormal=False)
    return size.flatmap(lambda n: st.lists(numbers, min_size=n, max_size=n, unique=True))


def covariances(d: int, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng([d, seed])
    factors = rng.standard_normal((2, d, d)) * 10 ** rng.uniform(-1, 1, (2, 1, d))
    return tuple(factor @ factor.T for factor in factors)


# ---------------------------------------------------------------------------------------------
# univariate_distance
# ---------------------------------------------------------------------------------------------


def quantile(values: list[float], q: Fraction) -> float:
    """Return inf{t : F(t) >= q} for the empirical distribution function F, by a loop."""
    ordered = sorted(values)
    for i, value in enumerate(ordered, start=1):
        if Fraction(i, len(ordered)) >= q:
            return value
    raise AssertionError("q must be at most 1")


def paper_formula(x: list[float], y: list[float], p: float, eps: float) -> float:
    """Return the distance in one dimension by the lemma of the paper.

    It is an integral over q of differences of quantiles, divided by 1 - eps.
    """
    end = Fraction(1, 2)
    start = Fraction(repr(eps)) / 2
    cuts = {Fraction(i, len(v)) for v in (x, y) for i in range(len(v) + 1)}
    cuts |= {1 - cut for cut in cuts}
    edges = sorted({start, end} | {cut for cut in cuts if start < cut < end})
    gaps, shares = [], []
    for a, b in itertools.pairwise(edges):
        q = (a + b) / 2
        low = abs(quantile(x, q) - quantile(y, q))
        high = abs(quantile(x, 1 - q) - quantile(y, 1 - q))
        gaps.append(max(low, high))
        shares.append(2 * (b - a) / (2 * (end - start)))
    return naive.power_mean(gaps, shares, p)


@settings(derandomize=True, deadline=None)
@given(
    distinct_numbers(st.integers(1, 12)),
    distinct_numbers(st.integers(1, 12)),
    orders(),
    eps_values().filter(lambda eps: eps < 1),
)
def test_without_ties_it_is_the_integral_of_the_paper(x, y, p, eps):
    expected = paper_formula(x, y, p, eps)
    assert univariate_distance(x, y, p, eps) == pytest.approx(expected, rel=SUM_ROUNDING, abs=0)


@settings(derandomize=True, deadline=None)
@given(lattice_points(1), lattice_points(1), orders(), eps_values(), st.booleans())
def test_with_ties_it_follows_the_definitions(x, y, p, eps, normalize):
    regions = [naive.depth_regions("halfspace", v.tolist(), [[1.0]]) for v in (x, y)]
    expected = naive.distance(*regions, [[1.0]], p, eps, normalize=normalize)
    result = univariate_distance(x, y, p, eps, normalize)
    assert result == pytest.approx(expected, rel=SUM_ROUNDING, abs=0)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 57, 200])
@pytest.mark.parametrize("eps", [0.05, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("p", [0.5, 1, 2, 7.5])
def test_pipeline_agrees_on_the_line(n, eps, p):
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal(n), rng.standard_exponential(n) * 3 - 1
    pipeline = isodepth.distance(x[:, None], y[:, None], depth="halfspace", p=p, eps=eps)
    assert univariate_distance(x, y, p, eps) == pytest.approx(pipeline, rel=1e-12, abs=0)


def test_largest_gap_ignores_a_level_reached_only_by_rounding():
    # 1 - 0.7 is a little more than 0.3 in floating point; the outer region starts at exactly 0.3.
    x = np.arange(20.0)
    y = x.copy()
    y[6] -= 0.25  # enters at beta = 6/20
    assert univariate_distance(x, y, math.inf, 0.7) == 0
    assert univariate_distance(x, y, math.inf, 0.69) == 0.25


def test_symmetric_laws_need_one_center_to_give_the_wasserstein_distance():
    levels = (np.arange(2000) + 0.5) / 2000
    normal = np.array([NormalDist().inv_cdf(level) for level in levels])
    for center, equal in ((0.0, True), (3.0, False)):
        x, y = normal, center + 2 * normal
        wasserstein = float(np.sqrt(np.mean((x - y) ** 2)))
        distance = univariate_distance(x, y, 2, 1e-9)
        assert (distance == pytest.approx(wasserstein, rel=1e-6)) is equal
        assert distance >= wasserstein * (1 - 1e-6)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_univariate_scales(scale):
    x, y = np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0])
    expected = univariate_distance(x, y, 3)
    assert univariate_distance(scale * x, scale * y, 3) == pytest.approx(scale * expected)


@pytest.mark.parametrize(
    ("x", "options", "error", "words"),
    [
        (np.zeros((3, 2)), {}, InvalidInputError, "2 columns"),
        ([], {}, InvalidInputError, "empty"),
        ([1.0, math.nan], {}, InvalidInputError, "NaN"),
        (["a"], {}, InvalidInputError, "real numbers"),
        ([1.0], {"p": 0}, InvalidOptionError, "p must"),
        ([1.0], {"eps": 0}, InvalidOptionError, "eps must"),
        ([1.0], {"eps": 1.5}, InvalidOptionError, "eps must"),
    ],
)
def test_univariate_bad_input(x, options, error, words):
    with pytest.raises(error, match=words):
        univariate_distance(x, [0.0, 1.0], **options)


# ---------------------------------------------------------------------------------------------
# bounds
# ---------------------------------------------------------------------------------------------


@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.integers(1, 3), st.integers(0, 10**6), st.floats(0.05, 1.0), st.floats(-2, 1))
def test_gaussian_bounds_hold(d, seed, eps, log_shift):
    S1, S2 = covariances(d, seed)
    m = np.random.default_rng(seed).standard_normal(d) * 10**log_shift
    distance = gaussian_distance(m, S1, 0 * m, S2, 1, eps)
    slack = 1e-8 * distance  # the quadrature
    for sharp in (False, True):
        lower, upper = gaussian_bounds(m, S1, 0 * m, S2, eps, sharp)
        assert lower - slack <= distance <= upper + slack
    assert gaussian_bounds(m, S1, 0 * m, S2, eps)[0] <= lower


def test_gaussian_bounds_close_for_equal_covariances():
    S, _ = covariances(3, 0)
    assert gaussian_bounds([1, 2, 2], S, [0, 0, 0], S) == (3.0, 3.0)


@pytest.mark.parametrize("eps", [0.02, 0.5])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_gaussian_constant_is_the_mean_of_the_normal_quantile_of_the_depth(d, eps):
    from scipy.integrate import quad
    from scipy.stats import chi2, norm

    def normal_quantile_of_depth(beta: float) -> float:
        alpha = norm.sf(np.sqrt(chi2.ppf(beta, d)))  # halfspace depth on the ellipsoid of mass beta
        return norm.isf(alpha)

    constant = quad(normal_quantile_of_depth, 0, 1 - eps, epsabs=1e-12)[0] / (1 - eps)
    # Two balls of radii 1 and 3: the gap of their shapes is 2.
    lower, upper = gaussian_bounds(np.zeros(d), np.eye(d), np.zeros(d), 9 * np.eye(d), eps)
    assert lower == 0
    assert upper == pytest.approx(2 * constant, rel=1e-8)  # quad meets a root at beta = 0


@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.integers(1, 3), st.integers(0, 10**6), st.floats(0.05, 0.95), st.floats(-2, 1))
def test_translation_bounds_hold_for_gaussian_laws(d, seed, eps, log_shift):
    S1, S2 = covariances(d, seed)
    m = np.random.default_rng(seed).standard_normal(d) * 10**log_shift
    centered_2, centered_1 = (gaussian_distance(0 * m, S1, 0 * m, S2, p, eps) for p in (2, 1))
    square = gaussian_distance(m, S1, 0 * m, S2, 2, eps) ** 2
    shift = float(np.linalg.norm(m))
    for symmetric in (False, True):
        lower, upper = translation_bounds(centered_2, centered_1, shift, symmetric)
        assert lower * (1 - 1e-8) <= square <= upper * (1 + 1e-8)
    assert translation_bounds(centered_2, centered_1, shift)[0] <= lower


@settings(derandomize=True, deadline=None)
@given(lattice_points(1), lattice_points(1), st.integers(-9, 9))
def test_translation_bounds_hold_for_samples(x, y, shift):
    centered_2, centered_1 = (univariate_distance(x, y, p, 0.2) for p in (2, 1))
    square = univariate_distance(x + shift, y, 2, 0.2) ** 2  # integers: exact, the ties stay
    lower, upper = translation_bounds(centered_2, centered_1, abs(shift))
    slack = SUM_ROUNDING * upper
    assert lower - slack <= square <= upper + slack


def test_translation_statement_needs_the_average():
    S = np.eye(2)
    square = gaussian_distance([3, 4], S, [0, 0], S, 2, 0.2, normalize=False) ** 2
    lower, _ = translation_bounds(0.0, 0.0, 5.0)
    assert square == pytest.approx(0.8 * lower)


@pytest.mark.parametrize(
    "arguments",
    [
        *((-1, 0, 0), (1, -1, 0), (1, 1, -1), (1, math.nan, 0), ("1", 1, 1)),
        *((math.inf, 1, 1), (1, math.inf, 1), (1, 1, math.inf)),
    ],
)
def test_translation_bad_input(arguments):
    with pytest.raises(InvalidOptionError, match="must"):
        translation_bounds(*arguments)


# ---------------------------------------------------------------------------------------------
# breakdown
# ---------------------------------------------------------------------------------------------


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 200), st.data())
def test_breakdown_formula_with_exact_fractions(n, data):
    deepest = data.draw(st.integers(1, n))
    level = data.draw(st.integers(1, deepest))
    alpha, alpha_max = Fraction(level, n), Fraction(deepest, n)
    if alpha <= alpha_max / (1 + alpha_max):
        outliers = math.ceil(n * alpha / (1 - alpha))
        expected = Fraction(outliers, n + outliers)
    else:
        expected = alpha_max / (1 + alpha_max)
    result = breakdown_from_levels(n, level / n, deepest / n)
    assert result == float(expected)
    assert 0 < result <= 0.5


def test_breakdown_formula_at_its_ends():
    assert breakdown_from_levels(10, 1.0, 1.0) == 0.5  # all points equal
    assert breakdown_from_levels(10, 0.0, 0.5) == 0.0
    assert breakdown_from_levels(10, 0.25, 0.5) == 4 / 14  # depths need not be multiples of 1/n
    with pytest.raises(InvalidInputError, match="alpha must not exceed alpha_max"):
        breakdown_from_levels(10, 0.5, 0.4)
    for alpha, alpha_max in ((1.5, 1.0), (0.5, 1.5), (-0.1, 0.5), (0.0, -0.1)):
        with pytest.raises(InvalidOptionError, match="alpha"):
            breakdown_from_levels(10, alpha, alpha_max)
    with pytest.raises(InvalidOptionError, match="n must"):
        breakdown_from_levels(0, 0.1, 0.4)


def smallest_break_on_the_line(n: int, eps: float) -> Fraction:
    """Return the least share of far points that makes the distance arbitrarily large, by trials."""
    x = np.arange(float(n))
    far = 1e9
    for outliers in range(1, 2 * n + 2):
        z = far * (1 + np.arange(outliers))
        if univariate_distance(np.concatenate([x, z]), x, 1, eps) > 1e-3 * far / (n + outliers):
            return Fraction(outliers, n + outliers)
    raise AssertionError("more outliers than points must break it")


@pytest.mark.parametrize("eps", [0.05, 0.1, 0.25, 0.4, 0.8, 1.0])
@pytest.mark.parametrize("n", [1, 2, 5, 10, 33])
def test_proved_breakdown_bound_holds_on_the_line(n, eps):
    x = np.arange(float(n))[:, None]
    broken = smallest_break_on_the_line(n, eps)
    assert breakdown_bound(x, eps) <= float(broken)
    assert breakdown_bound(x, eps) == breakdown_bound(x, eps, statement="proved")


def test_paper_breakdown_bound_is_too_large_by_rounding_on_the_line():
    x = np.arange(10.0)[:, None]
    assert breakdown_bound(x, 0.1, statement="paper") == 2 / 12
    assert smallest_break_on_the_line(10, 0.1) == Fraction(1, 11)
    assert breakdown_bound(x, 0.1, statement="proved") == 1 / 11


def planar_depth_counts(points: np.ndarray) -> np.ndarray:
    """Return n times the exact halfspace depths of n points in the plane.

    No three different points may be collinear.
    """
    counts = np.empty(len(points), int)
    for i, point in enumerate(points):
        steps = points - point
        here = ~steps.any(axis=1)
        angles = np.sort(np.arctan2(steps[~here, 1], steps[~here, 0]) % (2 * np.pi))
        turns = np.sort(np.concatenate([angles, (angles + np.pi) % (2 * np.pi)]))
        borders = (turns + np.append(turns[1:], turns[0] + 2 * np.pi)) / 2
        circle = np.concatenate([angles, angles + 2 * np.pi, angles + 4 * np.pi])
        held = np.searchsorted(circle, borders + np.pi) - np.searchsorted(circle, borders)
        counts[i] = here.sum() + held.min()
    return counts


def test_paper_breakdown_bound_fails_for_a_core_in_a_ring():
    core = 1e-3 * np.random.default_rng(0).standard_normal((49, 2))
    turns = 2 * np.pi * (np.arange(11) + 0.3) / 11
    points = np.concatenate([core, np.column_stack([np.cos(turns), np.sin(turns)])])
    outliers, eps = 5, 0.2
    spoilt = np.concatenate([points, np.tile([1e6, 1e3], (outliers, 1))])
    counts = planar_depth_counts(spoilt)
    # Every level set that leaves the outliers out has less mass than 1 - eps, so that they belong
    # to all regions from there to 1 - eps.
    assert (counts > counts[-1]).sum() < (1 - eps) * len(spoilt)
    depths = planar_depth_counts(points) / len(points)
    paper = breakdown_bound(points, eps, depth=depths, statement="paper")
    assert paper > outliers / len(spoilt)
    proved = breakdown_bound(points, eps, depth=depths)
    assert 0 < proved <= outliers / len(spoilt)


def test_breakdown_on_the_line_equals_the_depth_estimator():
    x = np.random.default_rng(1).integers(0, 12, (40, 1)).astype(float)
    depth = isodepth.HalfspaceDepth()
    for eps in (0.1, 0.5, 1.0):
        for statement in ("paper", "proved"):
            exact = breakdown_bound(x, eps, statement=statement)
            assert exact == breakdown_bound(x, eps, depth=depth, statement=statement)


def test_breakdown_uses_the_given_largest_depth():
    bound = partial(breakdown_bound, statement="paper")
    x = np.arange(100.0)[:, None]
    assert bound(x, 0.9) == pytest.approx(1 / 3)  # alpha_max = 1/2
    assert bound(x, 0.9, alpha_max=0.46) == 46 / 146
    # In the plane some point has depth 1/3 or more, even if none of the sample has.
    circle = np.exp(2j * np.pi * (np.arange(30) + 0.5) / 30)
    points = np.column_stack([circle.real, circle.imag])
    assert bound(points, 1.0, depth=np.full(30, 1 / 30)) == 2 / 32
    assert bound(points, 1.0, depth=np.full(30, 1 / 30), alpha_max=1 / 30) == 1 / 31


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": [0.5, 0.5]}, "one number for each of the 3 rows"),
        ({"depth": [0.4, 0.5, 0.6]}, "multiples of 1/n"),
        ({"depth": [0.0, 1 / 3, 2 / 3]}, "multiples of 1/n"),
        ({"depth": [1 / 3, 1.0, 4 / 3]}, "multiples of 1/n"),
        ({"depth": isodepth.ProjectionDepth()}, "ProjectionDepth"),
        ({"statement": "best"}, "paper, proved"),
        ({"eps": 0}, "eps"),
        ({"alpha_max": 0.1, "statement": "paper"}, "alpha must not exceed alpha_max"),
        ({"alpha_max": 0.5}, "drop it, or ask for statement='paper'"),
    ],
)
def test_breakdown_bad_input(options, words):
    with pytest.raises(isodepth.errors.IsodepthError, match=words):
        breakdown_bound([[0.0], [1.0], [2.0]], **{"eps": 0.5, **options})
