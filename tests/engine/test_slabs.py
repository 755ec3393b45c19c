"""Directions handed out in growing parts, and projected a few at a time by the loops themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth.engine import blocks
from isodepth.engine.blocks import growing_cuts
from isodepth.engine.compiled.tiles import (
    empty_slab,
    multipliers,
    project,
    project_next,
    slab_of,
    tiles_of,
)
from isodepth.engine.rank_passes import mean_rank_weight, smallest_halfspace
from isodepth.engine.spread_passes import largest_outlyingness
from isodepth.engine.threads import Resources


@settings(max_examples=200)
@given(st.integers(1, 3000), st.integers(1, 300), st.integers(1, 40), st.integers(1, 500))
def test_every_direction_is_in_one_part(count: int, size: int, workers: int, most: int) -> None:
    cuts = growing_cuts(count, size, workers, max(size, most))
    assert (cuts[0], cuts[-1]) == (0, count)
    sizes = np.diff(cuts).tolist()
    assert all(0 < one <= max(size, most) for one in sizes)
    if workers > 1:
        # Nobody can be left alone with more than its share of what there was.
        assert all(one <= max(size, count // (2 * workers)) for one in sizes)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 2), (15, 4), (16, 1), (17, 3), (200, 5)])
def test_a_slab_has_the_bits_of_a_projection(n: int, d: int, dtype: str) -> None:
    rng = np.random.default_rng(n)
    points = rng.standard_normal((n, d)).astype(dtype)
    tiles, rows = tiles_of(points), multipliers(rng.standard_normal((23, d)), points.dtype)
    whole = np.empty((23, n), dtype)
    project(tiles, rows, whole)
    slab = slab_of(tiles, rows, np.empty((5, n), dtype))
    found = []
    while len(found) < 23:
        count = project_next(slab, len(found), 23)
        assert count == min(5, 23 - len(found))
        found += slab.room[:count].copy().tolist()
    assert found == whole.tolist()
    assert project_next(empty_slab(slab), 0, 23) == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_and_rooms_do_not_matter(
    dtype: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One part with room for all directions; single directions; several workers."""
    rng = np.random.default_rng(2)
    points = np.unique(rng.integers(-9, 10, (700, 3)).astype(dtype), axis=0)
    points[:, 0] *= np.abs(points[:, 1]) > 4  # a direction without a MAD
    points = np.unique(points, axis=0)
    n = len(points)
    masses = rng.integers(5, 40, n) if weighted else None
    total = n if masses is None else int(masses.sum())
    directions = np.concatenate([np.eye(3), rng.standard_normal((90, 3))])
    queries = rng.standard_normal((40, 3)).astype(dtype)

    def found(threads: int) -> list:
        resources = Resources(threads)
        result = [mean_rank_weight(points, masses, total, directions, resources)]
        for locate in (False, True):
            result += smallest_halfspace(points, masses, total, directions, resources, locate)
            for asked in (None, queries):
                result += largest_outlyingness(
                    points, masses, total, asked, directions, resources, locate
                )
        return result

    monkeypatch.setattr(blocks, "_LITTLE", 0)
    monkeypatch.setattr("isodepth.engine.threads._WORTH_A_THREAD", 1)
    expected = found(1)
    for fewest, cache, threads in ((1, 1, 1), (4, 1, 3), (1, 1 << 14, 5)):
        monkeypatch.setattr(blocks, "_FEWEST_DIRECTIONS", fewest)
        monkeypatch.setattr(blocks, "_CACHE_BYTES", cache)
        monkeypatch.setattr(blocks, "_AT_MOST_AT_A_TIME", 7 * n)
        for ours, theirs in zip(found(threads), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
