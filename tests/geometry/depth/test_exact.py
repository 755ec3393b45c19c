"""Exact halfspace depths equal those of an enumeration of all hyperplanes in exact arithmetic."""

from __future__ import annotations

import math
import signal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from twins import naive_geometry as naive

from isodepth.base.compiled import Resources
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.geometry.depth import exact
from isodepth.geometry.regions import Sample

Case = tuple[np.ndarray, np.ndarray, np.ndarray]

#: `decimal` and `line of floats` are degenerate up to rounding.
KINDS = {
    "gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "lattice": lambda rng, n, d: rng.integers(-2, 3, size=(n, d)).astype(float),
    "decimal": lambda rng, n, d: rng.integers(-2, 3, size=(n, d)) * 0.1 + 0.7,
    "duplicated": lambda rng, n, d: rng.normal(size=(n, d))[rng.integers(0, n // 2, size=n)],
    "collinear": lambda rng, n, d: rng.integers(-5, 6, (n, 1)) * rng.integers(1, 4, d) + 1.0,
    "coplanar": lambda rng, n, d: rng.integers(-2, 3, (n, d - 1)) @ rng.integers(-2, 3, (d - 1, d)),
    "line of floats": lambda rng, n, d: rng.normal(size=(n, 1)) * rng.normal(size=d),
    "many sizes": lambda rng, n, d: np.ldexp(rng.normal(size=(n, d)), rng.integers(-90, 1, (n, d))),
}


def smallest_masses(
    points: np.ndarray, masses: Any, queries: Any, n_jobs: int | None = None
) -> np.ndarray:
    """Return for each query the minimum mass of a halfspace, by `isodepth.geometry.depth.exact`.

    Equal points are merged before the call, and points of mass zero dropped.
    """
    masses = np.asarray(masses, dtype=np.int64)
    if not masses.any():
        return np.zeros(len(queries), dtype=np.int64)
    sample = Sample._merge(points[masses > 0], masses[masses > 0])
    smallest = exact.smallest_masses(sample, np.asarray(queries, dtype=float), Resources.of(n_jobs))
    # Equal masses become 1.
    return smallest * (masses.sum() // sample.total)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("d", "n"), [(2, 12), (3, 11), (4, 9), (5, 8)])
def test_agrees_with_all_hyperplanes(kind: str, d: int, n: int) -> None:
    rng = np.random.default_rng([len(kind), d])
    points = KINDS[kind](rng, n, d).astype(float)
    corners = points[rng.integers(0, n, size=3)]
    between = (points[rng.integers(0, n, size=3)] + corners) / 2
    queries = np.concatenate([corners, between, rng.normal(size=(1, d))])
    for masses in (np.ones(n, dtype=int), rng.integers(0, 4, size=n)):
        expected = naive.halfspace_masses(points, masses, queries)
        assert smallest_masses(points, masses, queries).tolist() == expected


@st.composite
def lattices(draw: st.DrawFn) -> Case:
    d = draw(st.integers(1, 4))
    n = draw(st.integers(1, 8 if d < 4 else 7))
    step = draw(st.sampled_from([1.0, 0.1, 1e-3, 2.0**-40]))
    integers = hnp.arrays(np.int64, (n + 3, d), elements=st.integers(-2, 2))
    rows = draw(integers) * step + draw(st.sampled_from([0.0, 1.0, 1e6]))
    masses = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)))
    return rows[:n], masses, rows[n - 1 :]


@st.composite
def nearly_flat(draw: st.DrawFn) -> Case:
    """Draw points on a line or plane, each moved by zero to two units in the last place."""
    d = draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    points = rng.normal(size=(7, d - 1)) @ rng.normal(size=(d - 1, d))
    ulps = draw(hnp.arrays(np.int64, points.shape, elements=st.integers(-2, 2)))
    points = points + ulps * np.spacing(points)
    return points, np.ones(7, dtype=int), points


@st.composite
def any_floats(draw: st.DrawFn) -> Case:
    d, n = draw(st.integers(1, 3)), draw(st.integers(2, 7))
    # Products of three of these numbers neither overflow nor underflow.
    finite = st.floats(min_value=1e-80, max_value=1.0) | st.floats(-1.0, -1e-80) | st.just(0.0)
    points = draw(hnp.arrays(np.float64, (n, d), elements=finite)) * draw(st.sampled_from([1, 1e9]))
    return points, np.arange(1, n + 1), points


