"""Unusual but valid input gives the results of the definitions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strategies import ESTIMATORS, LAYOUTS, gaussian_directions
from twins import naive

import isodepth

DEPTHS = ["ai_irw", "halfspace", "irw", "projection"]
AFFINE_INVARIANT = ["ai_irw", "halfspace", "projection"]
quiet = pytest.mark.filterwarnings("ignore::isodepth.errors.DegenerateDepthWarning")


def samples(n: int = 30, m: int = 25, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)), rng.standard_normal((m, d)) * 2 + 1


# ---------------------------------------------------------------------------------------------
# few or equal points
# ---------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_one_point_against_one_point(depth: str, d: int) -> None:
    """Check that the distance is the maximum |<u, x - y>| over directions u, for all p and eps."""
    rng = np.random.default_rng(d)
    X, Y = rng.standard_normal((2, 1, d))
    U = gaussian_directions(rng, d, 9)
    expected = np.abs(U @ (X - Y)[0]).max()
    for p in (0.5, 2, math.inf):
        for eps in (0.1, 1.0):
            found = isodepth.distance(X, Y, depth=depth, p=p, eps=eps, directions=U, refine=0)
            assert found == pytest.approx(expected, rel=1e-12)
    # The supremum is attained at the direction of x - y, which ascent from a random start finds.
    refined = isodepth.distance(X, Y, depth=depth, random_state=0)
    assert refined == pytest.approx(np.linalg.norm(X - Y), rel=1e-6)


@quiet
@pytest.mark.parametrize(
    ("depth", "value"), [("halfspace", 1.0), ("projection", 1.0), ("irw", 0.5), ("ai_irw", 0.5)]
)
@pytest.mark.parametrize("n", [1, 6])
def test_depth_when_all_points_are_equal(depth: str, value: float, n: int) -> None:
    X = np.tile([[1.5, -2.0, 0.1]], (n, 1))
    regions = isodepth.Metric(depth=depth, n_directions=20, random_state=0).regions(X)
    np.testing.assert_array_equal(regions.depths, np.full(n, value))
    assert set(np.asarray(regions.indices(0.0)).tolist()) == set(range(n))
    assert regions.min_depth(0.0) == value
    if depth != "ai_irw":  # whitening of equal points is not defined outside of the sample
        fitted = ESTIMATORS[depth](n_directions=20, random_state=0).fit(X)
        assert fitted.score_samples(X[:1] + 1) == pytest.approx([0.0], abs=1e-15)


@pytest.mark.parametrize("depth", AFFINE_INVARIANT)
def test_the_degenerate_warning_advises(depth: str) -> None:
    X, Y = samples(5, 5, 8)
    with pytest.warns(isodepth.errors.DegenerateDepthWarning) as caught:
        isodepth.distance(X, Y, depth=depth, n_directions=10)
    for word in ("irw", "5", "8"):
        assert word in str(caught[0].message)
    assert len(caught) == 1, "one warning per call, not per sample"
    with pytest.warns(isodepth.errors.DegenerateDepthWarning):
        ESTIMATORS[depth](n_directions=10).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        isodepth.distance(X, Y, depth="irw", n_directions=10)
        isodepth.distance(X[:2], Y[:2], depth=depth, n_directions=10)


def test_a_shrinkage_covariance_orders_the_corners_of_a_simplex() -> None:
    """Check that the depths of vertices differ: shrinkage is not affine equivariant."""
    X, _ = samples(6, 5, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = isodepth.AIIRWDepth(
            covariance="ledoit-wolf", n_directions=200, random_state=0
        ).fit(X)
    assert len(set(fitted.depth_.tolist())) > 1


# ---------------------------------------------------------------------------------------------
# columns without spread, one column
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e9])
def test_a_constant_column_shared_by_both(depth: str, value: float) -> None:
    """Check that the value of a column that is constant in both samples has no influence."""
    X, Y = samples(d=2)
    wide = [np.column_stack([z, np.full(len(z), value)]) for z in (X, Y)]
    with np.errstate(all="raise", under="ignore"):
        found = isodepth.compare(*wide, scale=None, depth=depth, n_directions=60, random_state=0)
    assert np.isfinite(found.distance)
    assert found.distance > 0
    again = isodepth.distance(
        *[w - [0, 0, value] for w in wide], depth=depth, n_directions=60, random_state=0
    )
    assert found.distance == pytest.approx(again, rel=1e-9, abs=1e-9 * value)
    assert float(isodepth.distance(wide[0], wide[0], depth=depth)) == 0.0


@pytest.mark.parametrize("depth", ["halfspace", "irw", "projection"])
def test_a_constant_column_seen_along_the_axes(depth: str) -> None:
    """A direction along a constant column does not change distances.

    It does not change depths either, except irw, which is a mean over directions.
    """
    X, Y = samples(d=2)
    wide = [np.column_stack([z, np.full(len(z), 0.1)]) for z in (X, Y)]
    flat = isodepth.Metric(depth=depth, directions=np.eye(2), refine=0)
    solid = isodepth.Metric(depth=depth, directions=np.eye(3), refine=0)
    assert solid.distance(*wide) == pytest.approx(flat.distance(X, Y), rel=1e-12)
    if depth != "irw":
        np.testing.assert_allclose(
            solid.regions(wide[0]).depths, flat.regions(X).depths, rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("shift", [0.5, -3.0])
@pytest.mark.parametrize("depth", DEPTHS)
def test_a_difference_in_a_constant_column_only(depth: str, shift: float) -> None:
    X, _ = samples(d=3)
    X[:, 1] = 2.0
    moved = X + [0.0, shift, 0.0]
    result = isodepth.compare(X, moved, scale=None, depth=depth, directions=np.eye(3), refine=0)
    assert result.distance == pytest.approx(abs(shift), rel=1e-12)
    np.testing.assert_allclose(np.abs(result.largest_gap.direction), [0.0, 1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("depth", DEPTHS)
def test_one_dimension_needs_no_random_direction(depth: str) -> None:
    X, Y = samples(d=1)
    values = {
        isodepth.distance(X, Y, depth=depth, n_directions=k, random_state=s)
        for k in (1, 7, 1000)
        for s in (0, 1)
    }
    assert len(values) == 1
    if depth != "ai_irw":
        x, y = (naive.depth_regions(depth, z, [[1.0]]) for z in (X, Y))
        assert values.pop() == pytest.approx(naive.distance(x, y, [[1.0]]), rel=1e-10)


# ---------------------------------------------------------------------------------------------
# containers and dtypes: the same values give the same result
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_memory_layout(depth: str, layout: str) -> None:
    X, Y = samples()
    metric = isodepth.Metric(depth=depth, n_directions=40, random_state=0)
    assert metric.distance(LAYOUTS[layout](X), LAYOUTS[layout](Y)) == metric.distance(X, Y)


CONTAINERS: dict[str, Callable[[np.ndarray], Any]] = {
    **{
        str(dtype): lambda z, dtype=dtype: z.astype(dtype)
        for dtype in ("int8", "int64", "uint8", "uint64", "float16", "longdouble", ">f8")
    },
    "lists": np.ndarray.tolist,
    "tuples": lambda z: tuple(map(tuple, z)),
    "pandas": lambda z: pytest.importorskip("pandas").DataFrame(z),
    "polars": lambda z: pytest.importorskip("polars").DataFrame(z),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers_and_dtypes(container: str) -> None:
    X, Y = np.random.default_rng(2).integers(0, 9, (2, 20, 2))
    metric = isodepth.Metric(n_directions=30, random_state=0)
    convert = CONTAINERS[container]
    expected = metric.distance(X.astype(float), Y.astype(float))
    assert metric.distance(convert(X), convert(Y)) == expected
    assert metric.distance(convert(X), Y.astype(np.float32).astype(float)) == expected


@pytest.mark.parametrize("depth", DEPTHS)
def test_float32_stays_close(depth: str) -> None:
    X, Y = samples(200, 150, 4)
    metric = isodepth.Metric(depth=depth, n_directions=60, random_state=0)
    double = metric.distance(X, Y)
    single = metric.distance(X.astype(np.float32), Y.astype(np.float32))
    assert isinstance(single, float)
    # Rounding may exchange two rows of adjacent depths, which changes regions by 1/200 of the mass.
    assert single == pytest.approx(double, rel=1e-2)
    assert metric.regions(X.astype(np.float32)).points.dtype == np.float32


def test_the_arguments_are_not_changed(tmp_path: Path) -> None:
    X, Y = samples()
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    wx = np.arange(1.0, len(X) + 1)
    copies = X.copy(), Y.copy(), wx.copy()
    for depth in DEPTHS:
        metric = isodepth.Metric(depth=depth, n_directions=20, random_state=0)
        expected = metric.compare(X, Y, weights=(wx, None)).distance
        assert metric.distance(mapped, Y, weights=(wx, None)) == expected
    for before, after in zip(copies, (X, Y, wx), strict=True):
        np.testing.assert_array_equal(before, after)


NAMES = ["height", "weight", "age"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_their_column_names(library: str) -> None:
    frames = pytest.importorskip(library)
    X, Y = samples()
    Y = X + [0.0, 5.0, 0.0]
    named = [frames.DataFrame({name: z[:, i] for i, name in enumerate(NAMES)}) for z in (X, Y)]
    metric = isodepth.Metric(directions=np.eye(3), refine=0)
    result = metric.compare(*named)
    assert result.distance == metric.distance(X, Y)
    assert list(result.columns) == NAMES
    assert list(result.regions[0].columns) == NAMES
    largest = result.largest_gap.contributions[0]
    assert largest.column == "weight"
    assert largest.fraction == pytest.approx(1.0)
    assert "weight" in repr(result)


# ---------------------------------------------------------------------------------------------
# extreme settings
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", ["halfspace", "irw", "projection"])
@pytest.mark.parametrize("p", [0.5, 2, math.inf])
@pytest.mark.parametrize("levels", ["exact", 5])
def test_eps_one_is_the_gap_of_the_deepest_points(depth: str, p: float, levels: str | int) -> None:
    X, Y = samples()
    U = gaussian_directions(np.random.default_rng(3), 3, 20)
    x, y = (naive.depth_regions(depth, z, U) for z in (X, Y))
    expected = naive.gap(x, y, U, 0)
    found = isodepth.distance(
        X, Y, depth=depth, p=p, eps=1.0, levels=levels, directions=U, refine=0
    )
    assert found == pytest.approx(expected, rel=1e-10)


def test_p_inf_is_the_limit_and_the_largest_gap() -> None:
    X, Y = samples()
    options = {"n_directions": 40, "random_state": 0, "refine": 0}
    values = [isodepth.distance(X, Y, p=p, **options) for p in (0.3, 1, 2, 8, 64, 1024)]
    result = isodepth.compare(X, Y, scale=None, p=math.inf, **options)
    assert result.distance == result.gaps.max() == result.largest_gap.gap
    # L_p means grow with p, to the maximum.
    assert values == sorted(values)
    assert values[-1] <= result.distance
    shortest = np.diff(result.level_intervals, axis=1).min() / 0.9
    assert values[-1] >= result.distance * shortest ** (1 / 1024)


def test_eps_close_to_its_ends() -> None:
    X, Y = samples()
    options = {"n_directions": 40, "random_state": 0, "refine": 0, "p": 1}
    nearly_one = isodepth.distance(X, Y, eps=1 - 1e-9, **options)
    assert nearly_one == pytest.approx(isodepth.distance(X, Y, eps=1.0, **options), rel=1e-12)
    nothing_trimmed = isodepth.distance(X, Y, eps=1e-12, **options)
    assert nothing_trimmed == pytest.approx(isodepth.distance(X, Y, eps=1e-9, **options), rel=1e-6)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("weights", ["list", "int", "bool", "float32", "huge", "tiny"])
def test_kinds_of_weights(depth: str, weights: str) -> None:
    X, Y = samples()
    counts = np.random.default_rng(4).integers(0, 2 if weights == "bool" else 5, len(X))
    given = {
        "list": counts.tolist(),
        "int": counts,
        "bool": counts.astype(bool),
        "float32": counts.astype(np.float32),
        "huge": counts * 2.0**900,
        "tiny": counts * 2.0**-900,
    }[weights]
    metric = isodepth.Metric(depth=depth, n_directions=40, random_state=0)
    expected = metric.distance(X, Y, weights=(counts.astype(float), None))
    assert metric.distance(X, Y, weights=(given, None)) == pytest.approx(expected, rel=1e-12)
