"""Orders, rows and merges by several threads against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.core.levels import exact_plan
from isodepth.core.regions import TrimmedRegions
from isodepth.core.sample import Sample, lexicographic_order
from isodepth.engine import ordering
from isodepth.engine.ordering import order_of
from isodepth.engine.rows import over_rows, take_rows
from isodepth.engine.threads import Resources

N_JOBS = (1, 2, 7, 16)


@pytest.fixture(autouse=True)
def _divided_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a test need not sort a quarter of a million numbers to see them divided."""
    monkeypatch.setattr(ordering, "_MANY", 1 << 14)


def columns(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    return {
        "random": rng.standard_normal(n),
        "heavy tails": rng.standard_cauchy(n),
        "few values": rng.integers(0, 50, n).astype(float),
        "tied in the middle": np.rint(rng.standard_normal(n) * 300),
        "constant": np.zeros(n),
        "zeros of both signs": np.where(rng.random(n) < 0.5, 0.0, -0.0),
        "constant but three": np.r_[np.zeros(n - 3), 1e30, -1.0, 2.0],
        "rising": np.sort(rng.random(n)),
        "falling": -np.sort(rng.random(n)),
        "two crowds": np.r_[rng.random(n // 2) * 1e-6, 1 + rng.random(n - n // 2) * 1e-6],
    }


@pytest.mark.parametrize("kind", columns(4))
@pytest.mark.parametrize("n", [4000, 5000, 40_000, 150_000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_order_is_the_stable_one(kind: str, n: int, dtype: str) -> None:
    values = columns(n)[kind].astype(dtype)
    expected = np.argsort(values, kind="stable")
    for n_jobs in N_JOBS:
        found = order_of(values, Resources(n_jobs))
        assert found.dtype == np.intp
        np.testing.assert_array_equal(found, expected)


def test_many_numbers_are_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    divide = ordering._order_by_parts
    monkeypatch.setattr(
        ordering, "_order_by_parts", lambda *given: calls.append(given[1:]) or divide(*given)
    )
    values = np.random.default_rng(0).random(100_000)
    order_of(values, Resources(2))
    assert calls == []
    order_of(values, Resources(16))
    assert calls == [(12, 6)]


@pytest.mark.parametrize("kind", ["random", "few values", "zeros of both signs", "constant"])
@pytest.mark.parametrize("weighted", [False, True])
def test_canonical_form_by_any_number_of_threads(kind: str, weighted: bool) -> None:
    n = 60_000
    rng = np.random.default_rng(3)
    points = np.column_stack([columns(n)[kind], rng.integers(0, 3, n)]).astype(np.float32)
    weights = rng.integers(0, 3, n) if weighted else None
    expected = Sample.of(points, weights)
    rows, inverse = np.unique(
        points[weights > 0] if weighted else points, axis=0, return_inverse=True
    )
    np.testing.assert_array_equal(expected.points, rows)
    given = expected.inverse[expected.inverse >= 0]
    np.testing.assert_array_equal(given, inverse.reshape(-1))
    for n_jobs in N_JOBS:
        order, _ = lexicographic_order(points, Resources(n_jobs))
        np.testing.assert_array_equal(order, np.lexsort(points.T[::-1]))
        found = Sample.of(points, weights, resources=Resources(n_jobs))
        assert found.points.tobytes() == expected.points.tobytes()
        np.testing.assert_array_equal(found.inverse, expected.inverse)
        np.testing.assert_array_equal(found.unit_masses, expected.unit_masses)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 8191, 8192, 50_001])
def test_slices_make_up_all_rows(n: int) -> None:
    for n_jobs in N_JOBS:
        seen = np.zeros(n, dtype=int)

        def note(some: slice, seen: np.ndarray = seen) -> None:
            assert some.start % 64 == 0
            seen[some] += 1

        over_rows(n, 1000, note, Resources(n_jobs))
        assert (seen == 1).all()


def test_rows_are_taken_in_order() -> None:
    rng = np.random.default_rng(4)
    table, order = rng.random((30_000, 7)), rng.integers(0, 30_000, 40_000)
    for n_jobs in N_JOBS:
        np.testing.assert_array_equal(take_rows(table, order, Resources(n_jobs)), table[order])


def regions(depths: np.ndarray, rng: np.random.Generator) -> TrimmedRegions:
    points = rng.random((len(depths), 1))
    sample = Sample.of(points, rng.integers(1, 4, len(depths)))
    return TrimmedRegions.from_depths(points, None, None, sample, depths, depths, 0.0)


@pytest.mark.parametrize("eps", [0.1, 0.3, 0.95, 1.0])
def test_levels_are_those_of_the_definition(eps: float) -> None:
    rng = np.random.default_rng(6)
    for n, m, values in ((300, 200, 1000), (50, 400, 20), (5, 5, 2), (1, 1, 1), (2000, 3, 5000)):
        x, y = (regions(rng.integers(0, values, k) / values, rng) for k in (n, m))
        plan = exact_plan(x, y, eps)
        end = 1.0 - eps
        inner = {b for b in (*x.masses, *y.masses) if b < end * (1 - 1e-14)}
        edges = [0.0, *sorted(inner), end]
        np.testing.assert_array_equal(plan.levels[:, 0], edges[:-1])
        np.testing.assert_array_equal(plan.levels[:, 1], edges[1:])
        for side, stops in ((x, plan.prefix_sizes_x), (y, plan.prefix_sizes_y)):
            expected = [side.counts[np.sum(side.masses <= b)] for b in edges[:-1]]
            np.testing.assert_array_equal(stops, expected)
        assert plan.shares.sum() == pytest.approx(1.0)
