"""The functions for devices, run on the CPU, agree with the compiled core."""

from __future__ import annotations

import math

import numpy as np
import pytest
from agreement import rounding_bound, share_of_swapped_levels
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import POINTS, cases, make_case
from twins.naive import masses, weighted_median

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.geometry.depth.integrated import CorrectedIRW

torch = pytest.importorskip("torch")
from isodepth.device.samples import check_tensors  # noqa: E402
from isodepth.metric.tensors import compare_on_device, distance_on_device, fit_on_device  # noqa: E402

DEPTHS = ["projection", "halfspace", "irw", "ai_irw"]


def on_device(metric, x, y, weights=None, *, gradient=False, dtype=torch.float64):
    X, Y = (torch.from_numpy(np.array(rows)).to(dtype) for rows in (x, y))
    pair = check_tensors(X, Y, weights, metric.dtype)
    return distance_on_device(metric, pair, gradient)


@pytest.mark.filterwarnings("ignore::isodepth.errors.ScaleWarning")
@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    case=cases(),
    depth=st.sampled_from(DEPTHS),
    levels=st.sampled_from(["exact", 1, 7]),
    p=st.sampled_from([0.5, 1.0, 2.0, float("inf"), 1e-5]),
    eps=st.sampled_from([0.1, 0.3, 0.5, 1.0]),
    q=st.sampled_from([float("inf"), float("inf"), 1, 2, 3.5]),
    scaled=st.booleans(),
)
def test_the_device_agrees_with_the_host(case, depth, levels, p, eps, q, scaled):
    if depth == "ai_irw" and case.name.startswith("lattice"):
        return
    # Powers of two, so that lattices stay lattices.
    scale = 2.0 ** np.arange(case.x.shape[1]) if scaled else None
    options = {"p": p, "q": q, "eps": eps, "scale": scale, "directions": case.directions}
    metric = isodepth.Metric(depth=depth, levels=levels, refine=0, **options)
    expected = metric.compare(case.x, case.y, weights=case.weights)
    found = on_device(metric, case.x, case.y, case.weights, gradient=True)
    assert found is not None
    assert found[0].item() == pytest.approx(expected.distance, rel=1e-12, abs=1e-14)
    if case.name.startswith("lattice") or p < 0.1:
        # If supports tie, the gradient may be that of either row.
        return
    scale = max(1.0, float(np.abs(expected.gradient().x).max()))
    for slope, exact in zip(found[1], expected.gradient(), strict=True):
        np.testing.assert_allclose(slope.numpy(), exact, atol=1e-9 * scale)


@pytest.mark.filterwarnings("ignore::isodepth.errors.ScaleWarning")
@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    case=cases(),
    depth=st.sampled_from(DEPTHS),
    levels=st.sampled_from(["exact", 7]),
    p=st.sampled_from([1.0, 2.0, float("inf")]),
    q=st.sampled_from([float("inf"), float("inf"), 2]),
)
def test_single_precision_is_within_the_documented_bound(case, depth, levels, p, q):
    """The float32 distances of the host and the device differ by less than the documented bound.

    The bound is for any order of sums, given the levels at which regions have other rows.
    """
    metric = isodepth.Metric(
        depth=depth, levels=levels, p=p, q=q, eps=0.2, refine=0, directions=case.directions
    )
    samples = [np.array(rows, dtype=np.float32) for rows in (case.x, case.y)]
    expected = metric.compare(*samples, weights=case.weights)
    X, Y = (torch.from_numpy(rows) for rows in samples)
    pair = check_tensors(X, Y, case.weights, None)
    found = distance_on_device(metric, pair)
    if found is None:
        # Rows may be equal in single precision, so that too few distinct rows are left.
        assert min(len(r._nested.points) for r in expected.regions) <= X.shape[1] + 1
        return
    fit = fit_on_device(metric, pair)
    regions = fit.regions
    share = share_of_swapped_levels(metric, expected.regions, regions)
    allowed = rounding_bound(metric, samples, share)
    assert abs(found[0].item() - expected.distance) <= allowed
    if case.name.startswith("gaussian") and depth == "projection":
        for rows, weights, (sample, depths) in zip(
            samples, case.weights or (None, None), fit.sides, strict=True
        ):
            exact = metric.regions(rows.astype(np.float64), weights=weights).depths
            kept = slice(None) if weights is None else np.asarray(weights) > 0
            found_depth = depths[sample.index_of_rows()].numpy()
            error = np.abs(found_depth - exact)[kept].max()
            assert error <= depth_rounding_bound(rows, weights, case.directions)


