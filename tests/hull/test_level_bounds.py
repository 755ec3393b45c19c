"""Bounds of all levels: hints, limits, and the thinning of candidates change no distance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from isodepth.hull import hausdorff, hausdorff_levels, raise_gaps
from isodepth.hull.levels import _Candidates, level_bounds
from isodepth.hull.nested import nested_pair

RELATIVE = 1e-10


def nested(case: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Two samples whose rows enter from the inside out, with levels that stop here and there."""
    rng = np.random.default_rng([case, 9])
    d = (1, 2, 3, 5)[case % 4]
    samples = []
    for n in rng.integers(150, 300, size=2):
        rows = rng.normal(size=(n, d)) + rng.normal(size=d) * (case % 3)
        samples.append(rows[np.argsort(np.linalg.norm(rows - rows.mean(axis=0), axis=1))])
    stops = [np.sort(rng.integers(1, len(s) + 1, size=25)) for s in samples]
    return (*samples, *stops)


def attained(case: int, level: int, u: np.ndarray) -> float:
    """Return h_first(u) - h_second(u) at a level."""
    first, second, i, j = nested(case)
    return float((first[: i[level]] @ u).max() - (second[: j[level]] @ u).max())


@pytest.mark.parametrize("case", range(8))
@pytest.mark.parametrize("hint", [False, True])
def test_bounds_hold_and_name_the_hull_that_reaches_further(case: int, hint: bool) -> None:
    first, second, i, j = nested(case)
    exact, directions = hausdorff_levels(first, second, i, j)
    known = directions if hint else None
    pair = nested_pair(first, second, i, j)
    for slack in (0.0, 0.05):
        bounds = level_bounds(pair, slack, known)
        assert (bounds.lower <= exact * (1 + RELATIVE)).all()
        assert (bounds.upper >= exact * (1 - RELATIVE)).all()
        assert (bounds.upper <= bounds.lower * (1 + 2 * slack) + 1e-9).all()
        for level, u in enumerate(bounds.directions):
            ahead = attained(case, level, u)
            assert abs(ahead) >= bounds.lower[level] * (1 - RELATIVE)
            assert (ahead > 0) == bounds.from_first[level] or bounds.lower[level] == 0


@pytest.mark.parametrize("case", range(4))
def test_every_level_is_the_distance_of_its_hulls(case: int) -> None:
    first, second, i, j = nested(case)
    found, directions = hausdorff_levels(first, second, i, j)
    expected = [hausdorff(first[:a], second[:b]).distance for a, b in zip(i, j, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=RELATIVE)
    for level, u in enumerate(directions):
        assert abs(attained(case, level, u)) == pytest.approx(found[level], rel=RELATIVE)


@pytest.mark.parametrize("case", range(8))
def test_a_limit_leaves_the_outermost_levels_as_they_were(case: int) -> None:
    first, second, i, j = nested(case)
    exact, _ = hausdorff_levels(first, second, i, j)
    gaps = 0.5 * exact
    counts = []
    for limit in (0.0, 2000.0, np.inf):
        before = gaps.copy()
        raised, values, directions = raise_gaps(first, second, i, j, gaps, slack=1e-10, limit=limit)
        assert (gaps == before).all()
        assert (values >= gaps[raised]).all()
        assert (values <= exact[raised] * (1 + RELATIVE)).all()
        for level, value, u in zip(raised, values, directions, strict=True):
            # A search cut short may know one corner where another reaches further.
            assert abs(attained(case, int(level), u)) >= value * (1 - RELATIVE)
        counts.append(len(raised))
    assert counts[0] <= counts[1] <= counts[2] == np.count_nonzero(exact > 0)
    # Without any allowance the sweep ends with its first chunk of levels, not before.
    assert counts[0] >= 1
    full, values, _ = raise_gaps(first, second, i, j, gaps, slack=1e-10, limit=np.inf)
    np.testing.assert_allclose(values, exact[full], rtol=1e-9)


@pytest.mark.parametrize("d", [2, 3])
def test_candidates_hold_the_corners_of_every_level(d: int) -> None:
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(400, d))
    rows = rows[np.argsort(np.linalg.norm(rows, axis=1))]
    stops = np.arange(d + 2, 401, 3)
    candidates = _Candidates(rows, stops)
    level, chunks = 0, 0
    while level < len(stops):
        last = candidates.start_chunk(level)
        assert last > level
        kept = set(candidates.targets(last).ids.tolist())
        for stop in stops[level:last]:
            assert set(ConvexHull(rows[:stop]).vertices.tolist()) <= kept
        level, chunks = last, chunks + 1
    assert 1 < chunks < len(stops) / 5
