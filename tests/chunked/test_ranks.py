"""Halfspace and irw depths in chunks: bounds that hold, and exact depths where they fit."""

from __future__ import annotations

import numpy as np
import pytest
from chunked.streaming import cut, small_scale
from chunked.test_same_bits import KINDS, points_of
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth import AIIRWDepth, InvalidOptionError, Metric, scan
from isodepth.chunked import ranks
from isodepth.chunked.entry import compare
from isodepth.chunked.ranks import CellPass, Cells, RankBounds
from isodepth.chunked.rows import NO_MASSES, Frame, Rows
from isodepth.chunked.table import stream_table
from isodepth.core.directions import unit_vectors
from isodepth.core.sample import Sample
from isodepth.depth import BY_NAME
from isodepth.depth.base import center_and_exponent
from isodepth.engine.threads import Resources


def metric(depth: str, **options: object) -> Metric:
    return Metric(depth=depth, n_directions=9, levels=6, random_state=1, **options)  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(2, 120),
    d=st.integers(1, 3),
    seed=st.integers(0, 10**6),
    dtype=st.sampled_from(["float32", "float64"]),
    bits=st.sampled_from([0, 3, 9]),
    depth=st.sampled_from(["halfspace", "irw"]),
    weighted=st.booleans(),
)
def test_depths_lie_between_their_bounds(
    kind: str, n: int, d: int, seed: int, dtype: str, bits: int, depth: str, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    points = points_of(kind, n, d, seed, dtype)
    sample = Sample.of(points, rng.integers(1, 4, n) if weighted else None)
    directions = unit_vectors(d, 9, rng=rng)
    exact = BY_NAME[depth]().of_sample(sample, directions, Resources(1))
    frame = Frame(*center_and_exponent(sample), directions.astype(dtype))
    cells = Cells.around(frame, sample.points[:5], 2**30)
    cells = Cells(frame, cells.middles, cells.scales, bits)
    work = CellPass(cells)
    state = work.start()
    masses = NO_MASSES if sample.masses is None else sample.masses
    work.step(state, Rows(sample.points, masses))
    assert (state.sum(axis=1) == sample.total).all()
    bounds = RankBounds.of(cells, state, sample.total, depth == "halfspace")
    low, high = bounds.unit * bounds.raw(sample.points).T
    # What rounding of doubles does to a quotient.
    assert (low <= exact * (1 + 1e-12)).all()
    assert (exact <= high * (1 + 1e-12)).all()


def test_cells_keep_the_order_of_numbers() -> None:
    from isodepth.chunked.counting_loops import cell_rows

    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        values = np.sort(np.concatenate([rng.standard_t(1, 3000), 1 + 1e-9 * np.arange(500)]))
        before = -1
        for value in values.astype(dtype):
            counts = np.zeros((1, 2 * (8 << 4)), dtype=np.int64)
            middle, scale = np.full((2, 1), 0.7, dtype=dtype)
            work = np.empty(1, dtype=np.float32)
            one = np.array([[value]])
            cell_rows(one, middle, scale, 4, NO_MASSES, counts, work, work.view(np.int32))
            place = int(counts.argmax())
            assert place >= before
            before = place


@pytest.mark.parametrize("depth", ["halfspace", "irw", "ai_irw"])
@pytest.mark.parametrize("q", [np.inf, 2.0])
def test_the_distance_lies_between_its_bounds(depth: str, q: float) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((900, 3)), 1.3 * rng.standard_t(3, (700, 3)) + 0.4
    x, y = x @ [[1, 5, 0], [0, 1, 0], [0, 3, 1]], y * [1, 2, 3]
    exact = metric(depth, q=q, refine=0).distance(x, y)
    widths = []
    for bits in (5, 9):
        with small_scale(workspace=400), pytest.MonkeyPatch.context() as patch:
            patch.setattr(ranks, "_BITS", (bits,))
            patch.setattr("isodepth.chunked.limits.COPIES_IN_MEMORY", 10**9)
            sources = [scan(cut(points, 211)) for points in (x, y)]
            result = compare(metric(depth, q=q), *sources, None)
        low, high = result.distance_bounds
        assert low <= exact <= high
        assert low <= result.distance <= high
        widths.append(high - low)
        assert result.to_dict()["distance_bounds"] == [low, high]
        said = f"exact depths would give between {low:.6g} and {high:.6g}" in str(result)
        assert said == (low < high)
        # Cells of a few rows cannot hold a smaller share.
        bound = result.regions[0].depth_bound  # type: ignore[attr-defined]
        assert 0 < bound <= 2.0**-bits + 3 / 900
    assert widths[1] < widths[0]


@pytest.mark.parametrize("depth", ["halfspace", "irw", "ai_irw", "steady_irw", "dual"])
def test_exact_where_it_fits(depth: str) -> None:
    points = np.random.default_rng(6).standard_normal((150, 2))
    expected = metric(depth).table(points).values
    for size in (1, 40):
        with small_scale():
            found = stream_table(metric(depth), scan(cut(points, size)))
        assert np.array_equal(found.table.values, expected)
        assert found.made.depth_bound == 0


def test_depths_that_need_all_rows_are_refused() -> None:
    points = np.random.default_rng(6).standard_normal((150, 2))
    with small_scale(), pytest.raises(InvalidOptionError, match="do not fit into memory_mb=256"):
        stream_table(metric("steady_irw"), scan(points), in_memory=False)
    robust = AIIRWDepth(covariance="mcd")
    with small_scale(), pytest.raises(InvalidOptionError, match="empirical covariance"):
        stream_table(metric(robust), scan(points), in_memory=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("depth", ["halfspace", "ai_irw"])
def test_order_and_size_of_chunks_do_not_matter(depth: str) -> None:
    points = np.random.default_rng(7).standard_normal((800, 2)).astype(np.float32)
    found = []
    for chunks in (cut(points, 800), cut(points, 13)[::-1], [points[:1], points[1:]]):
        with small_scale(workspace=50):
            made = stream_table(metric(depth), scan(chunks), in_memory=False).made
        found.append(made)
    for made in found[1:]:
        for one, other in zip(made[:3], found[0][:3], strict=True):
            assert np.array_equal(one, other)