def depth_rounding_bound(rows, weights, directions):
    """Bound the rounding error of a projection depth 1/(1 + |x - median|/MAD) in single precision.

    The error of a projection is at most e = (d + 2) u R, with the unit roundoff u and the maximum
    norm R of centered rows. Deviations and the MAD have errors of at most 2 e, and the depth of at
    most 4 e / MAD. A further factor 2 is for centering and scaling the rows.
    """
    mass = masses(len(rows), weights)
    mads = []
    for u in directions:
        along = rows.astype(np.float64) @ u
        deviations = np.abs(along - weighted_median(along, mass))
        mads.append(weighted_median(deviations, mass))
    reach = 2 * float(np.linalg.norm(rows.astype(np.float64), axis=1).max())
    return 8 * (rows.shape[1] + 2) * 2.0**-24 * reach / min(mads) if min(mads) else math.inf


@pytest.mark.parametrize("kind", sorted(POINTS))
@pytest.mark.parametrize("depth", DEPTHS)
def test_blocks_of_directions_change_nothing(kind, depth):
    case = make_case(kind, 3)
    metric = isodepth.Metric(depth=depth, refine=0, directions=case.directions)
    small = isodepth.Metric(depth=depth, refine=0, directions=case.directions, memory_mb=1e-6)
    first = on_device(metric, case.x, case.y, case.weights, gradient=True)
    second = on_device(small, case.x, case.y, case.weights, gradient=True)
    assert first[0] == pytest.approx(second[0].item(), rel=1e-14)


@pytest.mark.parametrize("options", [{}, {"gap": "exact"}, {"refine": 3}, {"refine": 0}])
def test_comparisons_take_depths_from_the_device(options):
    case = make_case("gaussian", 11, d=3)
    metric = isodepth.Metric(directions=case.directions, **options)
    X, Y = (torch.from_numpy(np.array(rows)) for rows in (case.x, case.y))
    pair = check_tensors(X, Y, case.weights, None)
    found = compare_on_device(metric, pair)
    expected = metric._compare_arrays(case.x, case.y, case.weights)
    assert found.distance == pytest.approx(expected.distance, rel=1e-12)
    assert found.signature == expected.signature
    for one, other in zip(found.regions, expected.regions, strict=True):
        np.testing.assert_allclose(one.depths, other.depths, rtol=1e-12)


def test_simplices_are_left_to_the_host():
    x = np.random.default_rng(0).normal(size=(4, 3))
    again = np.concatenate([x, x, x])
    metric = isodepth.Metric(refine=0, random_state=0)
    assert on_device(metric, again, again + 1) is None


def test_invalid_numbers_are_refused():
    metric = isodepth.Metric(refine=0, random_state=0)
    x = np.random.default_rng(0).normal(size=(20, 2))
    bad = x.copy()
    bad[3, 1] = np.nan
    with pytest.raises(InvalidInputError, match=r"Y contains 1 NaN.*row 3, column 1"):
        on_device(metric, x, bad)
    with pytest.raises(InvalidInputError, match=r"X contains values up to 1e\+308"):
        on_device(metric, x / np.abs(x).max() * 1e308, x)


@pytest.mark.parametrize(
    "depth",
    [
        isodepth.HalfspaceDepth(algorithm="exact"),
        isodepth.AIIRWDepth(covariance="mcd"),
        CorrectedIRW(),
        lambda points: points[:, 0],
    ],
)
def test_other_depths_are_refused(depth):
    x = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InvalidOptionError, match=r"not available on the device cpu.*\.cpu\(\)"):
        on_device(isodepth.Metric(depth=depth), x, x + 1)


@pytest.mark.parametrize("options", [{"scale": "pooled"}, {"nan_policy": "omit"}])
def test_options_of_the_host_are_refused(options):
    x = np.random.default_rng(0).normal(size=(20, 2))
    metric = isodepth.Metric(random_state=0, **options)
    with pytest.raises(InvalidOptionError, match="is not available on the device cpu"):
        on_device(metric, x, x + 1)
