"""Transformations under which a distance is invariant, or changes in a known way.

There are three tolerances: equal bits if the same operations are performed, 1e-12 of the scale of
the data if sums are taken in another order, and 1e-9 if the transformation rounds the points.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from strategies import ESTIMATORS, POINTS, gaussian_directions, make_case

import isodepth
from isodepth.typing import RandomLevels

DEPTHS = ["ai_irw", "halfspace", "irw", "projection"]
KINDS = ["duplicated", "gaussian", "heavy_tailed", "lattice"]
pytestmark = pytest.mark.filterwarnings("ignore::isodepth.errors.DegenerateDepthWarning")


def samples(seed: int, n: int = 60, m: int = 45, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return two samples that differ in location, spread and tails."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_t(3, (m, d)) * 1.5 + 0.7


def scale_of(*arrays: np.ndarray) -> float:
    return max(float(np.abs(a).max()) for a in arrays)


# ---------------------------------------------------------------------------------------------
# bit for bit
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"refine": 0},
        {"levels": 10},
        {"levels": RandomLevels(10)},
        {"p": 0.7},
        {"p": math.inf},
        {"eps": 1.0},
        {"normalize": False},
    ],
    ids=str,
)
def test_zero_and_symmetry_bit_for_bit(depth: str, options: dict) -> None:
    metric = isodepth.Metric(depth=depth, n_directions=64, random_state=3, **options)
    for kind in KINDS:
        case = make_case(kind, 21, d=3)
        forth = metric.distance(case.x, case.y, weights=(case.wx, case.wy))
        back = metric.distance(case.y, case.x, weights=(case.wy, case.wx))
        assert forth == back
        assert forth > 0
        assert metric.distance(case.x, case.x.copy(), weights=(case.wx, case.wx)) == 0.0


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("random_state", [None, 0])
@pytest.mark.parametrize("levels", ["exact", RandomLevels(5)])
def test_the_global_random_state_is_neither_changed_nor_used(
    depth: str, random_state: int | None, levels: str | RandomLevels
) -> None:
    X, Y = samples(6)
    options = {"depth": depth, "levels": levels, "n_directions": 32, "refine": 0}

    def state() -> list:
        name, keys, *rest = np.random.get_state()  # noqa: NPY002 - the thing under test
        return [name, keys.tolist(), *rest]

    values = []
    for seed in (0, 0, 1):
        np.random.seed(seed)  # noqa: NPY002
        seeded = state()
        values.append(isodepth.distance(X, Y, random_state=random_state, **options))
        ESTIMATORS[depth](n_directions=32, random_state=random_state).fit(X).score_samples(Y)
        assert state() == seeded
    if random_state is not None:
        assert len(set(values)) == 1
    else:
        assert len(set(values)) == 3, "no seed means new directions, whatever the global state"


def test_the_global_random_state_does_not_choose_the_covariance_fit() -> None:
    """Check that the minimum covariance determinant does not use the global random state."""
    X, _ = samples(7, n=80)
    depths = []
    for seed in (0, 1):
        np.random.seed(seed)  # noqa: NPY002 - the thing under test
        before = np.random.get_state()[1].tolist()  # noqa: NPY002
        fitted = isodepth.AIIRWDepth(covariance="mcd", n_directions=32, random_state=0).fit(X)
        assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
        depths.append(fitted.depth_)
    np.testing.assert_array_equal(depths[0], depths[1])


# ---------------------------------------------------------------------------------------------
# to 1e-12 of the scale of the data
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_row_order_is_irrelevant(depth: str, d: int) -> None:
    metric = isodepth.Metric(depth=depth, n_directions=64, random_state=0)
    for kind in KINDS:
        case = make_case(kind, 31, d=d)
        rng = np.random.default_rng(9)
        i, j = rng.permutation(len(case.x)), rng.permutation(len(case.y))
        wx = None if case.wx is None else case.wx[i]
        wy = None if case.wy is None else case.wy[j]
        before = metric.distance(case.x, case.y, weights=case.weights)
        after = metric.distance(case.x[i], case.y[j], weights=(wx, wy))
        assert abs(before - after) <= 1e-12 * scale_of(case.x, case.y)

        kept = metric.regions(case.x, weights=case.wx)
        moved = metric.regions(case.x[i], weights=wx)
        np.testing.assert_allclose(moved.depths, kept.depths[i], rtol=0, atol=1e-12)
        for beta in (0.0, 0.31, 0.62, 0.93):
            assert set(i[moved.indices(beta)].tolist()) == set(
                np.asarray(kept.indices(beta)).tolist()
            )


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("refine", [0, 20])
def test_reflection_is_irrelevant(depth: str, refine: int) -> None:
    metric = isodepth.Metric(depth=depth, n_directions=64, random_state=0, refine=refine)
    for kind in KINDS:
        case = make_case(kind, 41, d=3)
        before = metric.distance(case.x, case.y, weights=case.weights)
        after = metric.distance(-case.x, -case.y, weights=case.weights)
        assert abs(before - after) <= 1e-12 * scale_of(case.x, case.y)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("d", [1, 3])
def test_integer_weights_are_repeated_rows(depth: str, d: int) -> None:
    for kind in KINDS:
        rng = np.random.default_rng(13)
        X, Y = POINTS[kind](rng, 25, d), POINTS[kind](rng, 20, d) + 1
        wx, wy = rng.integers(0, 4, len(X)), rng.integers(0, 4, len(Y))
        metric = isodepth.Metric(depth=depth, n_directions=64, random_state=0)
        weighted = metric.distance(X, Y, weights=(wx, wy))
        repeated = metric.distance(np.repeat(X, wx, axis=0), np.repeat(Y, wy, axis=0))
        assert abs(weighted - repeated) <= 1e-12 * scale_of(X, Y)
        one_sided = metric.distance(X, Y, weights=(wx, None))
        repeated = metric.distance(np.repeat(X, wx, axis=0), Y)
        assert abs(one_sided - repeated) <= 1e-12 * scale_of(X, Y)


# ---------------------------------------------------------------------------------------------
# equal points have equal depth, in any row
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 17])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_points_have_equal_depth(depth: str, d: int, dtype: type) -> None:
    """Copies of a point that are far apart in the sample have equal depths, for any dimension d.

    Vector types of the core do not divide every d.
    """
    rng = np.random.default_rng(d)
    base = rng.standard_normal((101, d)).astype(dtype)
    rows = rng.permutation(np.concatenate([np.arange(101), rng.integers(0, 101, 132)]))
    found = isodepth.Metric(depth=depth, n_directions=97, random_state=0).regions(base[rows])
    for row in range(101):
        assert len(set(found.depths[rows == row].tolist())) == 1


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("weighted", [False, True])
def test_score_samples_agrees_with_depth_on_the_own_points(depth: str, weighted: bool) -> None:
    for kind in KINDS:
        rng = np.random.default_rng(17)
        points = POINTS[kind](rng, 83, 3)
        weights = rng.integers(0, 4, len(points)) if weighted else None
        fitted = ESTIMATORS[depth](n_directions=61, random_state=0).fit(
            points, sample_weight=weights
        )
        own = fitted.score_samples(points)
        np.testing.assert_allclose(own, fitted.depth_, rtol=0, atol=1e-12)
        # The depth of a point does not depend on the other queries or on their order.
        np.testing.assert_allclose(
            fitted.score_samples(points[::-1])[::-1], own, rtol=0, atol=1e-12
        )
        alone = [float(fitted.score_samples(points[i : i + 1])[0]) for i in (0, 41, 82)]
        np.testing.assert_allclose(alone, own[[0, 41, 82]], rtol=0, atol=1e-12)
        assert ((own >= 0) & (own <= 1)).all()


# ---------------------------------------------------------------------------------------------
# to 1e-9: the transformation itself rounds the points
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("p", [0.5, 1, 2, math.inf])
def test_a_shifted_copy_is_as_far_as_the_shift(depth: str, p: float) -> None:
    """Check that the distance of a sample from its translation is the length of the shift."""
    X, _ = samples(23)
    shift = np.array([2.0, -1.0, 0.5])
    length = float(np.linalg.norm(shift))
    U = np.vstack([gaussian_directions(np.random.default_rng(1), 3, 50), shift / length])
    found = isodepth.distance(X, X + shift, depth=depth, p=p, directions=U, refine=0)
    assert found == pytest.approx(length, rel=1e-9)


@pytest.mark.parametrize("depth", ["halfspace", "irw", "projection"])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_rotation_with_rotated_directions(depth: str, d: int) -> None:
    X, Y = samples(24, d=d)
    rng = np.random.default_rng(d)
    rotation, _ = np.linalg.qr(rng.standard_normal((d, d)))
    U = gaussian_directions(rng, d, 64)
    before = isodepth.distance(X, Y, depth=depth, directions=U, refine=0)
    after = isodepth.distance(
        X @ rotation.T, Y @ rotation.T, depth=depth, directions=U @ rotation.T, refine=0
    )
    assert after == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("d", [2, 3, 5, 10])
@pytest.mark.parametrize("refine", [0, 20])
def test_translation_and_scale(depth: str, d: int, refine: int) -> None:
    """A distance does not change by a translation, and is multiplied by a change of scale.

    In refined distances, rounding must not decide between tied support points.
    """
    metric = isodepth.Metric(depth=depth, n_directions=64, random_state=0, refine=refine)
    for seed in range(4):
        X, Y = samples(seed, d=d)
        expected = metric.distance(X, Y)
        move = 0.1 + 1.3 * np.arange(d)
        assert metric.distance(1.7 * X, 1.7 * Y) / 1.7 == pytest.approx(expected, rel=1e-9)
        assert metric.distance(X + move, Y + move) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(("p", "refine"), [(0.5, 0), (2, 20), (5, 0)])
def test_huge_and_tiny_scales(depth: str, p: float, refine: int) -> None:
    """The distance of samples times a power of two is multiplied by it, up to rounding.

    The powers are from 2^-500 to 2^500, and neither overflow nor underflow changes the result.
    """
    X, Y = samples(26)
    metric = isodepth.Metric(depth=depth, p=p, n_directions=64, random_state=0, refine=refine)
    expected, regions = metric.distance(X, Y), metric.regions(X)
    for exponent in (-500, -300, -60, 60, 300, 500):
        factor = 2.0**exponent
        with np.errstate(all="raise", under="ignore"):
            found = metric.distance(factor * X, factor * Y)
        assert found / factor == pytest.approx(expected, rel=1e-9)
        scaled = metric.regions(factor * X)
        np.testing.assert_allclose(scaled.depths, regions.depths, rtol=0, atol=1e-9)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("p", [1, 2, 5, math.inf])
@pytest.mark.parametrize("levels", ["exact", 12])
def test_triangle_inequality_with_shared_directions(
    depth: str, p: float, levels: str | int
) -> None:
    U = gaussian_directions(np.random.default_rng(0), 2, 40)
    metric = isodepth.Metric(depth=depth, p=p, directions=U, levels=levels, refine=0)
    for seed in range(6):
        rng = np.random.default_rng([seed, 3])
        X, Y, Z = (
            rng.standard_normal((n, 2)) * rng.uniform(0.2, 3) + rng.normal(0, 0.5, 2)
            for n in (12, 17, 9)
        )
        direct = metric.distance(X, Z)
        around = metric.distance(X, Y) + metric.distance(Y, Z)
        assert direct <= around * (1 + 1e-9)
