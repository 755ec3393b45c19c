"""Calibration: rows are shared out once, sizes are matched, and what is usual is known."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth import InvalidInputError, InvalidOptionError
from isodepth.inference.calibration import (
    ENOUGH,
    MOST,
    RESAMPLED,
    Calibration,
    Stratum,
    Usual,
    calibrate,
    check_sizes,
    split_blocks,
    split_rows,
)
from isodepth.inference.table_gauge import between, samples_of


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize(("n", "sizes"), [(1000, (20,)), (5000, (20, 50)), (60_000, (7,))])
def test_no_row_is_used_twice(n: int, sizes: tuple[int, ...]) -> None:
    split = split_rows(n, sizes, rng())
    assert split.way == "disjoint"
    held = np.concatenate([batch for of_size in split.batches for batch in of_size])
    used = np.concatenate([split.table, held])
    assert sorted(used.tolist()) == list(range(n))
    assert {len(of_size) for of_size in split.batches} == {len(split.batches[0])}
    assert ENOUGH <= len(split.batches[0]) <= MOST
    for size, of_size in zip(sizes, split.batches, strict=True):
        assert {len(batch) for batch in of_size} == {size}
    assert len(split.table) >= min(n // 5, 4 * max(sizes))


def test_too_few_rows_are_drawn_again_and_again() -> None:
    split = split_rows(300, (50,), rng())
    assert split.way == "resampled"
    assert len(split.batches[0]) == RESAMPLED
    held = np.unique(np.concatenate(split.batches[0]))
    assert not np.isin(held, split.table).any()
    assert len(held) + len(split.table) == 300


def test_far_too_few_rows() -> None:
    with pytest.raises(
        InvalidInputError, match=r"99 row\(s\), too few for batches of 50.*100 rows"
    ):
        split_rows(99, (50,), rng())
    assert split_rows(100, (50,), rng()).way == "resampled"
    with pytest.raises(InvalidInputError, match="at least 4 rows"):
        split_rows(3, (1,), rng())


def test_blocks_stay_whole() -> None:
    labels = np.repeat(np.arange(12), np.arange(1, 13))
    split = split_blocks(labels, rng())
    assert split.way == "blocks"
    assert len(split.batches[0]) == 9
    for batch in split.batches[0]:
        assert len(np.unique(labels[batch])) == 1
        assert len(batch) == (labels == labels[batch[0]]).sum()
    assert not np.isin(np.concatenate(split.batches[0]), split.table).any()
    with pytest.raises(InvalidInputError, match="at least 4 blocks"):
        split_blocks(np.array(["a", "b", "b"]), rng())


def calibration() -> Calibration:
    strata = [
        Stratum(None, 100, 100, np.arange(1.0, 21.0)),
        Stratum(None, 400, 400, np.arange(1.0, 21.0) / 2),
    ]
    return Calibration(strata, "disjoint")


def test_pvalues_are_ranks() -> None:
    usual = calibration().usual(100, None)
    assert (usual.stratum, usual.interpolated) == (0, False)
    assert usual.pvalue(100.0) == 1 / 21
    assert usual.pvalue(20.0) == 2 / 21
    assert usual.pvalue(19.5) == 2 / 21
    assert usual.pvalue(0.0) == 1.0
    assert usual.rank(20.0) == 1


def test_sizes_between_are_interpolated() -> None:
    known = calibration()
    # The noise of a mean of 178 rows is half way between those of 100 and 400.
    usual = known.usual(178, None)
    assert usual.interpolated
    assert usual.scores == pytest.approx(0.75 * np.arange(1.0, 21.0), rel=2e-3)
    assert known.as_of_stratum(usual.scores[4], usual) == pytest.approx(
        known.strata[usual.stratum].scores[4]
    )
    beyond = known.as_of_stratum(2 * usual.scores[-1], usual)
    assert beyond == pytest.approx(2 * known.strata[usual.stratum].scores[-1])
    below = known.as_of_stratum(usual.scores[0] / 2, usual)
    assert below == pytest.approx(known.strata[usual.stratum].scores[0] / 2)
    assert known.as_of_stratum(3.25, known.usual(100, None)) == 3.25
    assert known.usual(101, None).stratum == 0
    assert known.usual(399, None).stratum == 1
    assert known.usual(399, None).pvalue(1e9) == 1 / 21


def test_nothing_usual_at_all() -> None:
    zeros = [Stratum(None, n, n, np.zeros(5)) for n in (10, 40)]
    known = Calibration(zeros, "disjoint")
    usual = known.usual(20, None)
    assert known.as_of_stratum(1.5, usual) == 1.5
    assert usual.pvalue(0.0) == 1.0


@pytest.mark.parametrize("rows", [1, 99, 401])
def test_other_sizes_are_refused(rows: int) -> None:
    with pytest.raises(InvalidInputError, match=rf"{rows} row\(s\).*100 to 400.*batch_size=\["):
        calibration().usual(rows, None)


def test_blocks_of_about_the_same_size_are_judged() -> None:
    known = Calibration([Stratum(None, 40, 20, np.arange(5.0))], "blocks")
    assert not known.usual(10, None).interpolated
    assert known.usual(80, None).stratum == 0
    for rows in (9, 81):
        with pytest.raises(InvalidInputError, match="20 to 40"):
            known.usual(rows, None)


def test_groups() -> None:
    strata = [Stratum(name, 10, 10, np.arange(5.0) + i) for i, name in enumerate("ab")]
    known = Calibration(strata, "disjoint")
    assert known.usual(10, "b").stratum == 1
    assert known.sizes == (5, 5)
    with pytest.raises(InvalidInputError, match="one of 'a', 'b', got 'c'"):
        known.usual(10, "c")
    with pytest.raises(InvalidInputError, match="one of 'a', 'b', got None"):
        known.usual(10, None)
    with pytest.raises(InvalidInputError, match="no groups"):
        calibration().usual(100, "a")


def test_scores_are_kept_in_order() -> None:
    split = split_rows(500, (5, 10), rng())
    strata = calibrate(split, (5, 10), "g", lambda rows: float(rows[0]))
    assert [(s.group, s.size, s.smallest) for s in strata] == [("g", 5, 5), ("g", 10, 10)]
    for stratum, batches in zip(strata, split.batches, strict=True):
        assert stratum.scores.tolist() == sorted(float(batch[0]) for batch in batches)


def test_declared_sizes() -> None:
    assert check_sizes(5) == (5,)
    assert check_sizes([9, 3, 9]) == (3, 9)
    assert check_sizes(np.array([4, 2])) == (2, 4)
    for odd in (0, -1, 2.5, True, "5", [3, 0]):
        with pytest.raises(InvalidOptionError, match="batch_size"):
            check_sizes(odd)
    with pytest.raises(InvalidOptionError, match="got none"):
        check_sizes([])


def test_samples_of_one_size() -> None:
    many = samples_of(1000, 10, rng())
    assert len(np.unique(np.concatenate(many))) == 1000
    few = samples_of(100, 60, rng())
    assert {len(np.unique(rows)) for rows in few} == {60}
    assert len(few) == 20
    assert samples_of(10, 60, rng())[0].tolist() == list(range(10))
    assert (between(100, 100, 400), between(100, 400, 400)) == (0.0, 1.0)


def test_the_share_of_a_pvalue_is_exact_under_exchangeability() -> None:
    """Of all places a new score can have among n + 1, exactly k have p <= k / (n + 1)."""
    everything = np.random.default_rng(0).normal(size=20)
    pvalues = [
        Usual(0, np.sort(np.delete(everything, i)), False).pvalue(everything[i]) for i in range(20)
    ]
    assert sorted(pvalues) == [k / 20 for k in range(1, 21)]