@pytest.mark.parametrize("cases", [lattices, nearly_flat, any_floats])
def test_small_cases(cases) -> None:
    @settings(derandomize=True, max_examples=80, deadline=None)
    @given(cases())
    def agrees(case: Case) -> None:
        assert smallest_masses(*case).tolist() == naive.halfspace_masses(*case)

    agrees()


def test_points_a_rounding_apart_are_told_apart() -> None:
    # The middle point is on the line of the others, or one unit in the last place above or below.
    for step, expected in [(-1, 1), (0, 2), (1, 1)]:
        middle = 0.3 + step * math.ulp(0.3)
        points = np.array([[0.0, 0.3], [0.7, 0.3], [0.31, middle], [0.4, 0.1], [0.4, 0.5]])
        on_line = smallest_masses(points, [1, 1, 0, 0, 0], points[2:3])[0]
        assert on_line == (1 if step == 0 else 0)
        assert smallest_masses(points, [1, 1, 1, 0, 0], points[2:3])[0] == expected


@pytest.mark.parametrize("d", [2, 3])
def test_moved_scaled_and_sheared_lattices_have_equal_depths(d: int) -> None:
    rng = np.random.default_rng(d)
    points = rng.integers(-4, 5, size=(60, d)).astype(float)
    masses = rng.integers(1, 5, size=60)
    expected = smallest_masses(points, masses, points)
    shear = np.eye(d) + np.diag(np.full(d - 1, 3.0), 1)
    # Large numbers are computed by the slower path with rounding, and have equal depths.
    for scale, shift in [(1.0, 0.0), (3.0 * 2.0**30, 12345.0), (2.0**-600, 0.0)]:
        moved = points @ shear * scale + shift
        assert (smallest_masses(moved, masses, moved) == expected).all()


