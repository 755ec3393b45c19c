"""Halfspace and irw depths of chunks have valid bounds, and are exact if the sample fits."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from chunked.streaming import KINDS, cut, fold_of, points_of, rows_of, small_scale
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from isodepth import AIIRWDepth, Metric, scan
from isodepth.errors import InvalidOptionError
from isodepth.geometry.depth import BY_NAME
from isodepth.geometry.depth.integrated import CorrectedIRW
from isodepth.geometry.directions import unit_vectors
from isodepth.geometry.regions import Sample
from isodepth.geometry.transforms import Whitening, center_and_exponent
from isodepth.metric.chunked import depths
from isodepth.metric.chunked.depths import RankModel, rank_numbers, whitening
from isodepth.metric.chunked.entry import compare
from isodepth.metric.chunked.reading import Summary
from isodepth.metric.chunked.region_tables import stream_table
from isodepth.metric.chunked.selection import RowValues, Selection


def metric(depth: Any, **options: Any) -> Metric:
    return Metric(depth=depth, n_directions=9, levels=6, random_state=1, **options)


@settings(max_examples=80, deadline=None)
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
    sample = Sample.of(
        points_of(kind, n, d, seed, dtype), rng.integers(1, 4, n) if weighted else None
    )
    directions = unit_vectors(d, 9, random_state=rng).astype(dtype)
    exact = BY_NAME[depth]()._evaluate(sample, None, directions)
    numbers = RowValues(center_and_exponent(sample), directions)

    fold = fold_of(sample.points, sample.masses, 7)
    pilot = rows_of(sample.points[:5], None)
    selection = Selection(fold, pilot, 0.5, sample.total, sample.n_points, 1, 1)
    with mock.patch.object(depths, "_BITS", (bits,)):
        model = RankModel.fit(selection, numbers, 2**30, depth == "halfspace")
    counts = fold(model.cells)
    assert (counts.sum(axis=1) == sample.total).all()
    middle, low, high = model.depths(sample.points, 1).T
    # The rank of a point that is alone in its cell is known.
    assert np.ptp(model.bounds[counts == 1], axis=-1).max(initial=0.0) == 0.0
    # The tolerance is the rounding of sums of nine quotients.
    assert (low <= exact * (1 + 1e-12)).all()
    assert (exact <= high * (1 + 1e-12)).all()
    assert np.allclose(middle, (low + high) / 2)


@pytest.mark.parametrize("depth", ["halfspace", "irw", "ai_irw"])
@pytest.mark.parametrize("q", [np.inf, 2.0])
def test_the_distance_lies_between_its_bounds(depth: str, q: float) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((900, 3)), 1.3 * rng.standard_t(3, (700, 3)) + 0.4
    x, y = x @ [[1, 5, 0], [0, 1, 0], [0, 3, 1]], y * [1, 2, 3]
    exact = metric(depth, q=q, refine=0).distance(x, y)
    widths = []
    for bits in (5, 9):
        with small_scale(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(depths, "_BITS", (bits,))
            sources = [scan(cut(points, 211)) for points in (x, y)]
            result = compare(metric(depth, q=q), *sources, None)
        low, high = result.distance_bounds
        assert low <= exact <= high
        assert low <= result.distance <= high
        widths.append(high - low)
        assert result.to_dict()["distance_bounds"] == [low, high]
        line = f"exact depths would give between {low:.6g} and {high:.6g}"
        assert (line in str(result)) == (low < high)
        # The mass of a cell is at least that of a few rows.
        bound = result._regions[0].depth_bound
        assert 0 < bound <= 2.0**-bits + 3 / 900
    assert widths[1] < widths[0]


def test_cells_take_a_quarter_of_the_memory() -> None:
    points = np.random.default_rng(6).standard_normal((3000, 2))
    # 2**9 * 2 * 8 cells of 24 bytes on each of 9 directions are a quarter of 6.75 MB.
    with small_scale():
        bounds = [
            stream_table(metric("halfspace", memory_mb=memory_mb), scan(points)).depth_bound
            for memory_mb in (6.75, 6.74)
        ]
    # The bound is half of the relative mass of a cell without the point itself. The maximum number
    # of rows in a cell is 10, or 13 with half of the cells.
    assert bounds == pytest.approx([4.5 / 3000, 6 / 3000])


def test_depths_that_need_all_rows_are_refused() -> None:
    points = np.random.default_rng(6).standard_normal((150, 2))
    with small_scale(), pytest.raises(InvalidOptionError, match="do not fit into memory_mb=256"):
        stream_table(metric(CorrectedIRW()), scan(points))
    robust = AIIRWDepth(covariance="mcd")
    with small_scale(), pytest.raises(InvalidOptionError, match="empirical covariance"):
        stream_table(metric(robust), scan(points))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["full", "constant column", "flat", "units", "far away"])
def test_the_whitening_matrix_is_that_of_memory(kind: str, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    points = rng.standard_normal((5000, 3)) @ rng.standard_normal((3, 3))
    if kind == "constant column":
        points[:, 1] = 0.1
    elif kind == "flat":
        points[:, 2] = points[:, 0] - points[:, 1]
    elif kind == "units":
        points *= [1e-9, 1.0, 1e6]
    elif kind == "far away":
        points += 1e5
    masses = rng.integers(1, 5, 5000) if weighted else None
    sample = Sample.of(points, masses)
    summary = Summary(5000)
    summary.add(0, points, None)
    expected = Whitening.of(sample, "empirical")
    result = whitening(fold_of(points, masses, 455), summary, points[:99])
    assert result.exponents.tolist() == expected.exponents.tolist()
    scaled = expected.scale(points)
    # The tolerance is the rounding error of a sum of 5000 products.
    white, wanted = scaled @ result.matrix.T, scaled @ expected.matrix.T
    assert np.allclose(white - white[0], wanted - wanted[0], rtol=0, atol=1e-9)


ORDERS_OF_MAGNITUDE = {
    "float64": 10.0 ** np.random.default_rng(0).uniform(-60, 0, 5000),
    "float32": 10.0 ** np.random.default_rng(0).uniform(-30, 0, 5000),
    "beside large": np.append(np.random.default_rng(0).standard_normal(4000), [1e17, 2e17] * 500),
}


@pytest.mark.parametrize("kind", ORDERS_OF_MAGNITUDE)
def test_ranks_over_many_orders_of_magnitude(kind: str) -> None:
    values = ORDERS_OF_MAGNITUDE[kind].astype("float32" if kind == "float32" else "float64")
    summary = Summary(len(values))
    summary.add(0, values[:, None], None)
    numbers = rank_numbers(summary, values[:500, None], np.array([[1.0]]))
    ((_, along),) = numbers.along(values[:, None], 1)
    assert rankdata(along[0]).tolist() == rankdata(values).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_equal_depths_are_tied(seed: int) -> None:
    """Ties of depths are preserved: depths are sums of integers, without rounding errors."""
    x, y = np.random.default_rng(seed).standard_normal((2, 18, 3))
    axes = Metric(depth="irw", directions=np.eye(3), levels=7, refine=0)
    with small_scale(few=4, pilots=6):
        result = compare(axes, scan(cut(x, 5)), scan(cut(y, 5)), None)
    low, high = result.distance_bounds
    assert low * (1 - 1e-12) <= axes.distance(x, y) <= high * (1 + 1e-12)
