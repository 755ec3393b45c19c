"""The statistics of all relabelings against plain loops, one relabeling at a time.

Sums of at most a few hundred terms of size one: rounding stays below 1e-12.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import POINTS, exact_directions, gaussian_directions
from twins import naive_permutation as twin

from isodepth.core.levels import midpoint_levels
from isodepth.engine.threads import Resources
from isodepth.significance.relabelings import Relabelings
from isodepth.significance.split_statistics import (
    Split,
    envelope_statistics,
    region_statistics,
)

RELATIVE = 1e-12
RESAMPLES = 4


def pooled(kind: str, n: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    points = POINTS[kind](rng, n, d)
    if kind == "lattice":
        return points, exact_directions(rng, d)
    return points, np.vstack([np.eye(d), gaussian_directions(rng, d, 4)]) if d > 1 else np.eye(1)


def split_of(
    points: np.ndarray, directions: np.ndarray, n_x: int, blocks: object, q: float, p: float
) -> Split:
    return Split(
        points, directions, Relabelings(n_x, len(points) - n_x, blocks), RESAMPLES,
        np.random.default_rng(3), q, p, Resources(1), lambda done: None,
    )  # fmt: skip


def some_blocks(rng: np.random.Generator, n_x: int, n_y: int) -> np.ndarray:
    """Numbers of blocks of one to three rows, those of X first."""
    x = np.cumsum(rng.random(n_x) < 0.6)
    y = np.cumsum(rng.random(n_y) < 0.6)
    x, y = x - x[0], y - y[0]
    return np.concatenate([x, y + x[-1] + 1])


@pytest.mark.parametrize("kind", POINTS)
@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize(("q", "p", "eps"), [(2, 2, 0.1), (1, 3, 0.3), (math.inf, math.inf, 0.2)])
def test_distances_of_regions(kind: str, d: int, q: float, p: float, eps: float) -> None:
    rng = np.random.default_rng(sum(kind.encode()) + d)
    points, directions = pooled(kind, 24, d, rng)
    n_x = 13
    found = region_statistics(
        split_of(points, directions, n_x, None, q, p), midpoint_levels(5, eps)
    )
    labels = twin.labelings(n_x, len(points) - n_x, None, RESAMPLES, np.random.default_rng(3))
    U = directions.tolist()
    sides = [twin.parts(points.tolist(), mine) for mine in labels]
    wanted = [twin.region_statistic(x, y, U, q, p, eps, 5) for x, y in sides]
    assert [found.observed, *found.null] == pytest.approx(wanted, rel=RELATIVE, abs=RELATIVE)
    axes = [[twin.axis_gap(x, y, U, j, q, p, eps, 5) for j in range(d)] for x, y in sides]
    assert found.observed_axes == pytest.approx(axes[0], rel=RELATIVE, abs=RELATIVE)
    assert found.null_axes == pytest.approx(np.array(axes[1:]), rel=RELATIVE, abs=RELATIVE)


@settings(max_examples=25, deadline=None)
@given(
    kind=st.sampled_from(sorted(POINTS)),
    seed=st.integers(0, 2**32 - 1),
    n_x=st.integers(2, 12),
    n_y=st.integers(2, 12),
    d=st.integers(1, 3),
)
def test_distances_of_regions_with_blocks(kind: str, seed: int, n_x: int, n_y: int, d: int) -> None:
    """Whole blocks change sides, so that the two parts have other sizes each time."""
    rng = np.random.default_rng(seed)
    points, directions = pooled(kind, n_x + n_y, d, rng)
    points = points[: n_x + n_y]
    blocks = some_blocks(rng, n_x, n_y)
    found = region_statistics(
        split_of(points, directions, n_x, blocks, 2, 2), midpoint_levels(4, 0.1)
    )
    labels = twin.labelings(n_x, n_y, blocks.tolist(), RESAMPLES, np.random.default_rng(3))
    sides = [twin.parts(points.tolist(), mine) for mine in labels]
    wanted = [twin.region_statistic(x, y, directions.tolist(), 2, 2, 0.1, 4) for x, y in sides]
    assert [found.observed, *found.null] == pytest.approx(wanted, rel=RELATIVE, abs=RELATIVE)


@pytest.mark.parametrize("kind", POINTS)
@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize(("q", "p"), [(math.inf, 2), (2, 1), (1, math.inf)])
@pytest.mark.parametrize("foreign", [(0, 0), (3, 2), (6, 0)])
def test_gaps_between_quantiles(
    kind: str, d: int, q: float, p: float, foreign: tuple[int, int]
) -> None:
    rng = np.random.default_rng(sum(kind.encode()) + d)
    points, directions = pooled(kind, 40, d, rng)
    n_x = 22
    found = envelope_statistics(split_of(points, directions, n_x, None, q, p), foreign, 9)
    labels = twin.labelings(n_x, len(points) - n_x, None, RESAMPLES, np.random.default_rng(3))
    rows, U = points.tolist(), directions.tolist()
    observed = twin.envelope_statistics(rows, U, labels[0], foreign, 9, q, p)
    null = [twin.envelope_statistics(rows, U, mine, (0, 0), 9, q, p) for mine in labels[1:]]
    assert found.observed == pytest.approx(observed, rel=RELATIVE, abs=RELATIVE)
    assert found.null.tolist() == pytest.approx(null, rel=RELATIVE, abs=RELATIVE)


def test_many_words_of_relabelings_and_little_memory() -> None:
    """More than 64 relabelings, in several rounds, are those of one round."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 3))
    directions = np.vstack([np.eye(3), gaussian_directions(rng, 3, 4)])

    def made(resources: Resources) -> list[np.ndarray]:
        split = Split(
            points, directions, Relabelings(20, 30), 300, np.random.default_rng(3), 2, 2,
            resources, lambda done: None,
        )  # fmt: skip
        found = [region_statistics(split, midpoint_levels(4, 0.1))]
        again = Split(**{**vars(split), "rng": np.random.default_rng(3)})
        found.append(envelope_statistics(again, (1, 2), 5))
        return [array for each in found for array in vars(each).values()]

    for one, other in zip(made(Resources(1)), made(Resources(3, 1e-4)), strict=True):
        assert np.array_equal(one, other)
