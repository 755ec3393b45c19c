"""Distances of two Gaussian distributions: closed forms, brute force, invariances."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.theory import gaussian_distance, gaussian_gap

# The documented error of `gaussian_distance` is 1e-9. The reference integrals are more accurate.
PROMISED = 2e-9
GAP_ROUNDING = 1e-12


def random_covariance(rng: np.random.Generator, d: int, kind: str) -> np.ndarray:
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    spread = {
        "plain": rng.uniform(0.5, 2, d),
        "wide": 10 ** rng.uniform(-4, 1, d),
        "flat": rng.uniform(0, 2, d) * (rng.random(d) < 0.6),
        "diagonal": rng.uniform(0.1, 3, d),
    }[kind]
    if kind == "diagonal":
        return np.diag(spread)
    matrix = (turn * spread) @ turn.T
    return (matrix + matrix.T) / 2


def random_pair(d: int, seed: int, kinds: str = "any") -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng([d, seed])
    choices = ["plain", "wide", "flat", "diagonal"] if kinds == "any" else [kinds]
    S1, S2 = (random_covariance(rng, d, str(rng.choice(choices))) for _ in range(2))
    m1, m2 = rng.standard_normal((2, d)) * 10 ** rng.uniform(-2, 1)
    return m1, S1, m2, S2


def pairs(low: int = 1, high: int = 4) -> st.SearchStrategy[tuple[np.ndarray, ...]]:
    return st.builds(random_pair, st.integers(low, high), st.integers(0, 10**6))


def widths(S: np.ndarray, u: np.ndarray) -> np.ndarray:
    values, axes = np.linalg.eigh(S)
    return np.linalg.norm((u @ axes) * np.sqrt(np.maximum(values, 0)), axis=1)


def gaps_along(u: np.ndarray, m1, S1, m2, S2, radii: np.ndarray) -> np.ndarray:
    """Return the maximum gap over the unit vectors `u` for each radius in `radii`.

    The distributions are N(m1, S1) and N(m2, S2).
    """
    shifts, stretch = u @ (m1 - m2), widths(S1, u) - widths(S2, u)
    return np.array([np.abs(shifts + r * stretch).max() for r in radii])


def circle(n: int) -> np.ndarray:
    turns = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(turns), np.sin(turns)])


def chi_mean(function, d: int, eps: float) -> float:
    """Return the mean of function(r) over a truncated chi distribution, by `scipy.integrate.quad`.

    The fraction eps of the mass with the largest r is cut off.
    """
    from scipy.integrate import quad
    from scipy.stats import chi

    end = chi.isf(eps, d)
    points = [chi.ppf(share * (1 - eps), d) for share in (1e-6, 1e-3, 0.1, 0.5, 0.9)]
    total = quad(
        lambda r: function(r) * chi.pdf(r, d),
        0,
        end,
        points=points,
        epsabs=0,
        epsrel=1e-12,
        limit=500,
    )
    return total[0] / (1 - eps)


# ---------------------------------------------------------------------------------------------
# closed forms
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.5, 1, 2, math.inf])
@pytest.mark.parametrize("eps", [0.1, 1.0])
@pytest.mark.parametrize("d", [1, 2, 9])
def test_equal_covariances_give_the_distance_of_the_means(d, eps, p):
    m1, S, m2, _ = random_pair(d, 0)
    distance = gaussian_distance(m1, S, m2, S, p, eps)
    assert distance == pytest.approx(np.linalg.norm(m1 - m2), rel=1e-15)


@pytest.mark.parametrize("p", [0.05, 0.7, 1, 2, 12, 300])
@pytest.mark.parametrize(("d", "eps"), [(1, 0.1), (2, 1e-6), (3, 0.9), (10, 0.3), (60, 0.1)])
def test_concentric_balls(d, eps, p):
    mean = chi_mean(lambda r: r**p, d, eps) ** (1 / p)
    zero = np.zeros(d)
    distance = gaussian_distance(zero, 9 * np.eye(d), zero, 4 * np.eye(d), p, eps)
    assert distance == pytest.approx((3 - 2) * mean, rel=1e-10)


def test_tiny_and_huge_trimming():
    zero, S1, _, S2 = random_pair(2, 4)
    zero = 0 * zero
    shapes, _ = gaussian_gap(zero, S1, zero, S2, 1.0)
    # The mean norm of a standard Gaussian vector in the plane is sqrt(pi/2).
    whole = gaussian_distance(zero, S1, zero, S2, 1, 5e-324)
    assert whole == pytest.approx(shapes * math.sqrt(math.pi / 2), rel=1e-12)
    # With hardly any mass left, beta is r^2/2, and the mean of r over it is 2/3 of the largest.
    inner = gaussian_distance(zero, S1, zero, S2, 1, 1 - 2**-40)
    assert inner == pytest.approx(shapes * math.sqrt(2 * 2**-40) * 2 / 3, rel=1e-10)


@pytest.mark.parametrize("p", [1e-3, 0.5, 1, 2.5, 40])
@pytest.mark.parametrize("eps", [1e-9, 0.1, 0.97])
@pytest.mark.parametrize("shift", [1e-5, 1.0, 100.0])
def test_one_dimension(shift, eps, p):
    # The interval of radius r ends at m +- r s: of the two ends, one is |m| + r |s1 - s2| away.
    if p < 0.1:
        mean = math.exp(
            math.log1p(chi_mean(lambda r: math.expm1(p * math.log(shift + r)), 1, eps)) / p
        )
    else:
        mean = chi_mean(lambda r: (shift + r) ** p, 1, eps) ** (1 / p)
    assert gaussian_distance(shift, 1, 0, 4, p, eps) == pytest.approx(mean, rel=PROMISED)


@pytest.mark.parametrize("eps", [0.1, 0.6])
def test_largest_gap_is_at_the_outermost_ellipsoid(eps):
    from scipy.stats import chi2

    laws = random_pair(3, 1)
    gap, _ = gaussian_gap(*laws, radius=math.sqrt(chi2.isf(eps, 3)))
    assert gaussian_distance(*laws, math.inf, eps) == pytest.approx(gap, rel=1e-12)
    assert gaussian_distance(*laws, 1e5, eps) == pytest.approx(gap, rel=1e-3)


def test_point_masses_and_flat_laws():
    ball, point = np.eye(3), np.zeros((3, 3))
    assert gaussian_distance([1, 2, 2], point, [0, 0, 0], point) == 3.0
    assert gaussian_gap([1, 2, 2], point, [0, 0, 0], ball, 4.0)[0] == pytest.approx(3 + 4)
    assert gaussian_gap([1, 2, 2], ball, [0, 0, 0], point, 4.0)[0] == pytest.approx(3 + 4)
    # A segment of length 2*3*4 along the first axis and a ball of radius 4.
    segment = np.diag([9.0, 0.0, 0.0])
    assert gaussian_gap([0, 0, 0], segment, [0, 0, 0], ball, 4.0)[0] == pytest.approx(8)
    # Shifted across, the far side of the ball is nearest to a point inside the segment.
    assert gaussian_gap([0, 5, 0], segment, [0, 0, 0], ball, 4.0)[0] == pytest.approx(
        max(math.hypot(12, 5) - 4, 5 + 4)
    )
    # Two segments that cross: each end is nearest to the center.
    other = np.diag([0.0, 4.0, 0.0])
    gap, direction = gaussian_gap([0, 0, 0], segment, [0, 0, 0], other, 1.0)
    assert gap == pytest.approx(3)
    assert abs(direction[0]) == pytest.approx(1)


@pytest.mark.parametrize("radius", [1e-300, 1e-12, 1e12, 1e300])
def test_extreme_radii(radius):
    gap, _ = gaussian_gap([3, 4], np.eye(2), [0, 0], 4 * np.eye(2), radius)
    assert gap == pytest.approx(5 + radius, rel=1e-14)
    gap, _ = gaussian_gap([0, 0], np.eye(2), [0, 0], np.diag([4.0, 1.0]), radius)
    assert gap == pytest.approx(radius, rel=1e-14)


def test_radius_zero():
    gap, direction = gaussian_gap([3, 4], np.eye(2), [0, 0], 4 * np.eye(2), 0.0)
    assert gap == 5
    assert direction.tolist() == pytest.approx([0.6, 0.8])
    gap, direction = gaussian_gap([0, 0], np.eye(2), [0, 0], 4 * np.eye(2), 0.0)
    assert gap == 0
    assert np.linalg.norm(direction) == 1


def test_without_normalization_it_is_the_integral():
    laws = random_pair(2, 3)
    for p in (0.5, 2.0):
        mean = gaussian_distance(*laws, p, 0.3)
        assert gaussian_distance(*laws, p, 0.3, normalize=False) == mean * 0.7 ** (1 / p)
    for p, eps in ((math.inf, 0.3), (2.0, 1.0)):
        assert gaussian_distance(*laws, p, eps, False) == gaussian_distance(*laws, p, eps)


# ---------------------------------------------------------------------------------------------
# brute force
# ---------------------------------------------------------------------------------------------


def check_gap(laws: tuple[np.ndarray, ...], radius: float, u: np.ndarray, spacing: float) -> None:
    """Check the gap at a radius against the maximum over the unit vectors `u`.

    `laws` are the means and covariances of two distributions. Every direction is at most `spacing`
    away from one of the unit vectors.
    """
    m1, S1, m2, S2 = laws
    gap, direction = gaussian_gap(*laws, radius)
    assert np.linalg.norm(direction) == pytest.approx(1, rel=1e-14)
    attained = gaps_along(direction[None], *laws, np.array([radius]))[0]
    scale = np.linalg.norm(m1 - m2) + radius * math.sqrt(max(np.trace(S1), np.trace(S2)))
    spectra = [np.linalg.eigvalsh(S) for S in (S1, S2)]
    # A flat law is flat up to rounding only, and a width is the root of a rounded square.
    flat = any(values[0] < 1e-12 * values[-1] for values in spectra)
    rounding = (1e-7 if flat else 1e-14) * scale
    assert attained == pytest.approx(gap, rel=GAP_ROUNDING, abs=rounding)
    brute = gaps_along(u, *laws, np.array([radius]))[0]
    assert brute <= gap * (1 + GAP_ROUNDING) + rounding
    # The gap along u is Lipschitz with constant |m1 - m2| + r (both widths); where the ellipsoids
    # are not flat it is also smooth, and the loss is quadratic.
    bend = np.linalg.norm(m1 - m2)
    for values in spectra:
        bend += radius * 2 * values[-1] / math.sqrt(max(values[0], 1e-300))
    assert gap <= brute + min(2 * scale * spacing, bend * spacing**2 / 2) + rounding


@settings(max_examples=60, derandomize=True, deadline=None)
@given(pairs(2, 2), st.floats(-2, 1))
def test_gap_in_the_plane(laws, log_radius):
    n = 20_000
    check_gap(laws, 10**log_radius, circle(n), np.pi / n)


@settings(max_examples=15, derandomize=True, deadline=None)
@given(st.integers(0, 10**6), st.floats(-1, 0.7))
def test_gap_of_diagonal_covariances_in_space(seed, log_radius):
    n = 40_000
    heights = 1 - (2 * np.arange(n) + 1) / n  # the spiral of Fibonacci on the sphere
    ring = np.sqrt(1 - heights**2)
    turns = np.pi * (3 - math.sqrt(5)) * np.arange(n)
    u = np.column_stack([ring * np.cos(turns), ring * np.sin(turns), heights])
    check_gap(random_pair(3, seed, "diagonal"), 10**log_radius, u, 3 / math.sqrt(n))


@pytest.mark.parametrize(
    ("shift", "S1", "S2", "radius", "expected"),
    [
        # Two ends of almost the same height whose multipliers are neighbors in the table.
        (
            [-0.03454793, 0.04541728],
            [[0.94370759, 0.89666186], [0.89666186, 3.89009218]],
            [[0.12581895, -0.25644071], [-0.25644071, 1.43710698]],
            0.3,
            0.33778868,
        ),
        # A tiny inner ellipse that decides between the two ends of the outer one.
        (
            [0.00198341310912405, 0.0019383127202648508],
            [
                [1.6449587981654445, -0.053600848615873345],
                [-0.053600848615873345, 1.645472003019722],
            ],
            [
                [3.019197790774656e-06, -1.89414935884235e-07],
                [-1.89414935884235e-07, 1.1756075716268047e-06],
            ],
            0.03734140510658543,
            0.0498564591,
        ),
    ],
)
def test_gap_with_rivals(shift, S1, S2, radius, expected):
    gap, _ = gaussian_gap(shift, S1, [0, 0], S2, radius)
    assert gap == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(("d", "seed"), [(4, 0), (6, 1), (10, 2), (10, 3)])
def test_no_start_climbs_higher(d, seed):
    """Gradient ascent from 200 directions does not find a larger gap.

    Directions are scaled to length one after each step, and both signs of the gap are maximized.
    """
    m1, S1, m2, S2 = random_pair(d, seed, "plain")
    radius, shift = 2.0, (m1 - m2) / 4
    u = np.random.default_rng(seed).standard_normal((200, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    sign = np.where(np.arange(200) % 2, 1.0, -1.0)[:, None]
    for _ in range(1000):
        slope = u @ S1 / widths(S1, u)[:, None] - u @ S2 / widths(S2, u)[:, None]
        u += 0.2 * (shift + sign * radius * slope)
        u /= np.linalg.norm(u, axis=1, keepdims=True)
    both_signs = np.concatenate([u, -u])
    found = gaps_along(both_signs, shift, S1, 0 * m2, S2, np.array([radius]))[0]
    gap, _ = gaussian_gap(shift, S1, 0 * m2, S2, radius)
    assert found <= gap * (1 + GAP_ROUNDING)
    assert found == pytest.approx(gap, rel=1e-7)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("p", "eps"), [(1, 0.1), (2, 0.4), (0.5, 0.02)])
def test_distance_in_the_plane(seed, p, eps):
    laws = random_pair(2, seed)
    # In the plane r(beta) = sqrt(-2 log(1 - beta)). The gap may have kinks: midpoints, many.
    n = 2000
    betas = (1 - eps) * (np.arange(n) + 0.5) / n
    gaps = gaps_along(circle(6000), *laws, np.sqrt(-2 * np.log1p(-betas)))
    expected = float(np.mean(gaps**p) ** (1 / p))
    # The grid of angles costs up to 1e-6 of the widths, the midpoint rule (a root at 0) 1e-5.
    assert gaussian_distance(*laws, p, eps) == pytest.approx(expected, rel=3e-5)


@pytest.mark.parametrize("d", [2, 5, 10])
def test_distance_lies_between_tangents_and_chords(d):
    """The gap is convex in the radius: means of its tangents and of its chords enclose its mean."""
    from scipy.stats import chi

    laws = random_pair(d, 7)
    eps = 0.1
    radii = np.linspace(0, chi.isf(eps, d), 40)
    found = [gaussian_gap(*laws, r) for r in radii]
    gaps = np.array([gap for gap, _ in found])
    u = np.array([direction for _, direction in found])
    r = (np.linspace(0, 1, 40_001)[1:] - 0.5 / 40_000) * radii[-1]
    density = chi.pdf(r, d)
    chords = np.interp(r, radii, gaps)
    tangents = gaps_along(u, *laws, r)
    low, high = (float(np.average(v, weights=density)) for v in (tangents, chords))
    distance = gaussian_distance(*laws, 1, eps)
    # The midpoint rule with 40000 points errs by about 1e-8.
    assert low * (1 - 1e-7) <= distance <= high * (1 + 1e-7)
    assert high - low < 3e-3 * high


# ---------------------------------------------------------------------------------------------
# invariances
# ---------------------------------------------------------------------------------------------


@settings(max_examples=20, derandomize=True, deadline=None)
@given(pairs(), st.floats(0.01, 0.9), st.sampled_from([0.5, 1.0, 2.0, math.inf]))
def test_symmetry_is_exact(laws, eps, p):
    m1, S1, m2, S2 = laws
    assert gaussian_distance(m1, S1, m2, S2, p, eps) == gaussian_distance(m2, S2, m1, S1, p, eps)


@settings(max_examples=15, derandomize=True, deadline=None)
@given(pairs(2, 5), st.integers(0, 10**6))
def test_isometries(laws, seed):
    m1, S1, m2, S2 = laws
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((len(m1), len(m1))))[0]
    move = rng.standard_normal(len(m1))
    turned = [turn @ m1 + move, turn @ S1 @ turn.T, turn @ m2 + move, turn @ S2 @ turn.T]
    turned[1::2] = [(S + S.T) / 2 for S in turned[1::2]]
    # A flat law is flat up to rounding only, and a width is the root of a rounded square.
    slack = 1e-7 * math.sqrt(max(np.trace(S1), np.trace(S2)))
    assert gaussian_distance(*turned) == pytest.approx(
        gaussian_distance(*laws), rel=2 * PROMISED, abs=slack
    )


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e150])
@pytest.mark.parametrize("seed", range(3))
def test_homogeneity(seed, scale):
    m1, S1, m2, S2 = random_pair(3, seed)
    scaled = gaussian_distance(scale * m1, scale**2 * S1, scale * m2, scale**2 * S2)
    expected = scale * gaussian_distance(m1, S1, m2, S2)
    assert scaled == pytest.approx(expected, rel=1e-7, abs=0)


@settings(max_examples=25, derandomize=True, deadline=None)
@given(pairs(1, 5), st.lists(st.floats(0, 10), min_size=3, max_size=3, unique=True))
def test_gap_is_convex_and_does_not_decrease(laws, radii):
    a, b, c = sorted(radii)
    low, middle, high = (gaussian_gap(*laws, r)[0] for r in (a, b, c))
    rounding = 1e-12 * (high + c * math.sqrt(max(np.trace(laws[1]), np.trace(laws[3]))))
    assert low <= middle + rounding
    assert middle <= high + rounding
    assert (c - a) * middle <= (c - b) * low + (b - a) * high + (c - a) * rounding


@settings(max_examples=15, derandomize=True, deadline=None)
@given(st.integers(1, 3), st.integers(0, 10**6), st.sampled_from([1.0, 2.0, math.inf]))
def test_triangle_inequality(d, seed, p):
    laws = [random_pair(d, seed + i)[:2] for i in range(3)]
    sides = [gaussian_distance(*laws[i], *laws[j], p) for i, j in ((0, 1), (1, 2), (0, 2))]
    assert max(sides) <= (sum(sides) - max(sides)) * (1 + PROMISED)


@settings(max_examples=5, derandomize=True, deadline=None)
@given(pairs(1, 3))
def test_more_weight_on_large_gaps_gives_more(laws):
    by_p = [gaussian_distance(*laws, p, 0.2) for p in (0.01, 0.5, 1, 3, 50, math.inf)]
    by_eps = [gaussian_distance(*laws, 2, eps) for eps in (1.0, 0.9, 0.5, 0.1, 1e-8)]
    for values in (by_p, by_eps):
        assert all(b >= a * (1 - PROMISED) for a, b in itertools.pairwise(values))


def test_a_flat_law_is_the_limit_of_thin_ones():
    m1, S1, m2, _ = random_pair(3, 5)
    thin = [gaussian_distance(m1, S1, m2, np.diag([2.0, 1.0, h])) for h in (0.0, 1e-16, 1e-8)]
    # The width in the thin direction is sqrt(h), and the mean radius is less than 3.
    assert thin[1] == pytest.approx(thin[0], abs=3e-8)
    assert thin[2] == pytest.approx(thin[0], abs=3e-4)


# ---------------------------------------------------------------------------------------------
# bad input
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("laws", "words"),
    [
        (([0, 0], np.eye(2), [0], np.eye(2)), "same number"),
        (([0, 0], np.eye(3), [0, 0], np.eye(2)), r"S1 .*\(2, 2\).*\(3, 3\)"),
        (([0, 0], [1.0, 1.0], [0, 0], np.eye(2)), "S1"),
        (([[0, 0]], np.eye(2), [0, 0], np.eye(2)), "m1"),
        (([0, math.nan], np.eye(2), [0, 0], np.eye(2)), "m1 .*NaN"),
        (([0, 0], np.eye(2), [0, 0], [[1, 0.5], [0, 1]]), "S2 must be symmetric"),
        (([0, 0], np.eye(2), [0, 0], [[1, 2], [2, 1]]), "S2 must be positive semi-definite"),
        (([], np.eye(2), [0, 0], np.eye(2)), "m1"),
    ],
)
def test_bad_laws(laws, words):
    with pytest.raises(InvalidInputError, match=words):
        gaussian_distance(*laws)
    with pytest.raises(InvalidInputError, match=words):
        gaussian_gap(*laws, 1.0)


@pytest.mark.parametrize("options", [{"p": 0}, {"p": -1}, {"eps": 0}, {"eps": 1.1}, {"p": "2"}])
def test_bad_options(options):
    with pytest.raises(InvalidOptionError, match="must"):
        gaussian_distance(0, 1, 1, 2, **options)


@pytest.mark.parametrize("radius", [-1, math.inf, math.nan, None])
def test_bad_radius(radius):
    with pytest.raises(InvalidOptionError, match="radius"):
        gaussian_gap(0, 1, 1, 2, radius)
