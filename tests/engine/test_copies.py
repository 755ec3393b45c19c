"""A point of mass m and m points of mass one: the same numbers, whichever way is taken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth.engine import rank_passes, spread_passes
from isodepth.engine.copies import first_copies, repeated_rows
from isodepth.engine.rank_passes import mean_rank_weight, smallest_halfspace
from isodepth.engine.spread_passes import largest_outlyingness
from isodepth.engine.threads import Resources

NEVER, ALWAYS = 0.0, 1e9


def with_cost(cost: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_passes, "_HALFSPACE_MASS_COST", cost)
    monkeypatch.setattr(rank_passes, "_MEAN_MASS_COST", cost)
    monkeypatch.setattr(spread_passes, "_MASS_COST", cost)


def lattice(seed: int, n: int, d: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows in order, around zero, and how often each came."""
    rows = np.random.default_rng(seed).integers(0, 3, (n, d)).astype(dtype)
    points, masses = np.unique(rows, axis=0, return_counts=True)
    return points - 1, masses.astype(np.int64)


def found_by_all(points: np.ndarray, masses: np.ndarray, queries: np.ndarray, threads: int) -> list:
    directions = np.random.default_rng(5).standard_normal((40, points.shape[1]))
    directions[: points.shape[1]] = np.eye(points.shape[1])
    total, resources = int(masses.sum()), Resources(threads)
    found: list = []
    for locate in (False, True):
        found += smallest_halfspace(points, masses, total, directions, resources, locate)
        for asked in (None, queries):
            found += largest_outlyingness(
                points, masses, total, asked, directions, resources, locate
            )
    return [*found, mean_rank_weight(points, masses, total, directions, resources)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("n", "d"), [(9, 2), (60, 1), (70, 3), (400, 4), (9000, 8)])
def test_masses_and_copies_give_the_same_bits(
    n: int, d: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    points, masses = lattice(n, n, d, dtype)
    queries = np.random.default_rng(1).standard_normal((11, d)).astype(dtype)
    with_cost(NEVER, monkeypatch)
    expected = found_by_all(points, masses, queries, 1)
    for threads in (1, 3):
        with_cost(ALWAYS, monkeypatch)
        for ours, theirs in zip(
            found_by_all(points, masses, queries, threads), expected, strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)


def test_half_of_the_mass_in_one_point(monkeypatch: pytest.MonkeyPatch) -> None:
    # No MAD along any direction.
    points, _ = lattice(3, 30, 3, "float64")
    masses = np.ones(len(points), dtype=np.int64)
    masses[4] = 2 * len(points)
    queries = points[:3] + 0.25
    with_cost(NEVER, monkeypatch)
    expected = found_by_all(points, masses, queries, 1)
    with_cost(ALWAYS, monkeypatch)
    for ours, theirs in zip(found_by_all(points, masses, queries, 1), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@settings(max_examples=60)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=30))
def test_copies_follow_the_definition(masses: list[int]) -> None:
    rows = repeated_rows(np.array(masses), sum(masses), ALWAYS)
    assert rows is not None
    assert rows.tolist() == [i for i, mass in enumerate(masses) for _ in range(mass)]
    first = first_copies(np.array(masses))
    assert [int(rows[place]) for place in first] == list(range(len(masses)))
    assert all(place == 0 or rows[place - 1] == rows[place] - 1 for place in first)


def test_no_copies_where_they_do_not_pay_or_a_point_has_no_mass() -> None:
    assert repeated_rows(None, 3, ALWAYS) is None
    assert repeated_rows(np.array([1, 0, 1]), 2, ALWAYS) is None
    assert repeated_rows(np.array([1, 3]), 4, 1.9) is None
    assert repeated_rows(np.array([1, 3]), 4, 2.0) is not None


def test_little_repetition_takes_the_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    points, masses = lattice(0, 300, 8, "float64")
    assert 1 < masses.sum() / len(masses) < 1.1
    seen = []

    def noting(points: np.ndarray, *rest: object) -> list:
        seen.append(len(points))
        return original(points, *rest)

    original = rank_passes.fold_directions
    for module in (rank_passes, spread_passes):
        monkeypatch.setattr(module, "fold_directions", noting)
    found_by_all(points, masses, points[:2], 1)
    assert set(seen) == {300}
