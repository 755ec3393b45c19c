"""The direction that a comparison names for a level attains the gap, with the right sign."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

import isodepth
from isodepth.base.compiled import Resources
from isodepth.geometry import regions as gaps_module
from isodepth.geometry.regions import exact_plan, level_gaps, signed_directions
from isodepth.metric.comparison import Comparison

# Rounding error of a dot product of a few dozen numbers.
RELATIVE = 1e-12


def assert_attained(result: Comparison, slack: float = RELATIVE) -> None:
    """Check that |h_X(u) - h_Y(u)| is the gap at every level, with h from maxima over rows.

    It may exceed the gap by the fraction `slack`.
    """
    np.testing.assert_allclose(np.linalg.norm(result.gap_directions, axis=1), 1.0, rtol=RELATIVE)
    x, y = result.regions
    for u, level, gap in zip(result.gap_directions, result.levels, result.gaps, strict=True):
        h_x, h_y = (
            (r._nested.sample.points[r._nested.sample.inverse[r.indices(level)]] @ u).max()
            for r in (x, y)
        )
        attained = abs(h_x - h_y)
        assert attained >= gap * (1 - RELATIVE) - RELATIVE
        assert attained <= gap * (1 + slack) + RELATIVE


@pytest.mark.parametrize("refined", [0, 20])
@pytest.mark.parametrize("shift", [3.0, -3.0])
@pytest.mark.parametrize("d", [1, 2])
def test_a_single_direction(refined: int, shift: float, d: int) -> None:
    """The named direction attains the gap if there is a single direction, with the right sign.

    The samples differ at one end only.
    """
    rng = np.random.default_rng(0)
    X, Y = rng.random((2, 30, d))
    Y[:, 0] = np.where(Y[:, 0] * shift > 0.5 * shift, Y[:, 0] + shift, Y[:, 0])
    result = isodepth.compare(
        X, Y, scale=None, directions=np.eye(d)[:1], refine=refined, depth="irw"
    )
    assert_attained(result)
    if not refined:
        # The sign is that of the end at which the samples differ at the outermost level.
        assert np.sign(result.gap_directions[-1, 0]) == np.sign(shift)


@pytest.mark.parametrize("case", range(6))
def test_directions_found_by_climbing(case: int) -> None:
    rng = np.random.default_rng([case, 7])
    d = 2 + case
    X, Y = rng.normal(size=(900, d)), rng.normal(size=(1000, d)) * rng.uniform(0.5, 2, d)
    Y += rng.normal(size=d) * (case % 3)
    result = isodepth.compare(
        X, Y, scale=None, n_directions=20, random_state=case, depth="projection"
    )
    # A vertex that attains the gap up to the slack of the search may not be the farthest along
    # the direction.
    assert_attained(result, slack=2 * gaps_module._SLACK)


def climbed(case: int) -> tuple[np.ndarray, int]:
    """Run an ascent on a random case, and check the gaps after it.

    Return the codes of the maximizing directions, and the number of directions before the ascent.
    """
    rng = np.random.default_rng([case, 8])
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(50, 3)) + rng.normal(size=3)
    metric = isodepth.Metric(depth="irw", n_directions=4, random_state=case)
    x, y = metric.regions(X)._nested, metric.regions(Y)._nested
    plan = exact_plan(x, y, 0.1)
    directions = rng.normal(size=(4, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    found = level_gaps(x.points, y.points, plan.prefix_sizes, directions, Resources(1))
    # With these limits no vertices are evaluated, only the ascent is used.
    with patch.multiple(gaps_module, _LEAST_WORK=0.0, _WORK_PER_STEP=0.0):
        gaps, vectors, where = gaps_module.refine_gaps(
            x.points, y.points, plan, directions, 20, Resources(1)
        )
    units = signed_directions(vectors, where)
    for u, i, j, gap in zip(units, *plan.prefix_sizes, gaps, strict=True):
        attained = (x.points[:i] @ u).max() - (y.points[:j] @ u).max()
        assert abs(attained) == pytest.approx(gap, rel=RELATIVE)
    assert (gaps >= found[0]).all()
    return where, len(directions)


def test_new_directions_are_numbered_after_the_old_ones() -> None:
    """Check that some cases have the code of the first new direction, or of its opposite."""
    seen: set[int] = set()
    for case in range(12):
        where, old = climbed(case)
        seen.update((np.where(where >= 0, where - old, where + old)).tolist())
    assert {0, -1} <= seen
