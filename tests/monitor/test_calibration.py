"""Calibration: rows are shared out once, and batches meet null scores of their size."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth import InvalidInputError, InvalidOptionError
from isodepth.monitor.calibration import (
    ENOUGH,
    MOST,
    RESAMPLED,
    Calibration,
    NullScores,
    Stratum,
    calibrate,
    central_interval,
    check_sizes,
    position_between,
    split_blocks,
    split_rows,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize(
    ("n", "sizes", "count"),
    [(1000, (20,), 40), (5000, (20, 50), 57), (60_000, (7,), MOST), (500, (20,), ENOUGH)],
)
def test_no_row_is_used_twice(n: int, sizes: tuple[int, ...], count: int) -> None:
    split = split_rows(n, sizes, rng())
    assert split.sampling == "disjoint"
    held = np.concatenate([batch for of_size in split.batches for batch in of_size])
    assert sorted(np.concatenate([split.scorer, held]).tolist()) == list(range(n))
    assert len(split.batches[0]) == count
    for size, of_size in zip(sizes, split.batches, strict=True):
        assert {len(batch) for batch in of_size} == {size}
        assert len(of_size) == len(split.batches[0])
    strata = calibrate(split, "g", lambda rows: float(rows[0]))
    assert [(s.group, s.size, s.smallest) for s in strata] == [("g", n, n) for n in sizes]
    assert strata[0].scores.tolist() == sorted(float(batch[0]) for batch in split.batches[0])


def test_too_few_rows_are_drawn_with_replacement() -> None:
    split = split_rows(300, (50,), rng())
    assert split.sampling == "resampled"
    assert len(split.batches[0]) == RESAMPLED
    held = np.unique(np.concatenate(split.batches[0]))
    assert not np.isin(held, split.scorer).any()
    assert len(held) + len(split.scorer) == 300
    # Half of them, or four batches: enough to compare others with.
    assert [len(split_rows(n, (50,), rng()).scorer) for n in (100, 300, 500)] == [50, 150, 200]
    assert len(split_rows(4, (2,), rng()).scorer) == 2
    with pytest.raises(InvalidInputError, match=r"99 row\(s\), too few for batches of 50.*100 row"):
        split_rows(99, (50,), rng())
    with pytest.raises(InvalidInputError, match="at least 4 rows"):
        split_rows(3, (1,), rng())


def test_blocks_stay_whole() -> None:
    labels = np.repeat(np.arange(12), np.arange(1, 13))
    split = split_blocks(labels, rng())
    assert (split.sampling, split.sizes, len(split.batches[0])) == ("blocks", [(1, 12)], 9)
    for batch in split.batches[0]:
        assert len(np.unique(labels[batch])) == 1
        assert len(batch) == (labels == labels[batch[0]]).sum()
    assert not np.isin(np.concatenate(split.batches[0]), split.scorer).any()
    with pytest.raises(InvalidInputError, match="at least 4 blocks"):
        split_blocks(np.array(["a", "b", "b", "c"]), rng())
    four = split_blocks(np.array([7, 7, 5, 3, 1, 1]), rng())
    assert (len(four.batches[0]), four.sizes) == (3, [(1, 2)])
    assert len(split_blocks(np.arange(1500), rng()).batches[0]) == MOST


def calibration() -> Calibration:
    scores = np.arange(1.0, 21.0)
    strata = [Stratum(None, 100, 100, scores), Stratum(None, 400, 400, scores / 2 + 1)]
    return Calibration(strata, "disjoint")


def test_pvalues_are_ranks() -> None:
    null = calibration().null_scores(100, None)
    assert (null.stratum, null.interpolated, null.exact) == (0, False, True)
    assert [null.pvalue(s) for s in (100.0, 20.0, 19.5, 0.0)] == [1 / 21, 2 / 21, 2 / 21, 1.0]
    assert central_interval(np.arange(200.0)) == (2.0, 197.0)
    assert central_interval(np.arange(99.0)) == (0.0, 98.0)
    # Of all places a new score can have among n + 1, exactly k have p <= k / (n + 1).
    scores = rng().normal(size=20)
    found = [NullScores(0, np.sort(np.delete(scores, i))).pvalue(scores[i]) for i in range(20)]
    assert sorted(found) == [k / 20 for k in range(1, 21)]


def test_sizes_between_are_interpolated() -> None:
    known = calibration()
    assert (position_between(100, 100, 400), position_between(100, 400, 400)) == (0.0, 1.0)
    # The noise of a mean of 178 rows is half way between those of 100 and 400.
    null = known.null_scores(178, None)
    assert null.interpolated
    assert not null.exact
    assert null.scores == pytest.approx(0.75 * np.arange(1.0, 21.0) + 0.5, rel=2e-3)
    own = known.strata[null.stratum].scores
    for given, expected in (
        (null.scores[4], own[4]),
        (null.scores[:2].mean(), own[:2].mean()),
        (2 * null.scores[-1], 2 * own[-1]),
        (null.scores[0] / 2, own[0] / 2),
    ):
        assert known.as_of_stratum(given, null) == pytest.approx(expected)
    assert known.as_of_stratum(3.25, known.null_scores(100, None)) == 3.25
    assert [known.null_scores(n, None).stratum for n in (101, 399)] == [0, 1]
    # Among three sizes the two next to it count, and drawn batches give no exact ranks.
    known = Calibration([*known.strata, Stratum(None, 900, 900, np.zeros(20))], "resampled")
    assert known.null_scores(576, None).scores == pytest.approx(known.strata[1].scores / 2)
    assert not known.null_scores(900, None).exact
    known = calibration()
    zeros = Calibration([Stratum(None, n, n, np.zeros(5)) for n in (10, 40)], "disjoint")
    null = zeros.null_scores(20, None)
    assert zeros.as_of_stratum(1.5, null) == 1.5
    assert null.pvalue(0.0) == 1.0
    for rows in (1, 99, 401):
        asked = f"a monitor for {min(rows, 100)} to {max(rows, 400)} rows"
        with pytest.raises(InvalidInputError, match=rf"{rows} row\(s\).*100 to 400.*{asked}"):
            known.null_scores(rows, None)


def test_sizes_of_blocks() -> None:
    """Not smaller than all blocks, hardly larger; exact only for the size that all have."""
    known = Calibration([Stratum(None, 40, 20, np.arange(5.0))], "blocks")
    for rows in (20, 30, 40, 44):
        assert not known.null_scores(rows, None).exact
    for rows in (19, 45):
        with pytest.raises(InvalidInputError, match=rf"{rows} row\(s\).*20 to 40"):
            known.null_scores(rows, None)
    equal = Calibration([Stratum(None, 100, 100, np.arange(5.0))], "blocks")
    assert [equal.null_scores(rows, None).exact for rows in (100, 101)] == [True, False]
    for rows in (50, 70, 99, 111):
        with pytest.raises(InvalidInputError, match="blocks of the reference had 100"):
            equal.null_scores(rows, None)


def test_declared_sizes() -> None:
    assert check_sizes(5) == (5,)
    assert check_sizes(np.array([9, 3, 9])) == (3, 9)
    for odd in (0, -1, 2.5, True, "5", [3, 0]):
        with pytest.raises(InvalidOptionError, match="batch_size"):
            check_sizes(odd)
    with pytest.raises(InvalidOptionError, match="got none"):
        check_sizes([])
