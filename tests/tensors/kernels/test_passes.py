"""Passes on tensors have the results of the compiled passes: equal integers and codes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import cases

from isodepth import _core
from isodepth.base.compiled import Resources
from isodepth.geometry.regions import Sample, level_gaps, support_rows
from isodepth.geometry.transforms import standardize

torch = pytest.importorskip("torch")
from isodepth.device import gaps, ranks, spread  # noqa: E402
from isodepth.device.products import blocks, budget_on, full_precision  # noqa: E402
from isodepth.device.samples import DeviceSample  # noqa: E402

BUDGET = 1 << 16
ONE = Resources(1)


def tensors_of(sample, directions):
    masses = None if sample.masses is None else torch.from_numpy(sample.masses)
    return torch.from_numpy(sample.points), masses, sample.total, torch.from_numpy(directions)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(case=cases())
def test_ranks_and_spreads(case):
    sample = Sample.of(case.x, case.wx)
    # The compiled passes move and scale the points themselves.
    moved = standardize(sample, sample.points)
    mine = (torch.from_numpy(moved), *tensors_of(sample, case.directions)[1:], BUDGET)
    fewest = _core.smallest_halfspace(sample.points, case.directions, sample.masses)
    np.testing.assert_array_equal(ranks.smallest_halfspace(*mine).numpy(), fewest)
    weights = _core.mean_rank_weight(sample.points, case.directions, sample.masses)
    np.testing.assert_allclose(ranks.mean_rank_weight(*mine).numpy(), weights, rtol=1e-14)
    out = _core.largest_outlyingness(sample.points, case.directions, sample.masses)
    # A deviation may cancel all but a few digits of a product.
    np.testing.assert_allclose(spread.largest_outlyingness(*mine).numpy(), out, rtol=1e-9)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(case=cases())
def test_gaps_and_support_rows(case):
    rng = np.random.default_rng(len(case.x))
    levels = min(len(case.x), len(case.y))
    prefix_sizes = [np.sort(rng.integers(1, len(rows) + 1, levels)) for rows in (case.x, case.y)]
    x, y = np.ascontiguousarray(case.x), np.ascontiguousarray(case.y)
    expected_gaps, where = level_gaps(x, y, prefix_sizes, case.directions, ONE)
    tensors = [torch.from_numpy(np.array(a)) for a in (x, y, *prefix_sizes, case.directions)]
    found, codes = gaps.search_gaps(*tensors, BUDGET, locate=True)
    np.testing.assert_allclose(found.numpy(), expected_gaps, rtol=1e-12, atol=1e-13)
    assert gaps.search_gaps(*tensors, BUDGET)[1] is None
    exact = case.name.startswith("lattice")
    if exact:
        np.testing.assert_array_equal(codes.numpy(), where)
    sample = DeviceSample.of(tensors[0], None, "X", BUDGET)
    found = sample.support_rows(tensors[0], prefix_sizes[0], case.directions)
    known = support_rows(x, prefix_sizes[0], case.directions)
    np.testing.assert_allclose(found.tops.numpy(), known.tops, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.lows.numpy(), known.lows, rtol=1e-12, atol=1e-12)
    if exact:
        np.testing.assert_array_equal(found.top_rows.numpy(), known.top_rows)
        np.testing.assert_array_equal(found.low_rows.numpy(), known.low_rows)


def test_blocks_cover_all_directions_within_the_budget():
    for n_directions, each, budget in ((10, 3, 10), (1, 100, 5), (1000, 8, 2**20), (7, 2, 9)):
        cut = blocks(n_directions, each, budget)
        assert [k for which in cut for k in range(which.start, which.stop)] == [
            *range(n_directions)
        ]
        for which in cut:
            assert which.stop - which.start == 1 or (which.stop - which.start) * each <= budget


def test_a_budget_that_was_asked_for_is_taken():
    assert budget_on(torch.device("cpu"), 3.0) == 3 * 2**20
    assert budget_on(torch.device("cpu"), None) == 256 * 2**20


def test_products_are_in_full_precision_and_settings_come_back():
    backend = torch.backends.cuda.matmul
    name = "fp32_precision" if hasattr(backend, "fp32_precision") else "allow_tf32"
    wanted, other = ("ieee", "tf32") if name == "fp32_precision" else (False, True)
    before = getattr(backend, name)
    try:
        setattr(backend, name, other)
        with full_precision(torch.device("cpu")):
            with full_precision(torch.device("cpu")):
                pass
            assert getattr(backend, name) == wanted
            assert not torch.is_grad_enabled()
            assert not torch.is_autocast_enabled("cpu")
        assert getattr(backend, name) == other
    finally:
        setattr(backend, name, before)


def test_autocast_changes_nothing():
    from isodepth import Metric
    from isodepth.device.samples import check_tensors
    from isodepth.metric.tensors import distance_on_device

    generator = torch.Generator().manual_seed(0)
    pair = check_tensors(
        torch.randn(50, 3, generator=generator), torch.randn(60, 3, generator=generator), None, None
    )
    metric = Metric(refine=0, random_state=0, n_directions=20)
    plain = distance_on_device(metric, pair)[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert distance_on_device(metric, pair)[0] == plain
