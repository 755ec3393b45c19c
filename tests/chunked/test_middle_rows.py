"""The rows that say where a sample lies are found in chunks as they are in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from chunked.test_same_bits import KINDS, points_of
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth.chunked.middle_rows import compared, rows_of_ranks
from isodepth.chunked.rows import NO_MASSES, Rows
from isodepth.chunked.sampling import FewRows, Pilot, RowDraw
from isodepth.core.sample import Sample
from isodepth.engine import middle_rows


def folded(chunks: list[Rows], passes: list[int]) -> Any:
    def fold(work: Any) -> Any:
        passes.append(1)
        states = []
        for chunk in chunks:
            state = work.start()
            work.step(state, chunk)
            states.append(state)
        for state in states[1:]:
            work.merge(states[0], state)
        return states[0]

    return fold


@settings(max_examples=80, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(1, 90),
    d=st.integers(1, 3),
    seed=st.integers(0, 10**6),
    size=st.integers(1, 40),
    room=st.sampled_from([0, 7, 30, 1000]),
    n_pilots=st.integers(1, 12),
    weighted=st.booleans(),
)
def test_rows_of_ranks(
    kind: str, n: int, d: int, seed: int, size: int, room: int, n_pilots: int, weighted: bool
) -> None:
    """Against a sample in memory, whatever the pilot says and however little room there is."""
    rng = np.random.default_rng(seed)
    points = points_of(kind, n, d, seed, "float32")
    masses = rng.integers(1, 5, n) if weighted else np.ones(n, dtype=np.int64)
    order = np.lexsort(points.T[::-1])
    upto = np.cumsum(masses[order])
    total = int(upto[-1])
    ranks = sorted({1, total, *rng.integers(1, total + 1, 3).tolist()})
    expected = points[order[np.searchsorted(upto, ranks)]]
    chunks = [
        Rows(points[i : i + size], masses[i : i + size] if weighted else NO_MASSES)
        for i in range(0, n, size)
    ]
    few = rng.integers(0, n, n_pilots)
    passes: list[int] = []
    found = rows_of_ranks(
        folded(chunks, passes), Pilot(points[few], masses[few]), ranks, total, room
    )
    assert np.array_equal(found, expected)
    # Each pass leaves less of the rows between: at worst one row of them.
    assert len(passes) <= n + 1


def test_two_passes_do_for_many_rows() -> None:
    """A sample of m rows leaves about 9 / sqrt(m) of what is between, and again."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(200_000, 2))
    chunks = [Rows(points[i : i + 5000], NO_MASSES) for i in range(0, len(points), 5000)]
    pilot = Pilot(points[::50], np.ones(4000, dtype=np.int64))
    passes: list[int] = []
    ranks = [1, 60_000, 100_000, 200_000]
    found = rows_of_ranks(folded(chunks, passes), pilot, ranks, len(points), 4 * 4000)
    order = np.lexsort(points.T[::-1])
    assert np.array_equal(found, points[order[np.array(ranks) - 1]])
    assert len(passes) == 2


def test_comparing_rows() -> None:
    rng = np.random.default_rng(2)
    points = rng.integers(0, 3, (200, 3)).astype(np.float32)
    row = points[17]
    less, equal = compared(points, row)
    assert less.tolist() == [tuple(p) < tuple(row) for p in points.tolist()]
    assert equal.tolist() == [tuple(p) == tuple(row) for p in points.tolist()]


def test_rows_that_are_drawn_are_a_fair_sample() -> None:
    """Chunks of unequal sizes, merged: each row has the same chance."""
    hits = np.zeros(600)
    points = np.arange(600.0)[:, None]
    turns = 400
    for turn in range(turns):
        draws = [RowDraw(1, "float64", 60) for _ in range(3)]
        rng = np.random.default_rng(turn)
        for draw, part in zip(draws, np.split(rng.permutation(points), [10, 200]), strict=True):
            for chunk in np.array_split(part, 4):
                draw.add(chunk, NO_MASSES)
        for other in draws[1:]:
            draws[0].merge(other)
        assert not draws[0].complete
        drawn = draws[0].pilot.points[:, 0].astype(int)
        assert len(set(drawn.tolist())) == 60
        hits[drawn] += 1
    # Binomial with a chance of 1/10: 600 of them stay within five standard errors.
    assert (np.abs(hits - turns / 10) < 5 * np.sqrt(turns * 0.09)).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_few_distinct_rows_are_all_kept(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middle_rows, "FEW_ROWS", 27)
    rng = np.random.default_rng(3)
    points = rng.integers(0, 3, (300, 3)) * 1.0
    masses = rng.integers(1, 9, 300) if weighted else NO_MASSES
    parts = []
    for some in np.array_split(np.arange(300), 3):
        few = FewRows()
        few.add(points[some], masses[some] if weighted else NO_MASSES)
        parts.append(few)
    for other in parts[1:]:
        parts[0].merge(other)
    expected = Sample._merge(points, masses if weighted else None)
    found = parts[0].sample
    assert found is not None
    assert np.array_equal(found.points, expected.points)
    assert np.array_equal(found.unit_masses, expected.unit_masses)
    parts[0].add(np.array([[7.0, 7.0, 7.0]]), NO_MASSES)
    assert parts[0].too_many
    assert parts[0].sample is None
