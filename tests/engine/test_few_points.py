"""A few points take loops of their own: they must say what the loops for many points say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth import Metric
from isodepth.engine import blocks, rank_passes, spread_passes
from isodepth.engine.blocks import FEW
from isodepth.engine.compiled.tiles import project_next
from isodepth.engine.threads import Resources

RESOURCES = Resources(1)


def with_loops_for_many(compute):
    """What `compute` gives when no number of points counts as few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "FEW", 0)
        patch.setattr(spread_passes, "FEW", 0)
        return compute()


@st.composite
def few_points(draw):
    """Up to FEW rows: spread, tied, repeated along directions, or all on a line."""
    n, d = draw(st.integers(1, FEW)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["normal", "integers", "two values", "constant", "line"]))
    rows = {
        "normal": lambda: rng.standard_normal((n, d)),
        "integers": lambda: rng.integers(-2, 3, (n, d)).astype(float),
        "two values": lambda: rng.integers(0, 2, (n, d)) * 3.0,
        "constant": lambda: np.full((n, d), 2.5),
        "line": lambda: rng.integers(-3, 4, (n, 1)) * np.ones((1, d)),
    }[kind]()
    # With the axes among the directions, ties of coordinates are ties of projections.
    directions = np.concatenate([np.eye(d), rng.standard_normal((draw(st.integers(1, 9)), d))])
    return rows.astype(draw(st.sampled_from(["float32", "float64"]))), directions


@settings(max_examples=150, deadline=None)
@given(few_points())
def test_the_same_bits_as_for_many(case) -> None:
    rows, directions = case
    n = len(rows)
    for compute in (
        lambda: rank_passes.smallest_halfspace(rows, None, n, directions, RESOURCES)[0],
        lambda: rank_passes.mean_rank_weight(rows, None, n, directions, RESOURCES),
        lambda: spread_passes.largest_outlyingness(rows, None, n, None, directions, RESOURCES)[0],
    ):
        np.testing.assert_array_equal(compute(), with_loops_for_many(compute))


@settings(max_examples=60, deadline=None)
@given(few_points())
def test_ranks_by_counting_follow_the_definition(case) -> None:
    rows, directions = case
    n = len(rows)
    slab = blocks.whole_slab(rows, directions)
    assert project_next(slab, 0, len(directions)) == len(directions)
    projections = slab.room
    upto = (projections[:, :, None] >= projections[:, None, :]).sum(axis=2)
    from_ = (projections[:, :, None] <= projections[:, None, :]).sum(axis=2)
    masses, _ = rank_passes.smallest_halfspace(rows, None, n, directions, RESOURCES)
    np.testing.assert_array_equal(masses, np.minimum(upto, from_).min(axis=0))
    below = (upto + n - from_) / (2 * n)
    weights = rank_passes.mean_rank_weight(rows, None, n, directions, RESOURCES)
    np.testing.assert_allclose(weights, np.minimum(below, 1 - below).mean(axis=0), atol=1e-14)


@pytest.mark.filterwarnings("ignore::isodepth.errors.DegenerateDepthWarning")
@pytest.mark.parametrize("depth", ["projection", "halfspace", "irw", "ai_irw"])
@pytest.mark.parametrize("n", [1, 2, FEW - 1, FEW, FEW + 1])
def test_distances_do_not_notice(depth: str, n: int) -> None:
    rng = np.random.default_rng(n)
    X, Y = rng.standard_normal((n, 3)), rng.integers(0, 3, (FEW, 3)).astype(float)
    metric = Metric(depth=depth, n_directions=40, random_state=0)
    assert metric.distance(X, Y) == with_loops_for_many(lambda: metric.distance(X, Y))