@pytest.mark.parametrize("kind", ["gaussian", "lattice", "decimal"])
@pytest.mark.parametrize(("d", "n"), [(2, 400), (3, 80), (4, 50)])
def test_any_number_of_threads(kind: str, d: int, n: int) -> None:
    rng = np.random.default_rng(d)
    points, masses = KINDS[kind](rng, n, d), rng.integers(1, 4, size=n)
    queries = np.concatenate([points[:4], points.mean(axis=0, keepdims=True)])
    expected = smallest_masses(points, masses, queries, n_jobs=1)
    for n_jobs in (2, 7):
        found = smallest_masses(points, masses, queries, n_jobs=n_jobs)
        assert found.tolist() == expected.tolist()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_signal_ends_a_long_search(n_jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a signal ends a search that would otherwise take hours."""
    monkeypatch.setattr(exact, "MAX_WORK", 1e15)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    points = np.random.default_rng(0).normal(size=(400, 6))
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            smallest_masses(points, np.ones(400), np.zeros((1, 6)), n_jobs)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_corners_of_a_simplex_are_cut_off_alone() -> None:
    for d in (1, 2, 3, 4, 5, 6):
        points = np.concatenate([np.zeros((1, d)), np.eye(d)])
        masses = np.arange(1, d + 2)
        assert smallest_masses(points, masses, points).tolist() == masses.tolist()
        center = points.mean(axis=0, keepdims=True)
        assert smallest_masses(points, masses, center).tolist() == [1]


def test_a_query_off_the_flat_of_the_sample_has_depth_zero() -> None:
    points = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [2.0, 2.0, 1.0]])
    queries = [[1, 1, 1], [1, 1, 1.0000001], [0.5, 0.5, 1], [1, 0, 1], [3, 3, 1]]
    assert smallest_masses(points, [1, 1, 1], queries).tolist() == [2, 0, 1, 0, 0]
    assert smallest_masses(points[:1], [7], points).tolist() == [7, 0, 0]


def test_too_much_work_is_refused() -> None:
    points = np.random.default_rng(0).normal(size=(3000, 4))
    with pytest.raises(InvalidOptionError, match="algorithm='exact' takes about"):
        smallest_masses(points, np.ones(3000), points)
    corners = np.concatenate([np.zeros((1, 13)), np.eye(13)])
    with pytest.raises(InvalidOptionError, match="up to 12 dimensions"):
        smallest_masses(corners, np.ones(14), corners)
    far = np.array([[1e200, 1.0], [1e-200, 0.0], [0.0, 3.0]])
    with pytest.raises(InvalidInputError, match="orders of magnitude"):
        smallest_masses(far, np.ones(3), far)


def test_spans_of_points_lines_and_planes() -> None:
    for points, n_columns, inside, outside in [
        ([[1, 2, 3], [1, 2, 3]], 0, [1, 2, 3], [1, 2, 4]),
        ([[0, 0, 0], [0, 2, 4], [0, 1, 2]], 1, [0, -7, -14], [0, -7, 14]),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, -1]], 2, [5, -3, -1], [5, -3, 1]),
    ]:
        columns, within = exact._restrict(
            np.array(points, float), np.array([inside, outside], float)
        )
        assert len(columns) == n_columns
        assert within.tolist() == [True, False]


@pytest.mark.parametrize(
    ("values", "bit"),
    [
        ([[1.0, 3.0]], 0),
        ([[4.0, 12.0]], 2),
        ([[0.75, -8.0]], -2),
        ([[0.0, 0.0]], 0),
        ([[0.0, 2.0**40]], 40),
        ([[5e-324]], -1074),
        ([[2.0**60 + 2.0**8]], 8),
    ],
)
def test_the_lowest_bit_divides_all_and_no_higher_one_does(values, bit: int) -> None:
    array = np.array(values)
    assert exact._lowest_bit(array) == bit
    assert exact._lowest_bit(np.zeros((1, 1)), array) == bit
    for row, whole in zip(values, list(exact._as_integers(array, bit)), strict=True):
        assert [Fraction(n) * Fraction(2) ** bit for n in whole] == [Fraction(x) for x in row]


def test_products_are_exact_up_to_one_and_down_to_the_smallest_float() -> None:
    assert exact._products_are_exact(2, np.array([[1.0, 2.0**-511]]))
    assert not exact._products_are_exact(2, np.array([[1.0, 2.0**-512]]))
    assert not exact._products_are_exact(2, np.array([[1.0 + 2**-52]]))
    assert not exact._products_are_exact(2, np.array([[0.5]]), np.array([[1.5]]))
    assert exact._products_are_exact(3, np.array([[0.5, 2.0**-340]]))
    assert not exact._products_are_exact(3, np.array([[0.5, 2.0**-341]]))


def test_queries_off_the_flat_of_a_sample_are_found() -> None:
    rows = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 2.0, 1.0], [3.0, 3.0, 1.0]])
    columns, inside = exact._restrict(rows, np.array([[9.0, 9.0, 1.0], [0.0, 0.0, 1.0 + 2**-52]]))
    assert columns == [0, 1]
    assert inside.tolist() == [True, False]
    columns, inside = exact._restrict(rows + np.eye(4, 3), np.array([[9.0, 9.0, 1.0]]))
    assert columns == [0, 1, 2]
    assert inside.tolist() == [True]


def test_columns_are_scaled_by_powers_of_two_unless_digits_would_be_lost() -> None:
    first, second = np.array([[3.0, 1e-5]]), np.array([[-100.0, 0.0]])
    scaled = exact._scale_columns(first, second)
    assert max(np.abs(table).max() for table in scaled) <= 1
    assert (np.abs(np.concatenate(scaled)).max(axis=0) >= 0.5).all()
    powers = np.array([-100.0, 1e-5]) / [scaled[1][0, 0], scaled[0][0, 1]]
    assert (np.frexp(powers)[0] == 0.5).all()
    for new, old in zip(scaled, (first, second), strict=True):
        assert (new * powers == old).all()
    (kept,) = exact._scale_columns(np.array([[1e300, 1.0], [5e-324, 1.0]]))
    assert kept.tolist() == [[1e300, 1.0], [5e-324, 1.0]]


def test_steps_are_those_of_the_documentation() -> None:
    assert exact._steps(16, 1) == exact._steps(16, 2) == 16 * 4
    assert exact._steps(16, 4) == (16 * 15 / 2) * 16 * 4
