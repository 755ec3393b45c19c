"""Region tables of samples that are read in chunks equal those in memory, for any chunks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from chunked.streaming import KINDS, cut, points_of, small_scale, streamed_values
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import isodepth
from isodepth import Metric, scan
from isodepth.errors import InvalidInputError
from isodepth.geometry.scaling import column_units
from isodepth.metric.chunked.region_tables import column_spreads, stream_table
from isodepth.stream.passes import Runner


def metric(**options: object) -> Metric:
    return Metric(
        **{"n_directions": 13, "levels": 7, "random_state": 3, "n_jobs": 2, **options}  # type: ignore[arg-type]
    )


def assert_same(found: np.ndarray, expected: np.ndarray, rtol: float = 1e-12) -> None:
    assert np.abs(found - expected).max() <= rtol * np.abs(expected).max()


@pytest.mark.filterwarnings("ignore::isodepth.errors.DegenerateDepthWarning")
@settings(max_examples=100, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(1, 80),
    d=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    size=st.sampled_from([3, 40, 1000]),
    weighted=st.sampled_from(["no", "integers", "floats"]),
    holes=st.booleans(),
)
def test_every_kind_of_sample(
    kind: str, n: int, d: int, seed: int, size: int, weighted: str, holes: bool
) -> None:
    rng = np.random.default_rng(seed)
    points, weights, options = points_of(kind, n, d, seed), None, {}
    used = metric(nan_policy="omit") if holes else metric()
    if holes:
        points[1:][rng.random((n - 1, d)) < 0.1] = np.nan
    joined = points
    if weighted != "no":
        weights = rng.integers(0, 4, n) * 1.0 if weighted == "integers" else rng.random(n)
        weights[0] = 1.0
        weights *= 2.0 ** float(rng.choice([-1070, 0, 1015])) if weighted == "integers" else 1.0
        joined, options = np.column_stack([points, weights]), {"weights": d}
    expected = used.region_table(points, weights=weights).values
    with small_scale():
        found = streamed_values(used, [*cut(joined, size), joined[:0]], **options)
    assert_same(found, expected)


@pytest.mark.parametrize("kind", ["normal", "heavy", "sorted"])
def test_single_precision(kind: str) -> None:
    # If the pilot has all rows, both computations subtract the same center, with equal rounding.
    points = points_of(kind, 3000, 3, 5, "float32")
    expected = metric().region_table(points)
    for size in (77, 3000):
        with small_scale(pilots=3000):
            found = stream_table(metric(), scan(cut(points, size)), in_memory=False).table
        assert_same(found.values, expected.values, 1e-6)
        assert found.signature == expected.signature


@pytest.mark.parametrize("depth", ["projection", "halfspace", "irw", "ai_irw"])
def test_neither_chunks_nor_threads_nor_memory_matter(depth: str) -> None:
    points = np.random.default_rng(2).standard_normal((9000, 4))
    tables = []
    for size, n_jobs, memory_mb in ((9000, 1, 64), (317, 1, 64), (1000, 3, 4), (9000, 2, 4)):
        # The number of cells of ranks depends on the memory.
        memory = {"memory_mb": memory_mb} if depth == "projection" else {}
        used = metric(depth=depth, n_jobs=n_jobs, **memory)
        with small_scale(few=100, pilots=2000):
            tables.append(streamed_values(used, cut(points, size)))
    for found in tables[1:]:
        assert_same(found, tables[0])


def test_few_distinct_rows() -> None:
    """A sample with few distinct rows is processed in memory, for any number of rows.

    The depths of the vertices of a simplex depend on their masses alone, which passes over chunks
    cannot detect.
    """
    few = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    rows = few[np.random.default_rng(0).integers(0, 3, 5000)]
    for depth in ("projection", "halfspace", "ai_irw"):
        used = metric(depth=depth)
        with pytest.warns(isodepth.errors.DegenerateDepthWarning):
            expected = used.region_table(rows).values
        with pytest.warns(isodepth.errors.DegenerateDepthWarning), small_scale(few=3):
            found = streamed_values(used, cut(rows, 900))
        assert_same(found, expected)


# -- weights and scales ---------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    kinds=st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)),
    seed=st.integers(0, 10**6),
    weighted=st.tuples(*[st.sampled_from(["none", "floats", "integers"])] * 2),
    eps=st.sampled_from([0.1, 0.3]),
)
@example(kinds=("constant", "constant"), seed=1, weighted=("none", "none"), eps=0.1)
@example(kinds=("constant", "normal"), seed=29, weighted=("none", "none"), eps=0.3)  # MAD 0
def test_scales_are_those_of_memory(
    kinds: tuple[str, str], seed: int, weighted: tuple[str, str], eps: float
) -> None:
    """Units of columns computed in chunks equal those in memory.

    Non-integer weights of a sample are scaled to the sum n. Samples of which a quantile depends on
    the rounding of this sum are left out: the quantile may then be a neighboring value.
    """
    rng = np.random.default_rng(seed)
    samples = [points_of(kind, rng.integers(2, 90), 3, seed + i) for i, kind in enumerate(kinds)]
    sources, masses = [], []
    for rows, kind in zip(samples, weighted, strict=True):
        n = len(rows)
        if kind == "none":
            sources.append(scan(cut(rows, 17)))
            masses.append([np.ones(n)])
            continue
        w = rng.random(n) if kind == "floats" else rng.integers(1, 5, n) * 1.0
        sources.append(scan(cut(np.column_stack([rows, w]), 17), weights=3))
        counts = w * (n / w.sum())
        masses.append(
            [counts * (1 + shift) for shift in (-1e-9, 0, 1e-9)] if kind == "floats" else [w]
        )
    pooled = np.concatenate(samples)
    expected = [column_units(pooled, np.concatenate(both), eps) for both in product(*masses)]
    rtol = 1e-12 if len(expected) == 1 else 1e-8
    assume(np.allclose(expected, expected[0], rtol=rtol, atol=0))
    with small_scale(), np.errstate(invalid="raise"):
        units = column_spreads(sources, metric(eps=eps), Runner())
    np.testing.assert_allclose(units, expected[0], rtol=rtol)


def test_weights_with_a_scale() -> None:
    rng = np.random.default_rng(3)
    x, y, w = rng.normal(size=(200, 2)), rng.normal(size=(150, 2)) * [1, 30], rng.random(200)
    source = scan(np.column_stack([x, w]), weights=2)
    for scale in ("pooled", "reference"):
        expected = metric(scale=scale, refine=0).distance(x, y, weights=(w, None))
        value = metric(scale=scale, refine=0).distance(source, scan(y))
        assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_weights_name_their_chunk(bad: float) -> None:
    rows = np.ones((20, 3))
    rows[13, 2] = bad
    with pytest.raises(InvalidInputError, match="weights in chunk 1 must be finite and not neg"):
        metric().region_table(scan([rows[:10], rows[10:]], weights=2))


# -- sources that change --------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["values", "fewer", "more", "endless"])
def test_sources_that_change_are_refused(change: str) -> None:
    calls = [0]

    def chunks() -> Iterator[np.ndarray]:
        calls[0] += 1
        # The first call reads only the first chunk, and the second call is the first pass.
        late = calls[0] > 2
        rng = np.random.default_rng(calls[0] if change == "values" else 0)
        for _ in range({"fewer": 2, "more": 4, "endless": 10**9}.get(change, 3) if late else 3):
            rows = rng.random((50, 2))
            rows[0] = 0.5  # another first row is noticed earlier
            yield rows

    now = {"fewer": "100", "values": "other values"}.get(change, "more")
    with (
        small_scale(),
        pytest.raises(InvalidInputError, match=f"two readings .150 rows, then {now}"),
    ):
        metric().region_table(scan(chunks))


EXTREME = {
    "a small column in float32": ("float32", [1.0, 1e-12], np.eye(2)[1:], 0.0),
    "a small column in float64": ("float64", [1.0, 1e-25], np.eye(2)[1:], 0.0),
    "axes": ("float64", [1e200, 1e-240], np.eye(2), 0.0),
    "an entry that is zero in float32": ("float32", [1e-30, 1e30], np.array([[1.0, 1e-50]]), 0.0),
    "a large column that is mostly zero": ("float64", [1.0, 1e40], np.array([[0.6, 0.8]]), 0.7),
    "a small column that is mostly zero": ("float64", [1.0, 1e-250], np.eye(2)[1:], 0.7),
}


@pytest.mark.parametrize("kind", EXTREME)
def test_extreme_ratios_of_columns(kind: str) -> None:
    dtype, units, directions, zeros = EXTREME[kind]
    rng = np.random.default_rng(1)
    x = rng.standard_normal((90, 2)) * units
    x[rng.random(90) < zeros, 1] = 0.0
    used = Metric(directions=directions, levels=5, refine=0)
    expected = used.region_table(x.astype(dtype)).values
    with small_scale(pilots=90):
        values = streamed_values(used, cut(x.astype(dtype), 11))
    assert (np.abs(values - expected) <= 1e-12 * np.abs(expected).max(axis=0)).all()
