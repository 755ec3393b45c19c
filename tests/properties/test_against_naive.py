"""Regions and distances, compared with the plain loops of ``naive`` on random cases.

Regions must be identical. Distances agree to a relative error of 1e-10, far above the rounding
error of short dot products (about 1e-15).
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    ESTIMATORS,
    POINTS,
    dyadic_weights,
    eps_values,
    exact_directions,
    gaussian_directions,
    lattice_pairs,
    make_case,
    orders,
)
from twins import naive

import isodepth
from isodepth.typing import RandomLevels

RELATIVE = 1e-10
#: Depths are sums of at most a few dozen masses, or one quotient, with small rounding errors.
DEPTH_TOLERANCE = 1e-13

#: Whitening needs points that span the space, and its results are not exact for lattice points.
AI_IRW_KINDS = ["gaussian", "heavy_tailed", "duplicated"]
#: p and eps of each seed: short decimals and arbitrary numbers.
P_AND_EPS = [(0.5, 0.25), (1.0, 0.7647381), (2.0, 0.1), (3.0, 0.5), (math.inf, 1.0), (2.0, 0.3)]
SEEDS = range(len(P_AND_EPS))
ALL_CASES = [
    pytest.param(depth, kind, seed, id=f"{depth}-{kind}-{seed}")
    for depth in sorted(ESTIMATORS)
    for kind in sorted(POINTS)
    if depth != "ai_irw" or kind in AI_IRW_KINDS
    for seed in SEEDS
]
P_VALUES = [0.5, 1.0, 2.0, 3.0, math.inf]


def naive_regions(
    depth: str, points: np.ndarray, directions: np.ndarray, weights: np.ndarray | None
) -> naive.NaiveRegions:
    """Return the reference regions. For AI-IRW, the whitening of the fitted estimator is used."""
    if depth != "ai_irw":
        return naive.depth_regions(depth, points, directions, weights)
    fitted = isodepth.AIIRWDepth(directions=directions).fit(points, sample_weight=weights)
    depths = naive.ai_irw_depth(points, fitted.whitening_, directions, weights)
    return naive.regions(points, depths, weights, naive.TIES["ai_irw"])


def levels_to_try(reference: naive.NaiveRegions) -> list[float]:
    """Return a level inside every interval of levels, and every end that is exact in floats."""
    cuts = [Fraction(0), *reference.breakpoints()]
    middles = [float((a + b) / 2) for a, b in itertools.pairwise(cuts)]
    exact = [float(c) for c in cuts[:-1] if Fraction(float(c)) == c]
    return middles + exact


def assert_same_regions(
    found: isodepth.typing.TrimmedRegions, reference: naive.NaiveRegions, directions: np.ndarray
) -> None:
    present = [i for i, m in enumerate(reference.mass) if m > 0]
    expected = np.array([float(v) for v in reference.depth])
    np.testing.assert_allclose(
        found.depths[present], expected[present], rtol=0, atol=naive.PROJECTION_TIE
    )
    signed = np.array(naive.both_signs(directions))
    for beta in levels_to_try(reference):
        inside = np.asarray(found.indices(beta)).tolist()
        rows = reference.inside(beta)
        assert sorted(inside) == sorted(rows), f"region at beta={beta}"
        assert float(found.min_depth(beta)) == pytest.approx(
            float(reference.alpha(beta)), abs=naive.PROJECTION_TIE
        )
        supports = np.asarray(found.support(signed, beta)).ravel()
        wanted = [naive.farthest([reference.points[i] for i in rows], u) for u in signed]
        scale = np.abs(np.array(reference.points)).max()
        np.testing.assert_allclose(supports, wanted, rtol=RELATIVE, atol=1e-13 * scale)


def test_cases_have_any_dimension_and_any_weights() -> None:
    made = [make_case(kind, seed) for kind in POINTS for seed in SEEDS]
    assert {case.x.shape[1] for case in made} == {1, 2, 3, 4, 5, 6}
    weightings = {(case.wx is None, case.wy is None) for case in made}
    assert len(weightings) == 4
    assert any((case.wx == 0).any() for case in made if case.wx is not None)


@pytest.mark.parametrize(("depth", "kind", "seed"), ALL_CASES)
def test_regions_and_distance(depth: str, kind: str, seed: int) -> None:
    case = make_case(kind, seed)
    p, eps = P_AND_EPS[seed]
    normalize = seed % 2 == 0
    metric = isodepth.Metric(
        depth=depth, p=p, eps=eps, normalize=normalize, directions=case.directions, refine=0
    )
    x = naive_regions(depth, case.x, case.directions, case.wx)
    y = naive_regions(depth, case.y, case.directions, case.wy)

    assert_same_regions(metric.regions(case.x, weights=case.wx), x, case.directions)
    assert_same_regions(metric.regions(case.y, weights=case.wy), y, case.directions)
    expected = naive.distance(x, y, case.directions, p, eps, "exact", normalize)
    found = metric.distance(case.x, case.y, weights=case.weights)
    assert found == pytest.approx(expected, rel=RELATIVE, abs=1e-14)


@pytest.mark.parametrize(("depth", "kind"), sorted({case.values[:2] for case in ALL_CASES}))
@pytest.mark.parametrize("seed", [100, 101, 102])
def test_depths_of_other_points(depth: str, kind: str, seed: int) -> None:
    case = make_case(kind, seed)
    fitted = ESTIMATORS[depth](directions=case.directions).fit(case.x, sample_weight=case.wx)
    others = np.vstack([case.y, case.x])
    if depth == "ai_irw":
        depths = naive.ai_irw_depth(case.x, fitted.whitening_, case.directions, case.wx, Z=others)
    else:
        depths = naive.DEPTHS[depth](case.x, case.directions, case.wx, Z=others)
    np.testing.assert_allclose(
        fitted.score_samples(others),
        [float(v) for v in depths],
        rtol=0,
        atol=DEPTH_TOLERANCE if depth != "projection" else naive.PROJECTION_TIE,
    )


@pytest.mark.parametrize("kind", ["gaussian", "heavy_tailed"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_whitening_makes_the_covariance_the_identity(kind: str, weighted: bool, seed: int) -> None:
    """Check that ``whitening_`` whitens the points. The other tests of AI-IRW rely on it."""
    rng = np.random.default_rng([seed, weighted])
    points = POINTS[kind](rng, 40, 3)
    weights = rng.integers(1, 5, 40) if weighted else None
    fitted = isodepth.AIIRWDepth(directions=np.eye(3)).fit(points, sample_weight=weights)
    whitened = points @ fitted.whitening_.T
    covariance = np.cov(whitened.T, aweights=weights, bias=True)
    # The normalization (n or n - 1) is not compared, because it does not change ranks.
    np.testing.assert_allclose(covariance / covariance[0, 0], np.eye(3), atol=1e-9)


@pytest.mark.parametrize("depth", ["halfspace", "projection", "irw"])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("random", [False, True])
def test_levels_of_a_grid_and_random_levels(
    depth: str, seed: int, normalize: bool, random: bool
) -> None:
    case = make_case("gaussian", 200 + seed)
    rng = np.random.default_rng([8, seed])
    # With a random eps no level is at the end of a region, where rounding would choose the region.
    p, eps, n_levels = P_VALUES[seed], float(rng.uniform(0.05, 0.6)), int(rng.integers(1, 12))
    chosen = RandomLevels(n_levels) if random else n_levels
    options = {
        "p": p, "eps": eps, "normalize": normalize, "random_state": seed, "levels": chosen,
    }  # fmt: skip
    metric = isodepth.Metric(depth=depth, directions=case.directions, refine=0, **options)
    x = naive.depth_regions(depth, case.x, case.directions, case.wx)
    y = naive.depth_regions(depth, case.y, case.directions, case.wy)
    result = metric.compare(case.x, case.y, weights=case.weights)
    levels = [float(b) for b in (result.levels if random else naive.grid(n_levels, eps))]
    np.testing.assert_allclose(result.levels, levels, rtol=1e-14)
    assert len(set(levels)) == n_levels
    assert all(0 <= b <= 1 - eps for b in levels)
    expected = naive.distance(x, y, case.directions, p, eps, levels, normalize)
    assert result.distance == pytest.approx(expected, rel=RELATIVE)


@pytest.mark.parametrize("n_levels", [1, 2, 4, 8])
def test_midpoint_grid_on_exact_breakpoints(n_levels: int) -> None:
    """At a level at which a region grows, the mass of the region must exceed the level."""
    rng = np.random.default_rng(5)
    points = [rng.standard_normal((n, 1)) for n in (16, 8)]
    x, y = (naive.depth_regions("halfspace", z, [[1.0]]) for z in points)
    expected = naive.distance(x, y, [[1.0]], 1, 0.5, n_levels)
    found = isodepth.distance(
        *points, depth="halfspace", directions=[[1.0]], p=1, eps=0.5, levels=n_levels, refine=0
    )
    assert found == pytest.approx(expected, rel=RELATIVE)


@pytest.mark.parametrize("depth", ["halfspace", "projection", "irw"])
@pytest.mark.parametrize("kind", ["gaussian", "lattice", "duplicated"])
@pytest.mark.parametrize("seed", [500, 501])
def test_comparison_explains_the_distance(depth: str, kind: str, seed: int) -> None:
    case = make_case(kind, seed)
    p, eps = 2.0, 0.15
    metric = isodepth.Metric(depth=depth, p=p, eps=eps, directions=case.directions, refine=0)
    result = metric.compare(case.x, case.y, weights=case.weights)
    x = naive.depth_regions(depth, case.x, case.directions, case.wx)
    y = naive.depth_regions(depth, case.y, case.directions, case.wy)

    assert result.distance == metric.distance(case.x, case.y, weights=case.weights)
    assert float(result) == result.distance
    starts, stops = result.level_intervals.T
    assert starts[0] == 0
    assert stops[-1] == pytest.approx(1 - eps, abs=1e-15)
    np.testing.assert_array_equal(starts[1:], stops[:-1])
    assert (stops > starts).all()
    np.testing.assert_allclose(np.linalg.norm(result.gap_directions, axis=1), 1.0, rtol=1e-12)
    for start, stop, gap, u in zip(starts, stops, result.gaps, result.gap_directions, strict=True):
        middle = (start + stop) / 2
        assert gap == pytest.approx(
            naive.gap(x, y, case.directions, middle), rel=RELATIVE, abs=1e-14
        )
        assert abs(x.support(u, middle) - y.support(u, middle)) == pytest.approx(
            gap, rel=RELATIVE, abs=1e-14
        )
    integral = math.fsum((stops - starts) * result.gaps**p) / (1 - eps)
    assert integral ** (1 / p) == pytest.approx(result.distance, rel=RELATIVE, abs=1e-14)

    worst = result.largest_gap
    largest = int(np.argmax(result.gaps))
    assert worst.gap == result.gaps.max()
    assert worst.gap == pytest.approx(naive.gap(x, y, case.directions, worst.level), rel=RELATIVE)
    if (result.gaps == worst.gap).sum() == 1:
        assert worst.level == pytest.approx((starts[largest] + stops[largest]) / 2, abs=1e-15)
        np.testing.assert_array_equal(worst.direction, result.gap_directions[largest])
    shares = [each.fraction for each in worst.contributions]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("eps", [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])
@pytest.mark.parametrize("n", [10, 20])
def test_a_round_eps_on_a_breakpoint_leaves_no_sliver(eps: float, n: int) -> None:
    """Check that rounding of 1 - eps, such as 1 - 0.3, leaves no interval of length 1e-17."""
    rng = np.random.default_rng(n)
    points = [np.sort(rng.standard_normal((n, 1)) ** 3, axis=0) for _ in range(2)]
    x, y = (naive.depth_regions("irw", z, [[1.0]]) for z in points)
    expected = naive.distance(x, y, [[1.0]], math.inf, eps)
    found = isodepth.distance(
        *points, depth="irw", directions=[[1.0]], p=math.inf, eps=eps, refine=0
    )
    assert found == pytest.approx(expected, rel=RELATIVE)


@pytest.mark.parametrize("depth", ["halfspace", "irw", "projection"])
@pytest.mark.parametrize(("n", "m", "n_directions"), [(150, 121, 3), (13, 11, 201)])
def test_more_than_one_block(depth: str, n: int, m: int, n_directions: int) -> None:
    """Regions and distances equal those of plain loops if there are several blocks.

    Many rows, or many directions, are divided into blocks.
    """
    rng = np.random.default_rng(n)
    X, Y = rng.standard_normal((n, 3)), rng.standard_t(3, (m, 3)) + 0.5
    X[: n // 5] = X[-(n // 5) :]
    U = gaussian_directions(rng, 3, n_directions)
    x, y = (naive.depth_regions(depth, z, U) for z in (X, Y))
    regions = {beta: x.inside(beta) for beta in (0.0, 0.123, 0.456, 0.789, 0.999)}
    levels = [0.05, 0.33, 0.61, 0.88]
    gaps = [naive.gap(x, y, U, beta) for beta in levels]
    for memory_mb in (0.01, 1, 256):
        metric = isodepth.Metric(depth=depth, directions=U, refine=0, memory_mb=memory_mb)
        found = metric.regions(X)
        for beta, inside in regions.items():
            assert set(np.asarray(found.indices(beta)).tolist()) == inside
        result = metric.compare(X, Y)
        at = np.searchsorted(result.level_intervals[:, 0], levels, side="right") - 1
        np.testing.assert_allclose(result.gaps[at], gaps, rtol=RELATIVE)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_callable_depth(weighted: bool) -> None:
    """Regions and distances equal those of plain loops for a depth function of the user.

    The function does not use directions.
    """
    rng = np.random.default_rng(3)
    X, Y, U = *rng.standard_normal((2, 15, 2)), gaussian_directions(rng, 2, 6)
    wx = rng.integers(1, 4, 15).astype(float) if weighted else None

    def closeness(points: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        return 1 / (1 + np.abs(points).max(axis=1))

    x, y = (naive.regions(z, closeness(z).tolist(), w) for z, w in ((X, wx), (Y, None)))
    metric = isodepth.Metric(depth=closeness, directions=U, refine=0)
    expected = naive.distance(x, y, U)
    assert metric.distance(X, Y, weights=(wx, None)) == pytest.approx(expected, rel=RELATIVE)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(pair=lattice_pairs(), data=st.data())
@pytest.mark.filterwarnings("ignore::isodepth.errors.DegenerateDepthWarning")
def test_lattices_of_any_size(pair: tuple[np.ndarray, np.ndarray], data: st.DataObject) -> None:
    """Regions and distances equal those of plain loops for points of a lattice, which have ties.

    The samples have one or more points, and weights that may be zero.
    """
    weights = tuple(data.draw(st.one_of(st.none(), dyadic_weights(len(z)))) for z in pair)
    p, eps = data.draw(orders()), data.draw(eps_values())
    directions = np.eye(pair[0].shape[1])
    metric = isodepth.Metric(depth="irw", p=p, eps=eps, directions=directions, refine=0)
    x, y = (
        naive.depth_regions("irw", z, directions, w) for z, w in zip(pair, weights, strict=True)
    )
    assert_same_regions(metric.regions(pair[0], weights=weights[0]), x, directions)
    expected = naive.distance(x, y, directions, p, eps)
    found = metric.distance(*pair, weights=weights)
    assert found == pytest.approx(expected, rel=RELATIVE, abs=1e-14)
    depth = data.draw(st.sampled_from(sorted(ESTIMATORS)))
    metric = isodepth.Metric(depth=depth, n_directions=16, random_state=0)
    forth = metric.distance(*pair, weights=weights)
    assert forth == metric.distance(*pair[::-1], weights=weights[::-1])
    assert 0 <= forth < math.inf
    assert metric.distance(pair[0], pair[0], weights=(weights[0], weights[0])) == 0.0


@pytest.mark.parametrize("depth", ["halfspace", "irw", "projection"])
@pytest.mark.parametrize("seed", range(4))
def test_float32_lattice(depth: str, seed: int) -> None:
    """Check that regions in float32 are exact for small integers and directions along the axes."""
    case = make_case("lattice", 600 + seed)
    x = naive.depth_regions(depth, case.x, case.directions, case.wx)
    y = naive.depth_regions(depth, case.y, case.directions, case.wy)
    metric = isodepth.Metric(depth=depth, p=2, eps=0.15, directions=case.directions, refine=0)
    single = [z.astype(np.float32) for z in (case.x, case.y)]
    found = metric.regions(single[0], weights=case.wx)
    for beta in levels_to_try(x):
        assert set(np.asarray(found.indices(beta)).tolist()) == x.inside(beta)
    expected = naive.distance(x, y, case.directions, 2, 0.15)
    # A few roundings of float32 (6e-8 each) at most.
    assert metric.distance(*single, weights=case.weights) == pytest.approx(expected, rel=1e-6)


AFFINE_INVARIANT = ["halfspace", "projection", "ai_irw"]


def _tied_depth(depth: str, n: int) -> float:
    """Return the common depth of n <= d + 1 points in general position."""
    if depth == "halfspace":
        return 1 / n
    if depth == "projection":
        return {1: 1.0, 2: 0.5}.get(n, 0.0)
    ranks = [Fraction(2 * i + 1, 2 * n) for i in range(n)]
    return float(sum(min(F, 1 - F) for F in ranks) / n)


@pytest.mark.filterwarnings("ignore::isodepth.errors.DegenerateDepthWarning")
@pytest.mark.parametrize("depth", AFFINE_INVARIANT)
@pytest.mark.parametrize(("n", "d"), [(2, 1), (2, 3), (3, 2), (4, 3), (4, 5), (7, 6), (6, 20)])
def test_simplices_are_exact_ties(depth: str, n: int, d: int) -> None:
    """Check that n <= d + 1 points in general position have equal depths, bit for bit."""
    rng = np.random.default_rng([n, d])
    X, Y = rng.standard_normal((2, n, d))
    directions = gaussian_directions(rng, d, 7)
    metric = isodepth.Metric(depth=depth, directions=directions, refine=0)
    found = metric.regions(X)
    np.testing.assert_allclose(found.depths, _tied_depth(depth, n), rtol=0, atol=1e-14)
    assert len(set(found.depths.tolist())) == 1
    assert set(np.asarray(found.indices(0.0)).tolist()) == set(range(n))
    one_region = [naive.regions(z, [Fraction(1, n)] * n) for z in (X, Y)]
    expected = naive.gap(*one_region, directions, 0)
    assert metric.distance(X, Y) == pytest.approx(expected, rel=RELATIVE)


@pytest.mark.parametrize("depth", AFFINE_INVARIANT)
def test_repeated_simplices_are_exact_ties_too(depth: str) -> None:
    """Check that a simplex with every vertex twice has the depths of the simplex."""
    X = np.random.default_rng(0).standard_normal((4, 3))
    with pytest.warns(isodepth.errors.DegenerateDepthWarning):
        once = isodepth.Metric(depth=depth).regions(X)
    with pytest.warns(isodepth.errors.DegenerateDepthWarning):
        twice = isodepth.Metric(depth=depth).regions(np.vstack([X, X]))
    np.testing.assert_array_equal(twice.depths, np.tile(once.depths, 2))


@pytest.mark.parametrize("depth", ["halfspace", "projection"])
@pytest.mark.parametrize("seed", range(6))
def test_few_points_not_in_general_position(depth: str, seed: int) -> None:
    """Check that n <= d + 1 points on a line do not have equal depths."""
    rng = np.random.default_rng([11, seed])
    d, n = 6, 5 + seed % 3
    line = np.sort(rng.standard_normal(n))[:, None] * np.eye(d)[rng.integers(d)]
    directions = exact_directions(rng, d)
    reference = naive.depth_regions(depth, line, directions)
    found = isodepth.Metric(depth=depth, directions=directions, refine=0).regions(line)
    assert_same_regions(found, reference, directions)
    assert len(set(reference.depth)) > 1
